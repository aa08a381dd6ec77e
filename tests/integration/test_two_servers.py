"""Two servers and a worker on one PostgreSQL, each with a home of its own: each keeps its own runs, and what is asked
of the wrong one reaches the right one."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gemba.config import origin_of
from gemba.sessions.backends.backend import run_folder
from gemba.sessions.backends.run_folder import read_keeper
from gemba.testing import retry_until
from tests.fixtures.floor import git_init, stop_runs
from tests.fixtures.servers import RunningServer
from tests.fixtures.workers import RunningWorker

AGENTS = """
[agent.listener]
command = ["sh", "-c", 'while read -r line || :; do echo "heard: $line"; done']
prompt = "none"
terminal = "pty"
"""


@pytest.fixture
def machines(
    start_server: Callable[..., RunningServer], postgresql_url: str, workspace: Path, home: Path, tmp_path: Path
) -> Iterator[tuple[RunningServer, RunningServer]]:
    """Two checkouts, as two machines have them."""
    (workspace / ".gemba" / "agents.toml").write_text(AGENTS)
    git_init(workspace)
    checkout = Path(shutil.copytree(workspace, tmp_path / "checkout"))
    there = RunningServer(checkout, tmp_path / "home there", postgresql_url)
    yield start_server(postgresql_url), there
    if there.is_running:
        code, errors = there.stop()
        assert code == 0, errors
    for one in (home, there.home):
        stop_runs(one)


def until(server: RunningServer, id: str, lifecycle: str) -> Any:
    def look() -> Any:
        shown = server.get(f"/api/sessions/{id}")
        return shown if shown["lifecycle"] == lifecycle else None

    return retry_until(look, timeout=30)


def start(server: RunningServer, id: str) -> None:
    server.post("/api/sessions", {"agent": "listener", "id": id})
    until(server, id, "running")


def keeps(server: RunningServer, id: str) -> bool:
    keeper = read_keeper(run_folder(server.home, server.workspace, id))
    return keeper is not None and keeper.lives


def test_each_keeps_its_own_and_what_is_asked_of_the_other_is_done_where_it_runs(
    machines: tuple[RunningServer, RunningServer], new_worker: Callable[[RunningServer], RunningWorker], tmp_path: Path
) -> None:
    here, there = machines
    start(here, "here")
    start(there, "there")
    worker = new_worker(here)
    assert worker.start(GEMBA_HOME=str(tmp_path / "a third home"))
    assert [(keeps(here, id), keeps(there, id)) for id in ("here", "there")] == [(True, False), (False, True)]

    sent = there.post("/api/sessions/here/send", {"text": "from afar"})
    retry_until(lambda: "heard: from afar" in here.get("/api/sessions/here/transcript")["text"], timeout=30)
    assert sent["state"] == "waiting"
    refused = there.request("GET", "/api/sessions/here/transcript")
    assert (refused.status, refused.json["code"]) == (409, "elsewhere")
    assert origin_of(here.home) in refused.json["detail"]
    assert there.get("/api/sessions/here/worktree")["worktree"] is None

    there.kill()  # nobody takes over what runs elsewhere
    here.post("/api/sessions/there/stop", {})
    here.post("/api/sessions/here/stop", {})
    until(here, "here", "stopped")
    assert keeps(there, "there")
    assert here.get("/api/sessions/there")["lifecycle"] == "running"
    there.start()
    until(here, "there", "stopped")
    assert not keeps(there, "there")
    assert not (tmp_path / "a third home" / "runs").exists()
