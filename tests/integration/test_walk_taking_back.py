"""Decisions of a walk that are taken back, over the API, on both databases: effect, record and agenda go together, and
what cannot be undone says so and changes nothing."""

from typing import Any

import pytest
import time_machine
from sqlalchemy import select

from gemba import clock, wire
from gemba.flows.wanted import flows
from gemba.work.tables import changes
from tests.fixtures.api import Api
from tests.fixtures.servers import Answer
from tests.integration.test_walks import audited, decided, item_of, make_item, read, start

HELD = {"hold": 6}
CALL = {"command": "make deploy", "cwd": "/srv", "tool": "Bash", "requester": "claude"}
WANTED = {**CALL, "risk": "T2"}


def take_back(api: Api, walk: dict[str, Any], item: str, **more: Any) -> Answer:
    return api.request("POST", f"/api/walks/{walk['id']}/take-back/{item}", {}, **more)


def taken_back(api: Api, walk: dict[str, Any], item: str) -> dict[str, Any]:
    answer = take_back(api, walk, item)
    assert answer.status == 200, answer
    found: dict[str, Any] = answer.json
    return found


def refused(api: Api, walk: dict[str, Any], item: str) -> str:
    """Why it cannot be taken back; nothing has changed."""
    before = read(api, walk)
    answer = take_back(api, walk, item)
    assert (answer.status, answer.json["code"]) == (409, "cannot_be_taken_back"), answer
    after = read(api, walk)
    assert (after["agenda"], after["transcript"]) == (before["agenda"], before["transcript"])
    assert audited(api, "walk.taken_back", walk["id"]) == []
    why: str = answer.json["detail"]
    return why


def test_an_answer_that_is_held_is_taken_back_and_the_item_is_on_the_table_again(api: Api) -> None:
    asked, other = api.ask("Which port?", options=["8080", "9090"]), api.ask("Which host?", session="session-2")
    walk = start(api)
    item = item_of(walk, asked)["id"]
    made = decided(api, walk, item, "ratify", **HELD)
    assert made["item"]["decision"]["applied"]["held_until"] is not None

    walk = taken_back(api, walk, item)

    assert api.get(f"/api/escalations/{asked}")["state"] == "open"
    assert api.get(f"/api/escalations/{asked}")["resolution"] is None
    again = item_of(walk, asked)
    assert (walk["active_item"], again["status"], again["decision"]) == (item, "active", None)
    assert item_of(walk, other)["status"] == "queued"
    assert (walk["totals"]["decisions"], walk["left"]) == ({}, 2)
    assert "Taken back: Ratify: 8080" in [said["text"] for said in walk["transcript"]]
    (entry,) = audited(api, "walk.taken_back", walk["id"])
    assert (entry["kind"], entry["source"]["ref"], entry["decision"]["action"]["label"]) == ("ratify", asked, "8080")
    assert decided(api, walk, item, "ratify", action=2)["item"]["decision"]["action"]["label"] == "9090"


def test_what_was_declined_can_be_taken_back_while_it_is_held(api: Api) -> None:
    asked = api.ask("Drop the table?")
    walk = start(api)
    item = walk["active_item"]
    decided(api, walk, item, "reject", rationale="never", **HELD)
    assert api.get(f"/api/escalations/{asked}")["state"] == "dismissed"

    taken_back(api, walk, item)

    assert api.get(f"/api/escalations/{asked}")["state"] == "open"


def test_an_answer_that_went_out_cannot_be_taken_back_and_it_says_why(api: Api) -> None:
    sent, read_, late = api.ask("One?"), api.ask("Two?", session="session-2"), api.ask("Three?", session="session-3")
    walk = start(api)
    for asked in (sent, read_, late):
        api.request("POST", f"/api/walks/{walk['id']}/turn", {"item": item_of(walk, asked)["id"]})
        decided(api, walk, item_of(walk, asked)["id"], "ratify", **(HELD if asked == late else {}))
    api.take("GembaReplyRead", {"event_id": read_}, "session-2")

    assert refused(api, walk, item_of(walk, sent)["id"]) == (
        "the answer was sent, and the agent may have read it, so it cannot be taken back"
    )
    assert refused(api, walk, item_of(walk, read_)["id"]) == (
        "the agent has read the answer, so it cannot be taken back"
    )
    with time_machine.travel(clock.now() / clock.SECOND + 7, tick=True):
        assert "cannot be taken back" in refused(api, walk, item_of(walk, late)["id"])


def test_an_approval_is_taken_back_until_it_is_used(api: Api) -> None:
    request = api.request("POST", "/api/approvals", {**WANTED, "session_id": "session-1"}).json
    walk = start(api)
    item = walk["active_item"]
    use = (f"/api/approvals/{request['id']}/use", CALL)
    decided(api, walk, item, "ratify")

    taken_back(api, walk, item)

    waiting = api.get(f"/api/approvals/{request['id']}")
    assert (waiting["state"], waiting["grant_state"], waiting["decided_by"]) == ("pending", None, None)
    assert api.get(f"/api/escalations/{request['escalation_id']}")["state"] == "open"
    assert api.request("POST", *use).status == 409
    with api.app.database.read() as connection:  # its time runs out as it would have
        assert len(connection.execute(select(flows).where(flows.c.name == "approval_expiry")).all()) == 2
    decided(api, walk, item, "ratify")
    assert api.request("POST", *use).status == 200


def test_an_approval_that_was_used_stays(api: Api) -> None:
    request = api.request("POST", "/api/approvals", {**WANTED, "session_id": "session-1"}).json
    walk = start(api)
    decided(api, walk, walk["active_item"], "ratify")
    assert api.request("POST", f"/api/approvals/{request['id']}/use", CALL).status == 200

    why = refused(api, walk, walk["active_item"])

    assert why == "the approval was used, and what it allowed has run: it cannot be taken back"
    assert api.get(f"/api/approvals/{request['id']}")["grant_state"] == "consumed"


def test_work_that_a_decision_changed_or_made_is_as_it_was_with_the_walk_as_the_cause(api: Api) -> None:
    item = make_item(api, "Mend the roof")
    walk = start(api)
    agreed = walk["active_item"]
    topic = api.request("POST", f"/api/walks/{walk['id']}/agenda", {"topic": "The yard"}).json["agenda"][-1]["id"]
    decided(api, walk, agreed, "defer", until="backlog")
    api.request("POST", f"/api/walks/{walk['id']}/turn", {"item": topic})
    made = decided(api, walk, topic, "ratify")["item"]["decision"]["applied"]["ref"]
    assert api.get(f"/api/work-items/{item}")["state"] == "backlog"

    taken_back(api, walk, agreed)
    after = taken_back(api, walk, topic)

    assert api.get(f"/api/work-items/{item}")["state"] != "backlog"
    assert api.get(f"/api/work-items/{made}")["state"] == "cancelled"
    with api.app.database.read() as connection:
        undone = connection.execute(select(changes).where(changes.c.item_id == item, changes.c.kind == "undone")).one()
    assert (undone.cause, undone.cause_id) == ("walk", walk["id"])
    assert after["totals"]["work_touched"] == []


def test_work_that_somebody_changed_since_is_left_as_it_is(api: Api) -> None:
    item = make_item(api, "Mend the roof")
    walk = start(api)
    decided(api, walk, walk["active_item"], "ratify")
    api.request("PATCH", f"/api/work-items/{item}", {"title": "Mend the whole roof"})

    answer = take_back(api, walk, walk["active_item"])

    assert (answer.status, answer.json["code"]) == (409, "changed_since")
    assert item_of(read(api, walk), item)["status"] == "decided"


def test_what_was_put_off_or_handed_on_is_taken_back(api: Api) -> None:
    snoozed, handed = api.ask("One?"), api.ask("Two?", session="session-2")
    noted = make_item(api, "Mend the roof")
    walk = start(api)
    decided(api, walk, item_of(walk, snoozed)["id"], "defer")
    decided(api, walk, item_of(walk, handed)["id"], "handoff", persona="documentarian")
    decided(api, walk, item_of(walk, noted)["id"], "reject", rationale="not now")

    for ref in (snoozed, handed, noted):
        walk = taken_back(api, walk, item_of(walk, ref)["id"])

    assert api.get(f"/api/escalations/{snoozed}")["state"] == "open"
    assert {each["status"] for each in walk["consults"]} <= {"cancelled", "completed"}
    assert [each["decision"] for each in walk["agenda"]] == [None] * 3


@pytest.mark.parametrize("decision", [{"kind": "ratify", "action": 2}, {"kind": "modify"}])
def test_what_was_done_at_once_cannot_be_taken_back(api: Api, decision: dict[str, Any]) -> None:
    api.permission("session-1")
    walk = start(api)
    if decision["kind"] == "modify":
        edited = {"verb": "POST", "path": "/api/sprints", "body": {"title": "One", "token_budget": 1000}}
        decision = {**decision, "edited": edited}
    answer = api.request("POST", f"/api/walks/{walk['id']}/decide/{walk['active_item']}", decision)
    assert answer.status == 200, answer

    assert refused(api, walk, walk["active_item"]).endswith("cannot be taken back")


def test_taking_back_counts_once_by_its_confirm_id_and_undecided_is_told(api: Api) -> None:
    api.ask("Which port?")
    walk = start(api)
    item = walk["active_item"]
    nothing = take_back(api, walk, item)
    decided(api, walk, item, "ratify", **HELD)
    confirm = wire.new_event_id()

    first, again = (take_back(api, walk, item, X_GEMBA_Confirm=confirm) for _ in range(2))

    assert (nothing.status, nothing.json["code"]) == (409, "not_decided")
    assert (first.status, first.json) == (again.status, again.json)
    assert len(audited(api, "walk.taken_back", walk["id"])) == 1


def test_an_answer_of_somebody_else_is_not_taken_back_in_its_place(api: Api) -> None:
    asked = api.ask("Which port?")
    walk = start(api)
    decided(api, walk, walk["active_item"], "ratify", **HELD)
    api.request("POST", f"/api/escalations/{asked}/reopen", {})
    api.request("POST", f"/api/escalations/{asked}/respond", {"text": "7070", "hold": 60})

    answer = take_back(api, walk, walk["active_item"])

    assert (answer.status, answer.json["code"]) == (409, "already_resolved")
    assert api.get(f"/api/escalations/{asked}")["resolution"]["text"] == "7070"
