"""The built-in agent as a session's process: it does what its prompt's lines say, and the operator sees all of it."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from gemba import wire
from gemba.handoff.verdict import read
from gemba.sessions.backends.backend import EndedBy, Observation, Seen
from gemba.speaker import NO_SESSION
from gemba.testing import retry_until
from tests.fixtures.runs import Run, StartRun
from tests.fixtures.servers import RunningServer

AGENT = (sys.executable, "-m", "gemba.sessions.builtin")


class Floor:
    """Starts built-in sessions in a workspace."""

    def __init__(self, home: Path, workspace: Path, start_run: StartRun) -> None:
        self.home, self.workspace, self._start_run = home, workspace, start_run

    def start(self, prompt: str, mode: str = "balanced", **more: Any) -> Run:
        names = {"GEMBA_HOME": str(self.home), "GEMBA_WORKSPACE": str(self.workspace), "GEMBA_ROLE": "manager"}
        names |= {"GEMBA_AGENT_TYPE": "builtin", "GEMBA_INTERACTION_MODE": mode, **more.pop("names", {})}
        given = {"stdin": prompt, **more}
        return self._start_run(*AGENT, env={**os.environ, **names}, cwd=str(self.workspace), **given)

    def frames(self, *hooks: str) -> list[dict[str, Any]]:
        """What is in its log, of these hooks."""
        log = Path(wire.log_path(str(self.home), "agent"))
        frames = [json.loads(line) for line in log.read_bytes().splitlines()] if log.exists() else []
        return [frame for frame in frames if not hooks or frame["hook"] in hooks]


@pytest.fixture
def floor(home: Path, workspace: Path, start_run: StartRun) -> Floor:
    return Floor(home, workspace, start_run)


def handed_off(run: Run) -> dict[str, Any]:
    """The contract at the end of what it printed, which the verdict accepts."""
    verdict, document = read(run.shown())
    assert verdict.valid, verdict
    assert document is not None
    return document


def test_it_runs_what_it_is_told_and_tells_what_came_of_it(floor: Floor) -> None:
    run = floor.start("Two things:\n- run: echo from the shell\n- run: echo 'a report' > report.txt => report.txt\n")

    assert run.ended() == Observation(Seen.EXITED, 0, None, EndedBy.AGENT)
    assert run.shown().splitlines()[:2] == ["$ echo from the shell", "from the shell"]
    document = handed_off(run)
    assert document["agent_status"]["plan_status"] == "COMPLETE"
    assert document["evidence_report"]["verification"]["artifacts_written"] == ["report.txt"]
    assert (floor.workspace / "report.txt").read_text() == "a report\n"
    hooks = [frame["hook"] for frame in floor.frames()]
    step = ["GembaState", "PreToolUse", "PostToolUse"]
    assert hooks == ["SessionStart", "UserPromptSubmit", *step, *step, "Stop", "GembaHandoff", "SessionEnd"]
    assert floor.frames("GembaHandoff")[0]["payload"]["envelope"] == document
    assert {frame["workspace"] for frame in floor.frames()} == {str(floor.workspace)}


def test_what_goes_wrong_blocks_its_turn_and_is_named(floor: Floor) -> None:
    run = floor.start("run: exit 3\nrun: true => never.txt\n")

    run.ended()
    document = handed_off(run)
    assert document["agent_status"]["plan_status"] == "BLOCKED"
    assert document["evidence_report"]["open_gaps"] == ["exit 3: exit code 3", "true: did not write never.txt"]


def test_a_prompt_without_a_line_for_it_needs_input_and_none_at_all_ends_it(floor: Floor) -> None:
    floor.start("Make it better.").ended()
    [handoff] = floor.frames("GembaHandoff")
    assert handoff["payload"]["envelope"]["agent_status"]["plan_status"] == "NEEDS_INPUT"

    assert floor.start(" \n").ended().code == 0
    assert len(floor.frames("GembaHandoff")) == 1


def test_where_nobody_may_be_asked_it_records_what_it_decided(floor: Floor) -> None:
    run = floor.start("ask: Which port? [80 | 8080]", mode="dangerous")

    run.ended()
    assert handed_off(run)["agent_status"]["plan_status"] == "COMPLETE"
    [asked] = floor.frames("GembaAsk")
    assert {key: asked["payload"][key] for key in ("kind", "text", "chose")} == {
        "kind": "assumption",
        "text": "Which port?",
        "chose": "80",
    }


def test_without_a_session_it_says_so(start_run: StartRun, home: Path) -> None:
    run = start_run("env", "-u", "GEMBA_SESSION_ID", *AGENT)

    assert run.ended().code == 1
    assert run.shown() == f"builtin: {NO_SESSION}"


def test_on_a_terminal_it_takes_prompt_after_prompt_each_whole(floor: Floor) -> None:
    first, second = "one prompt\nof two lines\twith ✓", "run: sleep 1000"
    run = floor.start("", stdin=None, terminal="pty")
    retry_until(lambda: floor.frames("SessionStart"), timeout=20)

    run.backend.send(run.folder, first)
    retry_until(lambda: floor.frames("GembaHandoff"), timeout=20)
    run.backend.send(run.folder, second)
    retry_until(lambda: floor.frames("PreToolUse"), timeout=20)
    run.backend.interrupt(run.folder)
    run.shows("Interrupted.")
    run.backend.interrupt(run.folder)  # with nothing to interrupt
    run.backend.send(run.folder, "run: echo and $((40 + 2))")
    run.shows("and 42")

    prompts = [frame["payload"]["prompt"] for frame in floor.frames("UserPromptSubmit")]
    assert prompts == [first, second, "run: echo and $((40 + 2))"]
    assert run.observed().seen is Seen.RUNNING
    run.backend.stop(run.folder, 10)


def test_an_interrupt_ends_the_only_turn_of_a_prompt_from_stdin(floor: Floor) -> None:
    run = floor.start("run: sleep 1000")
    retry_until(lambda: floor.frames("PreToolUse"), timeout=20)

    run.backend.interrupt(run.folder)

    assert run.ended() == Observation(Seen.EXITED, 130, None, EndedBy.AGENT)
    assert floor.frames("GembaHandoff") == []
    assert run.processes() == []


def test_an_operators_answer_brings_its_dispatch_to_an_accepted_end(floor: Floor, sqlite_server: RunningServer) -> None:
    dispatch = sqlite_server.request("POST", "/api/dispatches", {"goal": "A port, written down"})
    assert dispatch.status in (200, 201), dispatch
    stream = sqlite_server.events()
    prompt = "blocker: Which port? [80 | 8080]\nrun: echo 8080 > port.txt => port.txt"
    run = floor.start(prompt, names={"GEMBA_DISPATCH_ID": dispatch.json["id"]})
    opened = stream.until("escalation_opened")["data"]

    session = sqlite_server.get("/api/sessions")["sessions"][0]
    assert (session["reported_state"], session["needs_you"]) == ("prompting", True)
    sqlite_server.post(f"/api/escalations/{opened['ref']}/respond", {"option": 2})

    assert run.ended().code == 0
    assert "Answered: 8080" in run.shown()
    accepted = stream.until("handoff.accepted")["data"]
    found = sqlite_server.get(f"/api/handoffs/{accepted['ref']}")
    assert (found["plan_status"], found["dispatch_id"]) == ("COMPLETE", dispatch.json["id"])
    assert sqlite_server.get(f"/api/escalations/{opened['ref']}")["delivery"] == "delivered"
