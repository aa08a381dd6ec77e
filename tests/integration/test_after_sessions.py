"""What becomes of sessions that are over: worktrees let go, housekeeping, and what is seen of them meanwhile."""

import json
import os
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
import time_machine

from gemba.app import App
from gemba.config import Settings, Workspace
from gemba.errors import Conflict, NotFound
from gemba.sessions.backends.backend import RunFolder, run_folder
from gemba.sessions.backends.clearing import clear_run
from gemba.sessions.backends.run_lock import ALREADY_STARTING, held
from gemba.sessions.session import SessionView
from gemba.store import events
from gemba.testing import retry_until
from tests.fixtures.api import Api
from tests.fixtures.floor import Floor, stop_runs
from tests.fixtures.operator import Operator
from tests.fixtures.servers import RunningServer

AGENTS = """
[agent.worker]
command = ["sh"]
prompt = "stdin"
instructions = "CLAUDE.md"
max_parallel = 20

[agent.listener]
command = ["sh", "-c", 'while read -r line || :; do echo "heard: $line"; done']
prompt = "none"
terminal = "pty"
"""
WORK = "git commit --quiet --allow-empty -m 'A step'; echo mine > left.txt"


class House(Floor):
    """A floor whose sessions are let go afterwards."""

    def done(self, task: str, **more: Any) -> str:
        return self.ended(self.start(task, **more)).id

    def release(self, id: str, shown: str | None = None) -> SessionView:
        return self.act("/api/sessions/{id}/release", {} if shown is None else {"shown": shown}, id=id)

    def refusal(self, id: str, shown: str | None = None) -> Conflict:
        with pytest.raises(Conflict) as refused:
            self.release(id, shown)
        return refused.value

    def tree(self, id: str) -> Path:
        return self.app.workspace.root / ".gemba/worktrees" / id

    def told(self, id: str, *names: str) -> list[Any]:
        with self.app.database.read() as connection:
            found = events.read_after(connection, 0, 10_000)
        return [msgspec.json.decode(e.payload) for e in found if e.name in names and e.session_id == id]

    def git(self, *words: str) -> str:
        root = self.app.workspace.root
        return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def house(app: App, workspace: Path) -> Iterator[House]:
    (workspace / ".gemba/agents.toml").write_text(AGENTS)
    yield House(app)
    stop_runs(app.home)


# ---- let go ---------------------------------------------------------------------------------------------------------


def test_a_worktree_with_nothing_of_its_own_goes_with_its_branch_once(house: House) -> None:
    id = house.done("exit 0")
    assert house.tree(id).is_dir()

    run = house.release(id).run

    assert run is not None
    assert (run.folder, run.branch, run.kept_as, run.released_at is not None) == (None, None, None, True)
    assert (house.tree(id).exists(), house.git("branch", "--list", "gemba/*")) == (False, "")
    assert house.release(id).run == run
    assert house.told(id, "worktree.released") == [{"branch": None, "kept_as": None}]


def test_what_is_only_there_goes_for_a_person_who_was_shown_exactly_that_and_is_kept(house: House) -> None:
    id = house.done(WORK)

    first = house.refusal(id)
    assert (first.code, first.extra["files"], first.extra["dirty"], first.extra["unmerged"]) == (
        *("worktree_unsaved", ["left.txt"]),
        *(1, 1),
    )
    assert "A step" in first.message
    (house.tree(id) / "later.txt").write_text("since then\n")
    changed = house.refusal(id, first.extra["seal"])
    assert changed.message.startswith("it is not as it was shown: ")
    assert changed.extra["files"] == ["later.txt", "left.txt"]
    assert house.told(id, "worktree.released") == []
    # Whoever took it away was killed before that could be written down.
    house.app.housekeeping.releasing.let_go(id, changed.extra["seal"])
    assert (house.tree(id).exists(), house.told(id, "worktree.released")) == (False, [])

    run = house.release(id).run

    assert run is not None
    assert (run.folder, run.branch, run.kept_as) == (None, f"gemba/{id}", f"refs/gemba/released/{id}")
    assert house.git("show", f"{run.kept_as}:left.txt") == "mine"
    assert house.git("log", "-1", "--format=%s", f"gemba/{id}") == "A step"
    assert house.told(id, "worktree.released") == [{"branch": run.branch, "kept_as": run.kept_as}]


def test_nothing_is_let_go_of_what_lives_has_none_or_is_not_here(house: House, tmp_path: Path) -> None:
    living = house.start("sleep 1000")
    house.until(living, "running")
    resumed = house.done("exit 0")
    house.say(resumed, "SessionStart")
    here = house.done("exit 0", worktree=False)
    house.say("outside", "SessionStart")
    over = house.done("exit 0")

    assert [house.refusal(id).code for id in (living, resumed, here, "outside")] == [
        *("session_lives", "session_lives", "no_worktree", "no_worktree")
    ]
    with pytest.raises(NotFound):
        house.release("unknown")
    other = App.open(Workspace(house.app.workspace.root), Settings(), tmp_path / "another machine")
    try:
        assert House(other).refusal(over).code == "elsewhere"
        other.housekeeping.tidy()
    finally:
        other.close()
    assert all(house.tree(id).is_dir() for id in (living, resumed, over))
    with held(run_folder(house.app.home, house.app.workspace.root, over)):
        assert house.refusal(over).code == ALREADY_STARTING


# ---- housekeeping ---------------------------------------------------------------------------------------------------


def test_worktrees_go_by_themselves_when_nothing_is_only_there(house: House) -> None:
    clean, dirty, committed = house.done("exit 0"), house.done("echo mine > left.txt"), house.done(WORK)
    living = house.start("sleep 1000")
    house.until(living, "running")

    house.app.housekeeping.tidy()

    assert [house.tree(id).exists() for id in (clean, dirty, committed, living)] == [False, True, True, True]
    house.git("merge", "--quiet", f"gemba/{committed}")
    (house.tree(committed) / "left.txt").unlink()
    house.app.housekeeping.tidy()
    house.app.housekeeping.tidy()
    assert [house.tree(id).exists() for id in (dirty, committed, living)] == [True, False, True]
    assert [len(house.told(id, "worktree.released")) for id in (clean, dirty, committed, living)] == [1, 0, 1, 0]


def test_what_was_printed_goes_after_its_days_and_reading_it_says_so(house: House) -> None:
    old = house.done("echo words")
    mine = house.done("echo mine", id="x.y")
    living = house.start("", "listener", id="x_y", worktree=False)
    house.until(living, "running")
    folder = run_folder(house.app.home, house.app.workspace.root, old).path
    (folder.with_name("removed+of-a-killed-one")).mkdir()
    house.app.housekeeping.tidy()
    assert "words" in house.app.keeping.transcript(old, 10).text

    with time_machine.travel(datetime.now(UTC) + timedelta(days=31)):
        house.say("outside", "SessionStart")
        with held(RunFolder(old, folder)):
            house.app.housekeeping.tidy()
        assert "words" in house.app.keeping.transcript(old, 10).text  # somebody was at it
        house.app.housekeeping.tidy()
        house.app.housekeeping.tidy()

    assert sorted(each.name for each in folder.parent.iterdir()) == [
        run_folder(house.app.home, house.app.workspace.root, living).path.name
    ]
    for id in (old, mine):
        with pytest.raises(NotFound, match=r"printed is gone since .* keep_transcripts_days"):
            house.app.keeping.transcript(id, 10)
        assert len(house.told(id, "transcript.removed")) == 1
    house.send(living, "still there")
    house.hears(living, "heard: still there")


def test_a_server_tidies_up_when_it_starts(sqlite_server: RunningServer) -> None:
    id = sqlite_server.post("/api/sessions", {"agent": "builtin", "task": "run: true"})["id"]

    def run() -> Any:
        return sqlite_server.get(f"/api/sessions/{id}")["run"]

    retry_until(lambda: run()["unsaved"], timeout=60)  # seen by itself when it ended
    assert run()["released_at"] is None
    sqlite_server.stop()

    sqlite_server.start()

    assert retry_until(lambda: run()["released_at"], timeout=60)
    assert run()["folder"] is None


def test_a_folder_that_is_cleared_and_a_start_never_meet(tmp_path: Path) -> None:
    run = run_folder(tmp_path, "", "s")
    with held(run):
        assert clear_run(run, "run-1") is False
        with pytest.raises(Conflict, match="is being started already"), held(run):
            pass
        # The lock that is held is not the one that lies there any more: it keeps nobody out, and lets nobody in.
        (run.path / "lock").unlink()
    with held(run):
        assert (run.path / "lock").exists()
    run.keeper.write_text(json.dumps({"pid": os.getpid(), "started": 0, "run_id": "run-2"}))
    assert (clear_run(run, "run-1"), run.keeper.exists()) == (True, True)  # what lies there is another one's
    run.keeper.unlink()
    assert clear_run(run, "run-1") is True
    assert (clear_run(run, "run-1"), run.path.exists()) == (True, False)


# ---- seen meanwhile -------------------------------------------------------------------------------------------------


def test_what_is_only_in_a_worktree_is_kept_as_it_was_seen_and_told_when_it_changes(house: House) -> None:
    id = house.start(f"{WORK}; sleep 1000")
    house.until(id, "running")
    retry_until((house.tree(id) / "left.txt").exists, timeout=60)
    assert house.get(id).run is not None
    assert house.app.looking.due() == [id]

    house.app.looking.look(id)
    house.app.looking.look(id)

    run = house.get(id).run
    assert run is not None
    assert run.unsaved is not None
    assert (run.unsaved.dirty, run.unsaved.unmerged) == (1, 1)
    assert house.told(id, "worktree.changed") == [{"dirty": 1, "unmerged": 1}]
    (house.tree(id) / "more.txt").touch()
    house.stop(id)
    house.ended(id)
    house.app.looking.look_at_ended()
    assert house.told(id, "worktree.changed")[1:] == [{"dirty": 2, "unmerged": 1}]
    assert house.app.looking.due() == []
    house.release(id, house.refusal(id).extra["seal"])
    house.app.looking.look(id)
    assert house.get(id).run.unsaved is None  # type: ignore[union-attr]


def test_what_was_typed_is_listed_with_what_did_not_arrive_first(api: Api) -> None:
    (api.app.workspace.root / ".gemba/agents.toml").write_text(AGENTS)
    house = House(api.app)
    try:
        id = house.listener()
        first, second = house.send(id, "one"), house.send(id, "x" * 3_000)
        house.hears(id, "heard: xxx")
        house.say(id, "PermissionRequest", tool_name="Bash", tool_input={"command": "make"})
        late = house.send(id, "late")
        house.stop(id)
        house.ended(id)
    finally:
        stop_runs(api.app.home)

    page = api.get(f"/api/sessions/{id}/inputs?limit=2")
    rest = api.get(f"/api/sessions/{id}/inputs?limit=2&cursor={page['next_cursor']}")

    assert [(each["id"], each["state"]) for each in page["inputs"]] == [(late, "not_typed"), (second, "typed")]
    assert (page["inputs"][0]["trouble"], page["inputs"][0]["text_cut"]) == (
        *("the session was over before it could be typed", False),
    )
    assert (len(page["inputs"][1]["text"]), page["inputs"][1]["text_cut"], page["total"]) == (2_000, True, 3)
    assert ([each["id"] for each in rest["inputs"]], rest["next_cursor"]) == ([first], None)
    assert api.request("GET", "/api/sessions/unknown/inputs").status == 404
    assert api.request("GET", f"/api/sessions/{id}/inputs?cursor=x").status == 422


def test_the_command_shows_what_would_be_lost_and_takes_its_seal(alone: Operator) -> None:
    alone.ok("session", "start", "--agent", "builtin", "--id", "w", "run: touch left.txt")
    retry_until(lambda: json.loads(alone.ok("session", "show", "w", "--json"))["run"]["ended_at"], timeout=60)
    assert "branch: gemba/w, 1 file not committed" in alone.ok("session")

    stays = alone.run("session", "release", "w")

    assert (stays.returncode, stays.stdout) == (
        1,
        f"only in {alone.workspace}/.gemba/worktrees/w:\n1 file not committed:\n  left.txt\n",
    )
    seal = stays.stderr.strip().rpartition(" ")[2]
    assert stays.stderr.endswith(f"gemba session release w --shown {seal}\n")
    assert stays.stderr.count("\n") == 1
    told = alone.ok("session", "release", "w", "--shown", seal)
    assert told == "the worktree of w is gone; what was not committed is kept as refs/gemba/released/w\n"
    assert json.loads(alone.ok("session", "release", "w", "--json"))["run"]["folder"] is None
    shown = alone.ok("session", "show", "w")
    assert "kept as refs/gemba/released/w" in shown
    assert "used: -" in shown
    assert "no session has an id that begins or ends with nobody" in alone.refused("session", "release", "nobody")
