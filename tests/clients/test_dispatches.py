"""Work that is dispatched, in a real client: the agent is briefed, and done is what the world says, not the agent."""

import json
from pathlib import Path
from typing import Any

import pytest

from gemba.testing import retry_until
from tests.clients.client import PATIENCE, Claude
from tests.clients.model import Model
from tests.clients.script import Say, Use
from tests.fixtures.envelopes import AGENT, block, changed, good
from tests.fixtures.hooks import handoffs
from tests.fixtures.servers import RunningServer

pytestmark = pytest.mark.clients

GOAL = "Cut the start-up time in half"


@pytest.fixture
def dispatch(sqlite_server: RunningServer) -> dict[str, Any]:
    command = ("handoff", "dispatch", GOAL, "--done-when", "make bench passes", "--gate", "artifacts_written=require")
    done = sqlite_server.gemba(*command, "--json")
    assert done.returncode == 0, done
    return dict(json.loads(done.stdout))


def handoff(status: str, agent_id: str, *artifacts: str) -> str:
    document = changed(good(status), "/agent_status/agent_id", agent_id)
    if artifacts:
        changed(document, "/evidence_report/verification/artifacts_written", list(artifacts))
    return block(document)


def concluded(server: RunningServer, dispatch: dict[str, Any]) -> dict[str, Any]:
    """The only handoff of a dispatch, once the world was asked."""

    def look() -> list[Any]:
        return list(server.get(f"/api/handoffs?dispatch={dispatch['id']}&state=accepted,refused")["handoffs"])

    (found,) = retry_until(look, timeout=PATIENCE)
    return dict(server.get(f"/api/handoffs/{found['id']}"))


def test_the_agent_is_briefed_and_hands_off_for_its_dispatch_alone(
    claude: Claude, model: Model, home: Path, sqlite_server: RunningServer, dispatch: dict[str, Any]
) -> None:
    claude.install()
    mine = handoff("NEEDS_INPUT", dispatch["agent_id"])
    model.play("Begin", Say("Done."), Say(handoff("NEEDS_INPUT", AGENT)), Say(mine))

    ended = claude.run("Begin.", GEMBA_DISPATCH_ID=dispatch["id"])

    briefing, no_handoff, of_another = model.told("Begin")
    assert f"> {GOAL}" in briefing
    assert "> - make bench passes" in briefing
    assert f"Your agent_id is {dispatch['agent_id']}" in briefing
    assert "Your handoff was not accepted" in no_handoff
    assert AGENT in of_another
    (kept,) = handoffs(home, ended.session_id)
    assert (kept["dispatch_id"], kept["agent_id"]) == (dispatch["id"], dispatch["agent_id"])
    stored = concluded(sqlite_server, dispatch)
    asked = sqlite_server.get(f"/api/escalations/{stored['escalation_id']}")
    assert (stored["state"], asked["kind"], asked["state"]) == ("accepted", "needs_input", "open")
    assert sqlite_server.get(f"/api/dispatches/{dispatch['id']}")["status"] == "NEEDS_INPUT"


def test_a_complete_is_sent_back_until_its_files_are_found(
    claude: Claude, model: Model, sqlite_server: RunningServer, dispatch: dict[str, Any]
) -> None:
    claude.install()
    claim = Say(handoff("COMPLETE", dispatch["agent_id"], "made.txt"))
    written = Use("Write", {"file_path": str(claude.workspace / "made.txt"), "content": "half of it\n"})
    model.play("Begin", claim, written, claim)

    claude.run("Begin.", GEMBA_DISPATCH_ID=dispatch["id"])

    _, sent_back, _ = model.told("Begin")
    assert "artifacts_written: claimed made.txt; found" in sent_back
    assert concluded(sqlite_server, dispatch)["state"] == "accepted"
    assert sqlite_server.get(f"/api/dispatches/{dispatch['id']}")["completed_at"] is not None
    assert sqlite_server.get("/api/escalations")["escalations"] == []


def test_a_complete_that_stays_untrue_is_never_believed_and_a_person_is_asked(
    claude: Claude, model: Model, sqlite_server: RunningServer, dispatch: dict[str, Any]
) -> None:
    claude.install()
    claim = Say(handoff("COMPLETE", dispatch["agent_id"], "never-made.txt"))
    model.play("Begin", claim, claim)

    claude.run("Begin.", GEMBA_DISPATCH_ID=dispatch["id"])

    refused = concluded(sqlite_server, dispatch)
    assert (refused["state"], refused["refused_by"]) == ("refused", "world")
    asked = sqlite_server.get(f"/api/escalations/{refused['escalation_id']}")
    assert (asked["kind"], asked["state"]) == ("blocked", "open")
    assert sqlite_server.get(f"/api/dispatches/{dispatch['id']}")["completed_at"] is None
