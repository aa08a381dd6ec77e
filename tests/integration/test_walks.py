"""Walks over the API, on both databases: the agenda fills itself, each decision is carried out where it belongs, and a
walk that rested goes on where it stood."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from sqlalchemy import select, update

from gemba import wire
from gemba.handoff import audit
from gemba.personas import consults
from gemba.sessions.store import sessions
from gemba.walks.store import item as agenda_row
from gemba.walks.tables import agenda
from gemba.work.tables import changes, items
from tests.fixtures.api import Api
from tests.fixtures.remembered import suggest
from tests.fixtures.servers import Answer


def start(api: Api, **body: Any) -> dict[str, Any]:
    answer = api.request("POST", "/api/walks", body)
    assert answer.status == 201, answer
    walk: dict[str, Any] = answer.json
    return walk


def decide(api: Api, walk: dict[str, Any], item: str, kind: str, **body: Any) -> Answer:
    return api.request("POST", f"/api/walks/{walk['id']}/decide/{item}", {"kind": kind, **body})


def decided(api: Api, walk: dict[str, Any], item: str, kind: str, **body: Any) -> dict[str, Any]:
    answer = decide(api, walk, item, kind, **body)
    assert answer.status == 200, answer
    made: dict[str, Any] = answer.json
    return made


def read(api: Api, walk: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"/api/walks/{walk['id']}")
    return found


def refs(walk: dict[str, Any]) -> list[tuple[str, str]]:
    return [(each["source"]["kind"], each["source"]["ref"]) for each in walk["agenda"]]


def item_of(walk: dict[str, Any], ref: str) -> dict[str, Any]:
    return next(each for each in walk["agenda"] if each["source"]["ref"] == ref)


def make_item(api: Api, title: str = "Mend the roof", **fields: Any) -> str:
    """As an agent files one."""
    answer = api.request("POST", "/api/work-items", {"item": {"title": title, **fields}})
    assert answer.status == 201, answer
    id: str = answer.json["id"]
    return id


def audited(api: Api, kind: str, ref: str) -> list[dict[str, Any]]:
    with api.app.database.read() as connection:
        return [json.loads(one.body) for one in audit.entries(connection) if (one.kind, one.ref) == (kind, ref)]


# ---- the agenda ------------------------------------------------------------------------------------------------------


def test_the_agenda_has_everything_that_waits_the_most_urgent_first(api: Api) -> None:
    advisory = api.ask("Which colour?")
    blocking = api.ask("Which port?", session="session-2", kind="blocker")
    filed = make_item(api, "Mend the roof")
    closed = make_item(api, "Paint it", retro="wanted")
    api.request("PATCH", f"/api/work-items/{closed}", {"ratified": True})
    api.request("PATCH", f"/api/work-items/{closed}", {"state": "done", "close_reason": "painted"})
    api.take("SessionStart", {}, "session-3")
    with api.app.database.transaction() as tx:
        lost = update(sessions).where(sessions.c.id == "session-3").values(lifecycle="failed", close_reason="killed")
        tx.connection.execute(lost)

    walk = start(api, label="Monday")

    assert refs(walk) == [
        ("escalation", blocking),
        ("escalation", advisory),
        ("session", "session-3"),
        ("filed", filed),
        ("closed", closed),
    ]
    assert [each["status"] for each in walk["agenda"]] == ["active", *["queued"] * 4]
    first = walk["agenda"][0]
    assert first["source"]["worker"] == "session-2"
    assert "Which port?" in first["framing"]["sentence"]
    assert 1 <= len(first["framing"]["actions"]) <= 3
    assert walk["active_item"] == first["id"]
    assert walk["transcript"][0]["speaker"] == "manager"


def test_what_is_settled_old_or_put_off_is_not_on_the_agenda(api: Api) -> None:
    answered, snoozed = api.ask("One?"), api.ask("Two?", session="session-2")
    api.request("POST", f"/api/escalations/{answered}/respond", {"text": "yes"})
    api.request("POST", f"/api/escalations/{snoozed}/snooze", {"seconds": 3600})
    old, agreed = make_item(api, "Old"), make_item(api, "Agreed")
    api.request("PATCH", f"/api/work-items/{agreed}", {"ratified": True})
    with api.app.database.transaction() as tx:
        tx.connection.execute(update(items).where(items.c.id == old).values(created_at=1))

    walk = start(api)

    assert walk["agenda"] == []
    assert walk["active_item"] is None
    assert walk["transcript"][0]["text"] == "Nothing waits for you."


def test_a_list_that_is_imported_is_agreed_to_by_that_but_for_what_others_filed(api: Api) -> None:
    issues = [{"id": "x-1", "title": "Imported"}, {"id": "x-2", "title": "Of the crew", "created_by": "worker-7"}]
    api.request("POST", "/api/work-items/import", {"name": "TODO.md", "issues": issues})
    made = make_item(api)

    walk = start(api)

    assert api.get("/api/work-items/x-1")["ratified"]["by"] == "operator"
    assert refs(walk) == [("filed", "x-2"), ("filed", made)]


def test_an_operator_has_one_open_walk(api: Api) -> None:
    walk = start(api)

    again = api.request("POST", "/api/walks", {})
    api.request("POST", f"/api/walks/{walk['id']}/end", {})

    assert (again.status, again.json["code"], again.json["walk_id"]) == (409, "walk_open", walk["id"])
    assert start(api)["id"] != walk["id"]


def test_two_that_start_at_once_begin_one_walk(api: Api) -> None:
    gate = threading.Barrier(4)

    def begin() -> int:
        gate.wait()
        return api.request("POST", "/api/walks", {}).status

    with ThreadPoolExecutor(4) as pool:
        statuses = sorted(future.result() for future in [pool.submit(begin) for _ in range(4)])

    assert statuses == [201, 409, 409, 409]


def test_new_things_are_pulled_in_by_urgency_and_the_operator_adds_moves_and_removes(api: Api) -> None:
    first, second = api.ask("One?"), api.ask("Two?", session="session-2")
    walk = start(api)
    urgent = api.ask("Three?", session="session-3", kind="blocker")
    work = make_item(api, "Mend the roof")
    path = f"/api/walks/{walk['id']}/agenda"

    pulled = api.request("POST", path, {}).json
    api.request("POST", path, {"topic": "Where are we going?"})
    known = api.request("POST", path, {"ref": first}).json
    moved = api.request("PATCH", f"{path}/{item_of(known, work)['id']}", {"place": 2, "topic": "The roof"}).json
    removed = api.request("DELETE", f"{path}/{item_of(known, second)['id']}", {}).json

    assert refs(pulled) == [("escalation", first), ("escalation", urgent), ("escalation", second), ("filed", work)]
    assert [each["topic"] for each in moved["agenda"]][:2] == ["One?", "The roof"]
    assert [each["topic"] for each in removed["agenda"]] == ["One?", "The roof", "Three?", "Where are we going?"]
    nothing = api.request("POST", path, {"ref": "nobody"})
    assert (nothing.status, nothing.json["code"]) == (404, "not_found")


def test_an_item_of_another_walk_is_not_found(api: Api) -> None:
    api.ask()
    walk = start(api)
    api.request("POST", f"/api/walks/{walk['id']}/end", {})
    other = start(api)

    answer = decide(api, other, walk["agenda"][0]["id"], "ratify")

    assert (answer.status, answer.json["code"]) == (404, "not_found")


# ---- decisions -------------------------------------------------------------------------------------------------------


def test_ratify_answers_the_agent_and_takes_up_the_next(api: Api) -> None:
    first = api.ask("Which port?", options=["8080", "9090"])
    second = api.ask("Which host?", session="session-2")
    walk = start(api)

    made = decided(api, walk, walk["active_item"], "ratify", action=2)

    asked = api.get(f"/api/escalations/{first}")
    assert (asked["state"], asked["resolution"]["text"], asked["resolution"]["option"]) == ("resolved", "9090", 2)
    assert asked["resolution"]["walk_id"] == walk["id"]
    assert made["item"]["status"] == "decided"
    assert made["item"]["decision"]["action"]["label"] == "9090"
    applied = made["item"]["decision"]["applied"]
    assert (applied["status"], applied["ref"]) == (200, first)
    assert made["next"]["source"]["ref"] == second
    assert made["next"]["framing"]["actions"]
    assert made["totals"]["decisions"] == {"ratify": 1}
    (entry,) = audited(api, "walk.decided", walk["id"])
    assert (entry["kind"], entry["source"]["ref"], entry["decision"]["applied"]["ref"]) == ("ratify", first, first)


def test_modify_answers_in_the_operators_words(api: Api) -> None:
    asked, dialog = api.ask("Which port?", kind="blocker"), api.permission("session-2")
    walk = start(api)

    decided(api, walk, item_of(walk, asked)["id"], "modify", edited={"text": "7070"})
    api.request("POST", f"/api/walks/{walk['id']}/turn", {"item": item_of(walk, dialog)["id"]})
    decided(api, walk, item_of(walk, dialog)["id"], "modify", edited={"text": "make check instead"})

    assert api.get(f"/api/escalations/{asked}")["resolution"]["text"] == "7070"
    answered = api.get(f"/api/escalations/{dialog}")["resolution"]
    assert (answered["decision"], answered["text"]) == ("modify", "make check instead")
    assert item_of(read(api, walk), asked)["decision"]["action"]["label"] == "7070"


def test_reject_declines_with_the_reason_and_records_why(api: Api) -> None:
    asked, work = api.ask(), make_item(api)
    walk = start(api)

    unreasoned = decide(api, walk, walk["active_item"], "reject")
    decided(api, walk, walk["active_item"], "reject", rationale="not our port")
    made = decided(api, walk, item_of(walk, work)["id"], "reject", rationale="we have no roof")

    assert (unreasoned.status, unreasoned.json["pointer"]) == (422, "/rationale")
    declined = api.get(f"/api/escalations/{asked}")
    assert (declined["state"], declined["resolution"]["outcome"], declined["resolution"]["text"]) == (
        "dismissed",
        "declined",
        "not our port",
    )
    assert made["item"]["decision"]["applied"] is None
    assert audited(api, "walk.decided", walk["id"])[1]["decision"]["rationale"] == "we have no roof"


def test_defer_snoozes_an_ask_and_sends_work_to_the_backlog(api: Api) -> None:
    asked, work = api.ask(), make_item(api)
    until = (datetime.now(UTC) + timedelta(hours=5)).isoformat(timespec="seconds").replace("+00:00", "Z")
    walk = start(api)

    made = decided(api, walk, walk["active_item"], "defer", until=until)
    decided(api, walk, item_of(walk, work)["id"], "defer", until="backlog")

    assert api.get(f"/api/escalations/{asked}")["state"] == "snoozed"
    assert made["item"]["status"] == "deferred"
    assert api.get(f"/api/work-items/{work}")["state"] == "backlog"
    past = decide(api, walk, walk["agenda"][0]["id"], "defer", until="2020-01-01T00:00:00Z")
    assert (past.status, past.json["pointer"]) == (422, "/until")


def test_a_decision_on_work_changes_the_board_with_the_walk_as_its_cause(api: Api) -> None:
    work = make_item(api)
    walk = start(api)

    made = decided(api, walk, walk["active_item"], "ratify")
    totals = api.request("POST", f"/api/walks/{walk['id']}/end", {}).json["totals"]

    assert api.get(f"/api/work-items/{work}")["ratified"]["by"] == "operator"
    with api.app.database.read() as connection:
        mine = select(changes.c.cause, changes.c.cause_id).where(changes.c.item_id == work)
        assert connection.execute(mine.order_by(changes.c.number.desc())).first() == ("walk", walk["id"])
    assert made["next"] is None
    assert (totals["work_touched"], totals["applied"]) == ([work], 1)


def test_modify_applies_an_edited_action_and_leaves_undecided_what_its_route_refuses(api: Api) -> None:
    work = make_item(api)
    walk = start(api)
    item = walk["active_item"]

    refused = decide(api, walk, item, "modify", edited={"body": {"state": "nowhere"}})
    about_walks = decide(api, walk, item, "modify", edited={"verb": "POST", "path": "/api/walks", "body": {}})
    nowhere = decide(api, walk, item, "modify", edited={"path": "/api/nothing"})
    before = item_of(read(api, walk), work)
    decided(api, walk, item, "modify", edited={"body": {"ratified": True, "priority": 0}})

    assert (refused.status, refused.json["code"]) == (424, "action_refused")
    assert (about_walks.status, about_walks.json["pointer"]) == (422, "/edited/path")
    assert (nowhere.status, nowhere.json["code"]) == (424, "action_refused")
    assert (before["status"], before["decision"]) == ("active", None)
    assert len(audited(api, "walk.decide_refused", walk["id"])) == 2
    assert api.get(f"/api/work-items/{work}")["priority"] == 0


def test_an_approval_is_read_approved_by_its_seal_and_refused_with_the_reason(api: Api) -> None:
    wanted = {"command": "make deploy", "cwd": "/srv", "tool": "Bash", "risk": "T2", "requester": "claude"}
    yes = api.request("POST", "/api/approvals", {**wanted, "session_id": "session-1"}).json
    no = api.request("POST", "/api/approvals", {**wanted, "command": "make drop", "session_id": "session-2"}).json
    walk = start(api)

    assert "make deploy" in item_of(walk, yes["escalation_id"])["framing"]["summary"]
    decided(api, walk, item_of(walk, yes["escalation_id"])["id"], "ratify")
    decided(api, walk, item_of(walk, no["escalation_id"])["id"], "reject", rationale="never on a Monday")

    approved, refused = api.get(f"/api/approvals/{yes['id']}"), api.get(f"/api/approvals/{no['id']}")
    assert (approved["state"], refused["state"]) == ("approved", "refused")
    assert refused["decision_reason"] == "never on a Monday"


def test_a_handed_off_item_stays_open_with_the_other_personas_consult(api: Api) -> None:
    asked = api.ask()
    walk = start(api)
    (api.workspace / ".gemba" / "agents.toml").write_text('[agent.scribe]\ncommand = ["cat"]\n')
    with api.app.database.read() as connection:
        assert agenda_row(connection, walk["id"], walk["active_item"]).status == "active"

    missing = decide(api, walk, walk["active_item"], "handoff")
    unknown = decide(api, walk, walk["active_item"], "handoff", persona="nobody")
    answer = decide(api, walk, walk["active_item"], "handoff", persona="documentarian")

    assert (missing.status, missing.json["pointer"]) == (422, "/persona")
    assert unknown.status == 404
    assert api.get(f"/api/escalations/{asked}")["state"] == "open"
    with api.app.database.read() as connection:
        (row,) = connection.execute(select(consults.consults)).all()
    assert (row.persona_id, row.walk_id) == ("documentarian", walk["id"])
    # Without a model nobody answers a free question: that is said, and the item stays where it was.
    if answer.status == 200:
        assert answer.json["item"]["decision"]["consult_id"] == row.id
        assert answer.json["item"]["status"] == "deferred"
    else:
        assert (answer.status, answer.json["code"]) == (502, "not_started")
        assert read(api, walk)["agenda"][0]["status"] == "active"


def test_what_agents_suggest_to_remember_is_decided_on_a_walk(api: Api) -> None:
    first, second, third = suggest(api.app, "Migrations run twice.", "The queue is FIFO.", "Friday is release day.")
    walk = start(api)
    assert refs(walk) == [("memory", first), ("memory", second), ("memory", third)]
    assert "Migrations run twice." in walk["agenda"][0]["framing"]["summary"]

    decided(api, walk, item_of(walk, first)["id"], "ratify")
    decided(api, walk, item_of(walk, second)["id"], "reject", rationale="It is not.")
    api.request("POST", f"/api/memories/{third}/accept", {})
    answer = decide(api, walk, item_of(walk, third)["id"], "ratify")

    states = {each["id"]: each for each in api.get("/api/memories")["memories"]}
    assert (states[first]["state"], states[second]["state"]) == ("accepted", "rejected")
    assert states[second]["decision_reason"] == "It is not."
    assert (answer.status, answer.json["code"]) == (409, "settled_elsewhere")

    back = api.request("POST", f"/api/walks/{walk['id']}/take-back/{item_of(walk, second)['id']}", {})
    assert back.status == 200, back
    assert api.get(f"/api/memories/{second}")["state"] == "suggested"
    assert item_of(back.json, second)["status"] == "active"


def test_what_was_answered_elsewhere_is_dismissed_and_the_next_is_on_the_table(api: Api) -> None:
    first, second = api.ask("One?"), api.ask("Two?", session="session-2")
    walk = start(api)
    api.request("POST", f"/api/escalations/{first}/respond", {"text": "mine"})

    seen = item_of(read(api, walk), first)
    answer = decide(api, walk, walk["active_item"], "ratify")
    after = read(api, walk)

    assert "mine" in seen["settled"]
    assert (answer.status, answer.json["code"]) == (409, "settled_elsewhere")
    assert item_of(after, first)["status"] == "dismissed"
    assert after["active_item"] == item_of(after, second)["id"]
    assert api.get(f"/api/escalations/{first}")["resolution"]["text"] == "mine"


def test_an_item_is_decided_once_and_a_repeated_request_tells_the_same(api: Api) -> None:
    api.ask()
    walk = start(api)
    confirm = wire.new_event_id()
    path = f"/api/walks/{walk['id']}/decide/{walk['active_item']}"

    once = api.request("POST", path, {"kind": "ratify"}, X_GEMBA_Confirm=confirm)
    again = api.request("POST", path, {"kind": "ratify"}, X_GEMBA_Confirm=confirm)
    other = api.request("POST", path, {"kind": "reject", "rationale": "no"})

    assert once.json == again.json
    assert (other.status, other.json["code"]) == (409, "already_decided")
    assert len(audited(api, "walk.decided", walk["id"])) == 1


def test_the_next_goes_round_and_a_deferred_item_is_taken_up_again(api: Api) -> None:
    for number in range(3):
        api.ask(f"Question {number}?", session=f"session-{number}")
    walk = start(api)
    turn = f"/api/walks/{walk['id']}/turn"

    seen = [walk["active_item"]]
    seen += [api.request("POST", turn, {}).json["active_item"] for _ in range(3)]
    decided(api, walk, seen[0], "defer")
    taken_up = api.request("POST", turn, {"item": seen[0]}).json

    assert seen == [*(each["id"] for each in walk["agenda"]), walk["agenda"][0]["id"]]
    assert taken_up["active_item"] == seen[0]
    assert [each["status"] for each in taken_up["agenda"]].count("active") == 1


# ---- rest and end ----------------------------------------------------------------------------------------------------


def test_a_resumed_walk_stands_where_it_stood_and_the_next_message_begins_with_what_was_so_far(api: Api) -> None:
    for number in range(3):
        api.ask(f"Question {number}?", session=f"session-{number}", options=["left", "right"])
    walk = start(api, label="Monday")
    decided(api, walk, walk["active_item"], "ratify")
    path = f"/api/walks/{walk['id']}"

    paused = api.request("POST", f"{path}/pause", {}).json
    refused = decide(api, walk, walk["agenda"][1]["id"], "ratify")
    resumed = api.request("POST", f"{path}/resume", {}).json
    api.request("POST", f"{path}/pause", {})
    same = api.request("POST", f"{path}/resume", {}).json
    spoken = api.request("POST", f"{path}/turn", {"message": "And now?"}).json
    later = api.request("POST", f"{path}/turn", {"message": "And then?"}).json

    assert (refused.status, refused.json["code"]) == (409, "walk_not_active")
    assert resumed["active_item"] == paused["active_item"] == walk["agenda"][1]["id"]
    assert resumed["transcript"] == paused["transcript"]
    assert resumed["synopsis"] == same["synopsis"]
    told = [each["text"] for each in later["transcript"] if each["speaker"] == "operator"]
    assert told[-2:] == [f"Resume context:\n{same['synopsis']}\n---\nAnd now?", "And then?"]
    assert "ratify: Question 0?: left" in same["synopsis"]
    assert "On the table: session-1 asks: Question 1?" in same["synopsis"]
    assert spoken["synopsis"] is None


def test_the_end_leaves_a_summary_in_the_workspace_and_in_the_audit_log(api: Api) -> None:
    api.ask("Which *port*?")
    work = make_item(api)
    with time_machine.travel(datetime.now(UTC), tick=False) as clock:
        walk = start(api, label="Monday")
        decided(api, walk, walk["active_item"], "ratify")
        clock.shift(90)
        api.request("POST", f"/api/walks/{walk['id']}/pause", {})
        clock.shift(3600)
        ended = api.request("POST", f"/api/walks/{walk['id']}/end", {}).json
    api.app.walk_summaries.write()
    again = api.request("POST", f"/api/walks/{walk['id']}/end", {"abandon": True}).json

    (file,) = (api.workspace / ".gemba" / "walks").glob("*.md")
    assert file.read_text() == ended["summary"]
    assert "# Monday" in ended["summary"]
    assert "- Time walked: 1 min 30 s" in ended["summary"]
    assert "- Decisions: 1 ratified; actions applied: 1" in ended["summary"]
    assert "1. Which \\*port\\*? · ratified" in ended["summary"]
    assert walk["agenda"][0]["source"]["ref"] not in ended["summary"]
    assert f"(filed {work})" in ended["summary"]
    assert (ended["status"], again["status"]) == ("completed", "completed")
    (entry,) = audited(api, "walk.ended", walk["id"])
    assert entry["totals"]["decisions"] == {"ratify": 1}
    assert api.get("/api/walks")["walks"][0]["left"] == 1


def test_a_summary_that_was_not_written_is_made_up_for(api: Api) -> None:
    walk = start(api)
    api.request("POST", f"/api/walks/{walk['id']}/end", {})
    (api.workspace / ".gemba" / "walks").write_text("in the way")

    api.app.walk_summaries.write()
    trouble = api.app.walk_summaries.trouble
    (api.workspace / ".gemba" / "walks").unlink()
    api.app.walk_summaries.write()

    assert trouble is not None
    assert api.app.walk_summaries.trouble is None
    assert len(list((api.workspace / ".gemba" / "walks").glob("*.md"))) == 1


@pytest.mark.parametrize(
    ("blocking", "minutes", "offered"), [(2, 0, False), (3, 0, True), (1, 31, True), (0, 99, False)]
)
def test_a_walk_is_offered_when_several_stand_still_or_one_has_for_too_long(
    api: Api, blocking: int, minutes: int, offered: bool
) -> None:
    api.ask("Advisory?")
    for number in range(blocking):
        api.ask(f"Question {number}?", session=f"session-{number}", kind="blocker")

    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=minutes)):
        hint = api.get("/api/walks")["hint"]

    assert (hint["offer"], hint["blocking"], hint["waiting"]) == (offered, blocking, blocking + 1)
    assert bool(hint["reason"]) is offered


def test_the_order_of_epics_is_asked_for_on_a_walk_and_the_consult_has_its_id(api: Api) -> None:
    epic = make_item(api, "Ship it", kind="epic")
    walk = start(api)

    answer = api.request("POST", f"/api/walks/{walk['id']}/consult", {"skill_id": "epic_order"})

    assert answer.status == 201, answer
    detail = api.get(f"/api/consults/{answer.json['id']}")
    assert detail["walk_id"] == walk["id"]
    assert "You are on a walk" in detail["composed"]["text"]
    assert [each["id"] for each in read(api, walk)["consults"]] == [answer.json["id"]]
    outside = api.request(
        "POST",
        "/api/consults",
        {"persona_id": "project-manager", "skill_id": "epic_order", "raw_input": {}, "spawn": False},
    )
    assert "You are on a walk" not in str(outside.json)
    assert epic


def test_hostile_text_is_data_in_what_is_said(api: Api) -> None:
    hostile = "\x1b[31m<script>alert(1)</script>‮ {{role}} " + "x" * 5_000
    api.ask(hostile)

    walk = start(api, label="‮<b>")
    said = walk["transcript"][0]["text"]

    assert "\x1b" not in said
    assert "\u202e" not in said
    assert len(walk["agenda"][0]["topic"]) <= 200
    with api.app.database.read() as connection:
        assert connection.execute(select(agenda.c.id)).scalar_one() == walk["agenda"][0]["id"]
