"""Keepers that are known to live: their end is heard at once, whoever ended them."""

import os
import select
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from gemba.app import App
from gemba.sessions.backends.backend import run_folder
from gemba.sessions.backends.run_folder import read_keeper
from tests.fixtures.floor import Floor, stop_runs

AGENTS = """
[agent.listener]
command = ["cat"]
prompt = "none"
terminal = "pty"
"""


@pytest.fixture
def floor(app: App, workspace: Path) -> Iterator[Floor]:
    (workspace / ".gemba" / "agents.toml").write_text(AGENTS)
    yield Floor(app)
    stop_runs(app.home)


def test_the_end_of_a_run_is_heard_at_once_and_seen_by_the_next_round(floor: Floor) -> None:
    gone, stays = floor.listener(), floor.listener()
    floor.app.keeping.keep()
    ends = floor.app.keeping.ends
    assert ends is not None
    assert select.select([ends], [], [], 0)[0] == []
    keeper = read_keeper(run_folder(floor.app.home, floor.app.workspace.root, gone))
    assert keeper is not None

    os.kill(keeper.process[0], signal.SIGKILL)

    assert select.select([ends], [], [], 60)[0] == [ends]
    floor.app.keeping.keep()
    assert (floor.get(gone).close_reason, floor.get(stays).lifecycle) == ("killed", "running")
    assert select.select([ends], [], [], 0)[0] == []
