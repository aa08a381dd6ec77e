"""Work that is dispatched, in a real client: the agent is briefed, and done is what the world says, not the agent."""

import json
from pathlib import Path
from typing import Any

import pytest

from gemba.testing import retry_until
from tests.clients.client import PATIENCE, Claude
from tests.clients.model import Model, Say, Use
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


@pytest.mark.parametrize(("claimed", "state"), [("made.txt", "accepted"), ("never-made.txt", "refused")])
def test_what_an_agent_says_is_complete_is_so_once_its_files_are_found(
    claude: Claude,
    model: Model,
    sqlite_server: RunningServer,
    dispatch: dict[str, Any],
    claimed: str,
    state: str,
) -> None:
    claude.install()
    written = Use("Write", {"file_path": str(claude.workspace / "made.txt"), "content": "half of it\n"})
    model.play("Begin", written, Say(handoff("COMPLETE", dispatch["agent_id"], claimed)))

    claude.run("Begin.", GEMBA_DISPATCH_ID=dispatch["id"])

    assert concluded(sqlite_server, dispatch)["state"] == state
    completed = sqlite_server.get(f"/api/dispatches/{dispatch['id']}")["completed_at"]
    assert (completed is not None) == (state == "accepted")
