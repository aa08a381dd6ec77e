"""Runs whose database was lost: a server that starts ends those of its workspace, and those alone."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gemba.sessions.backends.backend import run_folder
from gemba.sessions.backends.run_folder import Keeper, read_keeper
from gemba.testing import retry_until
from tests.fixtures.floor import stop_runs
from tests.fixtures.servers import RunningServer

AGENTS = """
[agent.lasting]
command = ["sh", "-c", "exec sleep 1000"]
prompt = "none"
"""


@pytest.fixture
def two_workspaces(
    start_server: Callable[..., RunningServer], workspace: Path, home: Path, tmp_path: Path
) -> Iterator[tuple[RunningServer, RunningServer]]:
    """Servers of two workspaces that have one home."""
    (workspace / ".gemba" / "agents.toml").write_text(AGENTS)
    other = RunningServer(Path(shutil.copytree(workspace, tmp_path / "other")), home, "")
    yield start_server(), other
    if other.is_running:
        code, errors = other.stop()
        assert code == 0, errors
    stop_runs(home)


def started(server: RunningServer, id: str) -> Keeper:
    server.post("/api/sessions", {"agent": "lasting", "id": id, "worktree": False})
    retry_until(lambda: server.get(f"/api/sessions/{id}")["lifecycle"] == "running", timeout=30)
    keeper = read_keeper(run_folder(server.home, server.workspace, id))
    assert keeper is not None
    assert keeper.workspace == str(server.workspace)
    return keeper


def doctors_word(server: RunningServer) -> tuple[str, str]:
    told = server.gemba("doctor", "--json")
    (check,) = (check for check in json.loads(told.stdout)["checks"] if check["id"] == "unknown_runs")
    return check["status"], check["detail"]


def test_what_the_database_has_no_row_of_ends_when_its_server_starts_and_no_other_run_does(
    two_workspaces: tuple[RunningServer, RunningServer],
) -> None:
    server, other = two_workspaces
    lost, others = started(server, "lost"), started(other, "others")
    assert doctors_word(server) == ("ok", "none")

    server.kill()
    for file in (server.workspace / ".gemba").glob("*.db*"):
        file.unlink()
    status, detail = doctors_word(server)
    assert (status, str(run_folder(server.home, server.workspace, "lost").path) in detail) == ("warn", True)
    assert lost.lives  # a command looks, and ends nothing
    other.kill()
    other.start()  # a server of another workspace ends nothing of this one
    server.start()
    retry_until(lambda: not lost.lives, timeout=30)
    kept = started(server, "lost")  # its folder is free again

    assert doctors_word(server) == ("ok", "none")
    assert others.lives
    assert other.get("/api/sessions/others")["lifecycle"] == "running"
    code, errors = server.stop()
    assert (code, errors.count("a run that the database has no row of was ended")) == (0, 1)
    assert kept.lives


def test_sessions_of_one_id_in_two_workspaces_of_one_home_do_not_meet(
    two_workspaces: tuple[RunningServer, RunningServer],
) -> None:
    server, other = two_workspaces
    ours, theirs = started(server, "dup"), started(other, "dup")
    assert (ours.lives, theirs.lives) == (True, True)

    other.post("/api/sessions/dup/stop", {})
    retry_until(lambda: not theirs.lives, timeout=30)

    assert ours.lives
    assert server.get("/api/sessions/dup")["lifecycle"] == "running"
