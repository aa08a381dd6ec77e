"""Sessions that are heard of and make no progress: asked about once, until there is some. On both databases."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from sqlalchemy import select

from gemba.app import App
from gemba.escalations.store import escalations
from tests.fixtures.floor import Floor, git_init, stop_runs

AGENTS = """
[agent.listener]
command = ["sh", "-c", 'while read -r line || :; do echo "heard: $line"; done']
prompt = "none"
terminal = "pty"

[agent.listener.limits]
stalled_after_seconds = 900
no_progress_seconds = 7200
"""
CALL = {"tool_name": "Bash", "tool_input": {"command": "make"}}


@pytest.fixture
def floor(app: App, workspace: Path) -> Iterator[Floor]:
    (workspace / ".gemba" / "agents.toml").write_text(AGENTS)
    git_init(workspace)
    yield Floor(app)
    stop_runs(app.home)


@pytest.fixture
def worker(floor: Floor) -> str:
    """A session in a worktree of its own that says that it works."""
    id = floor.start("", "listener")
    floor.until(id, "running")
    floor.say(id, "GembaState", state="working", note="Running the tests")
    return id


def later(minutes: int) -> AbstractContextManager[Any]:
    return time_machine.travel(datetime.now(UTC) + timedelta(minutes=minutes))


def card(floor: Floor) -> Any:
    floor.app.look_for_stalls()
    with floor.app.database.read() as connection:
        open_ones = select(escalations).where(escalations.c.kind == "stalled", ~escalations.c.resolved)
        return connection.execute(open_ones).one_or_none()


def test_who_is_heard_of_but_makes_no_progress_is_asked_about_once_until_a_tool_ran(floor: Floor, worker: str) -> None:
    with later(119):
        floor.say(worker, "PreToolUse", **CALL)
        assert card(floor) is None
    with later(121):
        asked = card(floor)
        assert json.loads(asked.options) == ["wait", "interrupt", "stop"]
        assert asked.text == (
            "It says that it works, but for 2 hours no tool ran, no state was reported and nothing was committed."
            "\n\nIts last words: Running the tests"
        )
        assert floor.get(worker).reported_state == "stalled"
        floor.say(worker, "Notification", notification_type="auth_success", message="hello")
        floor.say(worker, "PreToolUse", **CALL)
        assert card(floor).id == asked.id  # to be heard of is no progress
        assert floor.get(worker).reported_state == "stalled"

        floor.say(worker, "PostToolUse", **CALL)

        assert card(floor) is None
        assert floor.get(worker).reported_state == "working"


def test_a_commit_in_its_worktree_is_progress_before_and_after_it_is_asked(floor: Floor, worker: str) -> None:
    run = floor.get(worker).run
    assert run is not None

    def commit(minutes: int) -> None:
        when = (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat()
        command = ["git", "commit", "--quiet", "--allow-empty", "-m", "more"]
        subprocess.run(command, cwd=run.folder, check=True, env={**os.environ, "GIT_COMMITTER_DATE": when})

    commit(100)
    with later(130):
        floor.say(worker, "PreToolUse", **CALL)
        assert card(floor) is None
    with later(100 + 121):
        floor.say(worker, "PreToolUse", **CALL)
        assert card(floor) is not None
    commit(225)
    with later(230):
        assert card(floor) is None
        assert floor.get(worker).reported_state == "working"


@pytest.mark.parametrize("action", ["wait", "interrupt"])
def test_what_is_chosen_is_done_and_counted_anew_and_a_card_that_was_dismissed_stays_away(
    floor: Floor, worker: str, action: str
) -> None:
    with later(121):
        floor.say(worker, "PreToolUse", **CALL)
        floor.act("/api/escalations/{id}/respond", {"action": action}, id=card(floor).id)
        assert (floor.get(worker).reported_state, card(floor)) == ("working", None)
    with later(121 + 121):
        floor.say(worker, "PreToolUse", **CALL)
        floor.act("/api/escalations/{id}/dismiss", {}, id=card(floor).id)
        floor.say(worker, "PreToolUse", **CALL)
        assert card(floor) is None


def test_a_home_judges_only_the_sessions_that_write_to_it(floor: Floor, worker: str, tmp_path: Path) -> None:
    other = App.open(floor.app.workspace, floor.app.settings, tmp_path / "another machine")
    with later(500):
        other.look_for_stalls()
        with floor.app.database.read() as connection:
            assert connection.execute(select(escalations.c.id)).all() == []
        assert card(floor) is not None
    other.close()
