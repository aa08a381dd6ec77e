"""Sessions on a disk that is full, or read-only: what cannot be says why, leaves nothing, and the rest goes on."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gemba.app import App
from gemba.config import Settings, Workspace
from gemba.sessions import runs
from gemba.sessions.backends.backend import run_folder
from gemba.sessions.backends.run_folder import read_ending
from gemba.sessions.backends.sweep import number_of
from gemba.sessions.keeper.process_tree import marked
from gemba.sessions.session import SessionView
from gemba.testing import retry_until
from tests.fixtures.disks import SmallDisk, may_mount
from tests.fixtures.floor import Floor, git_init, stop_runs
from tests.fixtures.servers import RunningServer

pytestmark = pytest.mark.skipif(not may_mount(), reason="only root may mount a small file system")

FULL = "No space left on device"
AGENTS = """
[agent.piped]
command = ["sh"]
instructions = "CLAUDE.md"
limits = {runs_per_hour = 0}

[agent.tmux]
command = ["sh", "-c", "cat"]
prompt = "argument"
backend = "tmux"
limits = {runs_per_hour = 0}
"""
_PAGE = 4096


@pytest.fixture
def disk(mounted: Path) -> SmallDisk:
    return SmallDisk(mounted)


@pytest.fixture
def open_floor(sqlite_url: str, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Floor]]:
    """The database has room in any case: what is refused by that is tried again, and is not meant here."""
    monkeypatch.setenv("GEMBA_DATABASE_URL", sqlite_url)
    opened: list[App] = []

    def open_there(home: Path, root: Path = workspace) -> Floor:
        (root / ".gemba").mkdir(parents=True, exist_ok=True)
        (root / ".gemba" / "agents.toml").write_text(AGENTS)
        git_init(root)
        opened.append(App.open(Workspace(root), Settings(), home))
        return Floor(opened[-1])

    yield open_there
    for app in opened:
        stop_runs(app.home)
        app.keeping.take_over()
        app.close()


def ended(floor: Floor, id: str) -> SessionView:
    floor.app.keeping.keep()
    view = floor.get(id)
    assert view.run is not None
    return view


def check_nothing_is_left(floor: Floor, view: SessionView, run_id: str) -> None:
    folder = run_folder(floor.app.home, floor.app.workspace.root, view.id)
    assert marked(f"GEMBA_RUN_ID={run_id}", number_of(run_id)) == []
    assert not folder.spec.exists()
    assert folder.keeper.exists() or not folder.path.exists()
    assert not (floor.app.workspace.root / "CLAUDE.md").exists()


@pytest.mark.parametrize("agent", ["piped", "tmux"])
def test_however_little_room_a_home_has_a_start_succeeds_or_says_why(
    open_floor: Callable[..., Floor], disk: SmallDisk, agent: str
) -> None:
    floor = open_floor(disk.folder / "home")
    outcomes = []
    for pages in (0, 1, 2, 3, 4, 5, 6, 8, 16):
        disk.fill()
        with disk.folder.joinpath("ballast").open("r+b") as ballast:
            ballast.truncate(max(0, ballast.seek(0, 2) - pages * _PAGE))
        id = floor.start("sleep 1000", agent, worktree=False)
        run_id = run_id_of(floor, id)
        view = ended(floor, id)
        outcomes.append(view.lifecycle)
        if view.lifecycle == "failed":
            assert view.run is not None
            assert (view.close_reason, FULL in (view.run.trouble or "")) == ("not_started", True), view.run.trouble
        else:
            assert view.lifecycle == "running"
            floor.stop(id)
            floor.until(id, "stopped")
        disk.free()
        check_nothing_is_left(floor, view, run_id)
    assert (outcomes[0], outcomes[-1]) == ("failed", "running")


def run_id_of(floor: Floor, id: str) -> str:
    with floor.app.database.read() as connection:
        row = runs.find(connection, id)
    assert row is not None
    return str(row.run_id)


def test_a_worktree_without_room_fails_its_session_and_the_next_one_has_it(
    open_floor: Callable[..., Floor], disk: SmallDisk, home: Path
) -> None:
    root = disk.folder / "work"
    floor = open_floor(home, root)
    (root / "large").write_text("text\n" * 100_000)
    for command in (["add", "large"], ["commit", "--quiet", "-m", "two"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    disk.fill()

    view = ended(floor, floor.start("exit 0", "piped"))

    assert view.run is not None
    assert (view.lifecycle, FULL in (view.run.trouble or "")) == ("failed", True), view.run.trouble
    assert not (root / ".gemba" / "worktrees" / view.id).exists()
    listed = subprocess.run(["git", "branch", "--list", "gemba/*"], cwd=root, capture_output=True, check=True)
    assert listed.stdout == b""
    disk.free()
    floor.until(floor.start("exit 0", "piped"), "completed")


def test_what_an_agent_prints_onto_a_full_disk_is_missing_and_the_agent_goes_on(
    open_floor: Callable[..., Floor], disk: SmallDisk
) -> None:
    floor = open_floor(disk.folder / "home")
    task = "echo begun; until [ -e go ]; do sleep 0.05; done; head -c 3000000 /dev/zero | tr '\\0' x; exit 3"
    id = floor.start(task, "piped", worktree=False)
    floor.until(id, "running")
    floor.hears(id, "begun")
    disk.fill()
    (floor.app.workspace.root / "go").touch()

    view = floor.until(id, "failed")

    assert view.run is not None
    assert (view.close_reason, view.run.code) == ("provider_exit", 3)
    ending = read_ending(run_folder(floor.app.home, floor.app.workspace.root, id))
    assert ending is not None
    assert ending.cut
    assert floor.app.keeping.transcript(id, 100).text.startswith("begun")
    disk.free()


def test_a_home_that_is_read_only_starts_nothing_and_the_server_goes_on(
    start_server: Callable[..., RunningServer], mounted: Path, workspace: Path
) -> None:
    (workspace / ".gemba" / "agents.toml").write_text(AGENTS)
    git_init(workspace)
    server = start_server(running=False)
    server.home = mounted / "home"
    server.environment["GEMBA_HOME"] = str(server.home)
    server.start()

    def over(id: str) -> dict[str, object] | None:
        shown: dict[str, object] = server.get(f"/api/sessions/{id}")
        return shown if shown["lifecycle"] in ("completed", "failed") else None

    def run(agent: str, task: str) -> dict[str, object]:
        id = server.post("/api/sessions", {"agent": agent, "task": task})["id"]
        return retry_until(lambda: over(id), timeout=30) or {}

    subprocess.run(["mount", "-o", "remount,ro", str(mounted)], check=True)
    for agent in ("piped", "tmux"):
        refused = run(agent, "exit 0")
        trouble = refused["run"]["trouble"]  # type: ignore[index]
        assert (refused["lifecycle"], refused["close_reason"]) == ("failed", "not_started")
        assert "Read-only file system" in trouble, trouble
    checks = {check["id"]: check["status"] for check in server.get("/api/doctor")["checks"]}
    assert checks["unknown_runs"] == "ok"
    subprocess.run(["mount", "-o", "remount,rw", str(mounted)], check=True)

    assert run("piped", "exit 0")["lifecycle"] == "completed"
