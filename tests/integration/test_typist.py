"""What is typed to agents waits for nobody else's: not for one that cannot be reached, nor for starts and stops."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gemba.app import App
from gemba.sessions.backends.backend import run_folder
from gemba.sessions.backends.run_folder import Keeper, read_keeper
from gemba.testing import retry_until
from tests.fixtures.floor import Floor, stop_runs

AGENTS = """
[agent.listener]
command = ["sh", "-c", 'trap "echo interrupted" INT; while read -r line || :; do echo "heard: $line"; done']
prompt = "none"
terminal = "pty"
"""


@pytest.fixture
def floor(app: App, workspace: Path) -> Iterator[Floor]:
    (workspace / ".gemba" / "agents.toml").write_text(AGENTS)
    yield Floor(app)
    stop_runs(app.home)


def keeper_of(floor: Floor, id: str) -> Keeper:
    keeper = read_keeper(run_folder(floor.app.home, floor.app.workspace.root, id))
    assert keeper is not None
    return keeper


def shown(floor: Floor, id: str) -> list[str]:
    lines = floor.app.keeping.transcript(id, 100).text.splitlines()
    return [line for line in lines if line.startswith(("heard", "interrupted"))]


def test_an_agent_that_cannot_be_reached_keeps_no_other_one_waiting(floor: Floor) -> None:
    stuck, other = floor.listener(), floor.listener()
    typist = floor.app.keeping.typist
    os.kill(keeper_of(floor, stuck).process[0], signal.SIGSTOP)
    try:
        first = floor.send(stuck, "one")
        floor.send(stuck, "two")
        floor.send(other, "hello")
        begun = time.monotonic()
        assert typist.type_waiting(), "somebody is still typed to"
        retry_until(lambda: shown(floor, other) == ["heard: hello"], timeout=60)
        assert time.monotonic() - begun < 3  # a keeper has five seconds to answer
        assert floor.input(first) == ("typing", None)
    finally:
        os.kill(keeper_of(floor, stuck).process[0], signal.SIGCONT)

    typist.type_all()

    assert floor.input(first) == ("typed", None)
    retry_until(lambda: shown(floor, stuck) == ["heard: one", "heard: two"], timeout=60)


def test_many_texts_to_many_agents_are_typed_in_order_and_written_down_together(floor: Floor) -> None:
    ids = [floor.listener() for _ in range(3)]
    sent = [floor.send(id, f"text {number}") for number in range(12) for id in ids]

    floor.app.keeping.typist.type_all()

    assert {floor.input(one) for one in sent} == {("typed", None)}
    wanted = [f"heard: text {number}" for number in range(12)]
    retry_until(lambda: all(shown(floor, id) == wanted for id in ids), timeout=60)
