"""Work that is dispatched, in a real client: the agent is briefed, and its turn ends in a handoff for this work."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.clients.client import Claude
from tests.clients.model import Model, Say
from tests.fixtures.envelopes import AGENT, block, changed, good
from tests.fixtures.hooks import handoffs
from tests.fixtures.servers import RunningServer

pytestmark = pytest.mark.clients

GOAL = "Cut the start-up time in half"


@pytest.fixture
def dispatch(sqlite_server: RunningServer) -> dict[str, Any]:
    done = sqlite_server.gemba("handoff", "dispatch", GOAL, "--done-when", "make bench passes", "--json")
    assert done.returncode == 0, done
    return dict(json.loads(done.stdout))


def handoff(agent_id: str) -> str:
    return block(changed(good("NEEDS_INPUT"), "/agent_status/agent_id", agent_id))


def test_the_agent_is_briefed_and_hands_off_for_its_dispatch_alone(
    claude: Claude, model: Model, home: Path, dispatch: dict[str, Any]
) -> None:
    claude.install()
    model.play("Begin", Say("Done."), Say(handoff(AGENT)), Say(handoff(dispatch["agent_id"])))

    ended = claude.run("Begin.", GEMBA_DISPATCH_ID=dispatch["id"])

    briefing, no_handoff, of_another = model.told("Begin")
    assert f"> {GOAL}" in briefing
    assert "> - make bench passes" in briefing
    assert f"Your agent_id is {dispatch['agent_id']}" in briefing
    assert "Your handoff was not accepted" in no_handoff
    assert AGENT in of_another
    (kept,) = handoffs(home, ended.session_id)
    assert (kept["dispatch_id"], kept["agent_id"]) == (dispatch["id"], dispatch["agent_id"])
