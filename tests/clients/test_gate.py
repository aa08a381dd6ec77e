"""The gate in a real client: a turn that ends badly goes on until it ends in a handoff, or is let go as refused."""

from pathlib import Path
from typing import Any

import pytest

from gemba.testing import retry_until
from tests.clients.client import PATIENCE, Claude
from tests.clients.model import Model
from tests.clients.script import Say, Use
from tests.fixtures.envelopes import block, changed, good
from tests.fixtures.hooks import frames, handoffs
from tests.fixtures.servers import RunningServer

pytestmark = pytest.mark.clients

BAD = block(changed(good(), "/agent_status/plan_status", "DONE"))
GOOD = block(good())
REPAIR = 'agent_status.plan_status is "DONE"; allowed:'


def stored_of(server: RunningServer, session: str) -> dict[str, Any]:
    """The only handoff of a session, as the server has it."""
    (found,) = retry_until(lambda: server.get(f"/api/handoffs?session={session}")["handoffs"], timeout=PATIENCE)
    return dict(server.get(f"/api/handoffs/{found['id']}"))


@pytest.mark.quick
def test_a_bad_handoff_is_sent_back_repaired_and_accepted(
    claude: Claude, model: Model, home: Path, sqlite_server: RunningServer
) -> None:
    claude.install()
    model.play("the port", Say(BAD), Say(GOOD))

    ended = claude.run("Make the port a setting.")

    assert REPAIR in model.told("the port")[1]
    assert ended.words == GOOD
    (kept,) = handoffs(home, ended.session_id)
    assert kept == {"dispatch_id": "", "agent_id": "", "event": "Stop", "envelope": good()}
    stored = stored_of(sqlite_server, ended.session_id)
    assert (stored["state"], stored["source"], stored["event"]) == ("accepted", "hook", "Stop")
    assert stored["document"] == good()


@pytest.mark.parametrize("in_background", [False, True])
def test_a_bad_handoff_of_a_subagent_is_sent_back_to_the_subagent(
    claude: Claude, model: Model, home: Path, sqlite_server: RunningServer, in_background: bool
) -> None:
    claude.install()
    task = {"description": "Count", "prompt": "Count the files.", "run_in_background": in_background}
    model.play("the port", Use("Agent", task), Say("There are none."), Say("There are none."))
    model.play("Count", Say(BAD), Say(GOOD))

    ended = claude.run("Make the port a setting.")

    assert REPAIR in model.told("Count")[1]
    assert REPAIR not in "".join(model.told("the port"))
    assert '"plan_status": "COMPLETE"' in model.told("the port")[-1]
    assert ended.words == "There are none."
    (kept,) = handoffs(home, ended.session_id)
    assert (kept["event"], kept["envelope"]) == ("SubagentStop", good())
    stored = stored_of(sqlite_server, ended.session_id)
    assert (stored["state"], stored["agent_id"]) == ("accepted", kept["agent_id"])


def test_a_handoff_that_comes_again_unrepaired_is_let_go_as_refused(
    claude: Claude, model: Model, home: Path, sqlite_server: RunningServer
) -> None:
    claude.install()
    model.play("the port", Say(BAD), Say(BAD))

    ended = claude.run("Make the port a setting.")

    (kept,) = handoffs(home, ended.session_id)
    assert (kept["refused"], kept["codes"]) == (True, ["PLAN_STATUS:DONE"])
    stored = stored_of(sqlite_server, ended.session_id)
    assert (stored["state"], stored["refused_by"]) == ("refused", "repairs_spent")
    blocked = sqlite_server.get(f"/api/escalations/{stored['escalation_id']}")
    assert (blocked["kind"], blocked["state"]) == ("blocked", "open")


def test_every_turn_has_to_end_in_a_handoff_where_it_is_required(claude: Claude, model: Model, home: Path) -> None:
    claude.install("--require")
    model.play("the port", Say("Done."), Say(GOOD))

    ended = claude.run("Make the port a setting.")

    assert "Your handoff was not accepted" in model.told("the port")[1]
    assert [kept["envelope"] for kept in handoffs(home, ended.session_id)] == [good()]


def test_an_ordinary_turn_passes(claude: Claude, model: Model, home: Path) -> None:
    claude.install()
    model.play("the port", Say("Done."))

    ended = claude.run("Make the port a setting.")

    assert ended.words == "Done."
    hooks = [frame.hook for frame in frames(home, ended.session_id) if frame.hook != "GembaUsage"]
    assert hooks == ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"]
