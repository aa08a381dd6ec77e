"""The end of a dispatch's turn, from its client's hook through the server and back: what the world says is obeyed."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gemba.testing import retry_until
from tests.fixtures.handed import claiming, envelope, strict, wish
from tests.fixtures.hooks import SESSION, answer, hook
from tests.fixtures.servers import RunningServer


class Turn:
    """A turn of an agent at work on a dispatch, ended again and again."""

    def __init__(self, server: RunningServer, check: str) -> None:
        self.server = server
        self.dispatch = server.post("/api/dispatches", wish(gate=strict(check)))

    def end(self, document: dict[str, Any] | None, *flags: str) -> Any:
        block = "" if document is None else f"```agent_contract_handoff\n{json.dumps(document)}\n```"
        return answer(hook("Stop", {"last_assistant_message": f"Done.\n{block}"}, *flags))

    def claim(self, *paths: str) -> Any:
        return self.end(claiming(self.dispatch, files_produced=list(paths)))

    def handoffs(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.server.get(f"/api/handoffs?dispatch={self.dispatch['id']}")["handoffs"]
        return found

    def escalations(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.server.get("/api/escalations")["escalations"]
        return found

    def heard(self, many: int = 1) -> list[dict[str, Any]]:
        """The handoffs, once so many were told of by the frame of a turn that ended."""

        def ended() -> list[dict[str, Any]] | None:
            found = [one for one in self.handoffs() if one["event"]]
            return found if len(found) == many else None

        return retry_until(ended, timeout=60) or []


def at_work(server: RunningServer, workspace: Path, monkeypatch: pytest.MonkeyPatch, check: str) -> Turn:
    turn = Turn(server, check)
    monkeypatch.setenv("GEMBA_SESSION_ID", SESSION)
    monkeypatch.setenv("GEMBA_DISPATCH_ID", turn.dispatch["id"])
    monkeypatch.chdir(workspace)
    return turn


@pytest.fixture
def turn(sqlite_server: RunningServer, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Turn:
    """One whose files are looked at."""
    return at_work(sqlite_server, workspace, monkeypatch, "files_produced")


def test_a_file_that_is_not_there_sends_the_agent_back_and_one_that_is_ends_the_turn(
    turn: Turn, workspace: Path
) -> None:
    told = turn.claim("report.md")

    assert told["decision"] == "block"
    assert "files_produced: claimed report.md; found" in told["reason"]
    assert turn.escalations() == []  # the agent mends it, nobody is asked

    (workspace / "report.md").write_text("All is well.\n")
    assert turn.claim("report.md") is None
    (handed_over,) = turn.heard()
    assert (handed_over["state"], handed_over["source"], handed_over["event"]) == ("accepted", "gate", "Stop")
    assert turn.server.get(f"/api/dispatches/{turn.dispatch['id']}")["completed_at"] is not None


def test_an_agent_that_claims_the_same_again_is_let_go_and_a_person_is_asked_once(turn: Turn) -> None:
    assert turn.claim("report.md")["decision"] == "block"
    let_go = turn.claim("report.md")

    assert let_go == {
        "systemMessage": "Gemba: the turn ended without a handoff that can be accepted (world); it counts as blocked"
    }
    (asked,) = turn.escalations()
    assert (asked["kind"], asked["session_id"]) == ("blocked", SESSION)
    assert "claimed report.md; found" in asked["text"]


def test_repairs_of_the_shape_and_of_the_truth_are_capped_together(turn: Turn) -> None:
    broken = envelope(turn.dispatch)
    del broken["evidence_report"]
    assert turn.end(None)["decision"] == "block"
    assert turn.end(broken)["decision"] == "block"

    assert turn.claim("report.md") is None  # two repairs are enough: it ends

    (asked,) = retry_until(turn.escalations, timeout=60)
    assert "claimed report.md; found" in asked["text"]
    (refused,) = turn.heard()
    assert (refused["state"], refused["refused_by"], refused["source"]) == ("refused", "world", "hook")


def test_a_status_that_may_not_follow_is_told_to_the_agent(turn: Turn) -> None:
    assert turn.end(envelope(turn.dispatch, "NEEDS_INPUT", "Which port?")) is None
    (asked,) = turn.escalations()

    told = turn.end(envelope(turn.dispatch, "BLOCKED"))

    assert told["decision"] == "block"
    assert "NEEDS_INPUT" in told["reason"]
    assert "IN_PROGRESS" in told["reason"]
    assert [one["id"] for one in turn.escalations()] == [asked["id"]]


def test_without_a_server_the_turn_ends_and_is_judged_when_there_is_one(turn: Turn) -> None:
    turn.server.stop()
    assert turn.claim("report.md") is None

    turn.server.start()

    (asked,) = retry_until(turn.escalations, timeout=60)
    assert "claimed report.md; found" in asked["text"]
    assert turn.heard()[0]["state"] == "refused"


def test_a_check_that_takes_longer_than_the_hook_has_goes_on_without_it(
    sqlite_server: RunningServer, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(workspace / "answer")
    turn = at_work(sqlite_server, workspace, monkeypatch, "rerun_verification")
    verified = claiming(turn.dispatch, command="cat answer", exit_code=0)

    assert turn.end(verified, "--deadline", "2") is None
    (told,) = turn.heard()
    assert (told["state"], told["source"]) == ("checking", "hook")

    (workspace / "answer").write_text("42\n")
    retry_until(lambda: turn.handoffs()[0]["state"] == "accepted", timeout=60)
