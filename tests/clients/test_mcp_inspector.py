"""The MCP inspector lists every tool and calls it, over stdio and over HTTP; the product has what was said."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gemba.mcp import tools
from gemba.testing import retry_until
from tests.clients.client import PATIENCE
from tests.clients.floor import Floor, hooks_of
from tests.clients.inspector import SESSION, Door, Inspector, by_http, by_pipe, called
from tests.clients.island import Island
from tests.fixtures.envelopes import changed, good
from tests.fixtures.hooks import frames

pytestmark = pytest.mark.clients

NO_SUCH_STATE = (
    "state 'asleep' is unknown; allowed: initializing, ready, working, prompting, stalled, bead-done",
    "unknown argument 'role'; allowed: text, title, bead_id, options, schema, wait, wait_seconds, chose, resume",
)


def test_every_tool_is_called_over_stdio_where_no_server_runs(
    inspector: Inspector, home: Path, workspace: Path
) -> None:
    door = by_pipe(home, workspace)
    assert inspector.tools(door) == [tool.listed() for tool in tools.TOOLS]

    asked = inspector.call(door, "ask_question", text="Which database?", options=["SQLite", "PostgreSQL"])
    assert asked.text.endswith("advisory: go on")
    assert inspector.call(door, "raise_blocker", text="No key.").facts["urgency"] == "blocking"
    inspector.call(door, "report_state", state="working", bead_id="shop-12", note="tests")
    inspector.call(door, "emit_skill_output", skill_id="pm.stage_epics", lines=[{"type": "summary", "notes": "None."}])
    judged = inspector.call(door, "submit_handoff", envelope=good())
    assert (judged.is_error, judged.facts["judged"]) == (False, "shape")
    context = inspector.call(door, "get_context")
    assert context.is_error
    assert "no server runs for" in context.text

    written = frames(home, SESSION)
    assert {(frame.workspace, frame.session_id) for frame in written} == {(str(workspace), SESSION)}
    said = [frame.payload or {} for frame in written]
    assert hooks_of(home, SESSION) == ["GembaAsk", "GembaAsk", "GembaState", "GembaSkillOutput", "GembaHandoff"]
    assert [(one["kind"], one["role"], one["text"]) for one in said[:2]] == [
        ("question", "manager", "Which database?"),
        ("blocker", "manager", "No key."),
    ]
    assert said[0]["options"] == ["SQLite", "PostgreSQL"]
    assert said[2:] == [
        {"state": "working", "bead_id": "shop-12", "note": "tests"},
        {"skill_id": "pm.stage_epics", "lines": [{"type": "summary", "notes": "None."}]},
        {"envelope": good()},
    ]


@pytest.mark.parametrize("way", ["stdio", "http, legacy", "http, modern"])
def test_what_every_tool_does_is_seen_by_the_operator(
    inspector: Inspector, serve: Callable[[], Floor], island: Island, home: Path, workspace: Path, way: str
) -> None:
    (workspace / ".gemba" / "context.toml").write_text('[section.stack]\npaths = ["src/**"]\n')
    floor = serve()

    def door(role: str = "manager") -> Door:
        if way == "stdio":
            return by_pipe(home, workspace, role)
        return by_http(floor.server.url, floor.server.token, way.partition(", ")[2], role)

    assert inspector.tools(door()) == [tool.listed() for tool in tools.TOOLS]

    with inspector.calling(door(), "ask_question", text="Which port?", wait_seconds=PATIENCE) as waiting:
        question = asked(floor, "question")
        assert (question["text"], question["urgency"]) == ("Which port?", "advisory")
        floor.post(f"/api/escalations/{question['id']}/respond", {"text": "8080"})
        assert called(waiting).text == "8080"
    retry_until(lambda: floor.get(f"/api/escalations/{question['id']}")["delivery"] == "delivered", timeout=PATIENCE)

    raised = inspector.call(door(), "raise_blocker", text="No key.", title="Key")
    blocker = asked(floor, "blocker")
    assert (blocker["id"], blocker["title"], blocker["urgency"]) == (raised.facts["event_id"], "Key", "blocking")

    inspector.call(door(), "report_state", state="working", note="tests")
    emitted = inspector.call(door(), "emit_skill_output", skill_id="pm.stage_epics", lines=[{"type": "summary"}])
    events = island.do(lambda: floor.server.events(f"?ref={emitted.facts['event_id']}", after=0))
    output = events.until("skill_output_emitted")["data"]["payload"]
    assert output == {"skill_id": "pm.stage_epics", "lines": [{"type": "summary"}]}
    session = floor.get(f"/api/sessions/{SESSION}")
    assert (session["reported_state"], session["note"]) == ("working", "tests")

    refused = inspector.call(door(), "submit_handoff", envelope=changed(good(), "/agent_status/plan_status", "DONE"))
    assert refused.is_error
    assert 'agent_status.plan_status is "DONE"; allowed:' in refused.text
    accepted = inspector.call(door(), "submit_handoff", envelope=good())
    stored = floor.get(f"/api/handoffs/{accepted.facts['id']}")
    assert (stored["state"], stored["source"], stored["document"]) == ("accepted", "mcp", good())
    states = [one["state"] for one in floor.get(f"/api/handoffs?session={SESSION}")["handoffs"]]
    assert sorted(states) == ["accepted", "refused"]

    floor.post("/api/context/stack", {"payload": {"language": "Python"}})
    (section,) = inspector.call(door(), "get_context").facts["sections"]
    assert (section["name"], section["value"]) == ("stack", {"language": "Python"})

    before = hooks_of(home, SESSION)
    nonsense = inspector.call(door(), "report_state", state="asleep")
    claim = inspector.call(door(), "ask_question", text="Which port?", role="manager")
    assert [(one.is_error, one.text) for one in (nonsense, claim)] == [(True, text) for text in NO_SUCH_STATE]
    coach = inspector.call(door("coach"), "raise_blocker", text="No key.")
    assert (coach.is_error, coach.text.partition(":")[0]) == (True, "a coach never raises a blocker")
    if way != "stdio":
        stranger = by_http(floor.server.url, "other", way.partition(", ")[2])
        assert "401" in inspector.turned_away(stranger)
    assert hooks_of(home, SESSION) == before


def asked(floor: Floor, kind: str) -> dict[str, Any]:
    """The only ask of a kind, once it is in the inbox."""
    listing = f"/api/escalations?session={SESSION}&kind={kind}"
    (found,) = retry_until(lambda: floor.get(listing)["escalations"], timeout=PATIENCE)
    return dict(found)
