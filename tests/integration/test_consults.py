"""Consults over the API, on both databases: begun, answered, applied, ended, and what is refused on the way."""

import json
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
import time_machine
from sqlalchemy import select, update

from gemba import wire
from gemba.app import App
from gemba.event import Draft
from gemba.handoff import audit
from gemba.personas import consults
from gemba.personas.consult_records import record_path
from gemba.personas.reservations import reservations
from gemba.skills.advisor.advise import advise
from gemba.skills.consult.order_input import EpicOrderInput
from gemba.skills.consult.reading import read_input
from gemba.store import events
from tests.fixtures.api import Api
from tests.fixtures.plans import epic, order_input
from tests.fixtures.servers import BIN, Answer

PM = "project-manager"
SCRIBE = '[agent.scribe]\ncommand = ["cat"]\n'


def make_epic(api: Api, title: str) -> str:
    answer = api.request("POST", "/api/work-items", {"item": {"title": title, "kind": "epic"}})
    assert answer.status == 201, answer
    id: str = answer.json["id"]
    return id


def begin(api: Api, raw_input: dict[str, Any], skill: str = "epic_order", confirm: str = "", **more: Any) -> Answer:
    body = {"persona_id": PM, "skill_id": skill, "workspace": str(api.workspace), "raw_input": raw_input, **more}
    return api.request("POST", "/api/consults", body, X_GEMBA_Confirm=confirm or wire.new_event_id())


def begun(api: Api, raw_input: dict[str, Any], **more: Any) -> str:
    answer = begin(api, raw_input, **more)
    assert answer.status == 201, answer
    id: str = answer.json["id"]
    return id


def asked_of_an_agent(api: Api, raw_input: dict[str, Any], **more: Any) -> str:
    (api.workspace / ".gemba" / "agents.toml").write_text(SCRIBE)
    return begun(api, raw_input, agent_type="scribe", **more)


def emit(api: Api, id: str, *lines: Any, skill: str = "epic_order", **frame: Any) -> str:
    return api.take("GembaSkillOutput", {"skill_id": skill, "lines": list(lines)}, id, **frame)


def detail(api: Api, id: str) -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"/api/consults/{id}")
    return found


def apply(api: Api, id: str, idx: int | str, query: str = "", **headers: str) -> Answer:
    return api.request("POST", f"/api/consults/{id}/apply/{idx}{query}", {}, **headers)


def order_of(api: Api, id: str) -> int | None:
    place: int | None = api.get(f"/api/work-items/{id}")["user_order"]
    return place


def lines_for(raw_input: dict[str, Any]) -> list[dict[str, Any]]:
    """What a model would give that is right in everything."""
    found: list[dict[str, Any]] = msgspec.to_builtins(advise(read_input(raw_input, EpicOrderInput)))
    found[0]["model"] = "a-model"
    return found


def told(app: App, *names: str) -> list[str]:
    with app.database.read() as connection:
        return [event.name for event in events.read_after(connection, 0, 10_000) if event.name in names]


def audited(app: App) -> list[str]:
    with app.database.read() as connection:
        return [entry.kind for entry in audit.entries(connection) if entry.kind.startswith("consult.")]


def reservation(app: App, id: str) -> Any:
    with app.database.read() as connection:
        return connection.execute(select(reservations).where(reservations.c.id == id)).first()


def at_once(many: int, act: Callable[[int], Any]) -> list[Any]:
    together = threading.Barrier(many)

    def run(number: int) -> Any:
        together.wait()
        return act(number)

    with ThreadPoolExecutor(many) as pool:
        return list(pool.map(run, range(many)))


# ---- the whole walk --------------------------------------------------------------------------------------------------


def test_the_built_in_advisor_answers_and_a_line_that_is_applied_changes_its_epic(app: App, api: Api) -> None:
    first, second = make_epic(api, "Base"), make_epic(api, "Roof")
    given = order_input(epic(second, depends_on_epics=[first]), epic(first))
    answer = begin(api, given)
    assert (answer.status, answer.json["status"], answer.json["line_count"]) == (201, "running", 0)
    id = answer.json["id"]

    app.see_to_consults()

    found = detail(api, id)
    assert (found["status"], found["model"], found["dollars"], found["error"]) == (
        "completed",
        "gemba-advisor",
        0,
        None,
    )
    assert [line["type"] for line in found["validated_lines"]][:3] == ["strategy", "recommendation", "recommendation"]
    assert (found["line_errors"], found["order_errors"], found["applied_idx"]) == ([], [], [])
    assert found["composed_persisted"]
    assert [layer["name"] for layer in found["composed"]["layers"]][-1] == "message"
    assert found["composed"]["tokens"] > 500
    assert first in found["composed"]["text"]
    done = apply(api, id, 1)
    assert (done.status, done.json["consult_id"], done.json["idx"], done.json["applied_idx"]) == (200, id, 1, [1])
    assert done.json["outcome"]["executed"]
    assert done.json["outcome"]["status"] == 200
    assert (done.json["line"]["epic_id"], order_of(api, first), order_of(api, second)) == (first, 1, None)
    assert told(app, "consult.started", "consult.lines", "consult.finished", "consult.applied") == [
        *("consult.started", "consult.lines", "consult.finished", "consult.applied")
    ]
    assert audited(app) == ["consult.started", "consult.finished", "consult.applied"]
    assert reservation(app, id).state == "settled"
    assert reservation(app, id).settled_micros == 0


def test_an_agents_lines_come_in_as_it_gives_them_and_its_turns_end_completes_it(app: App, api: Api) -> None:
    given = order_input(epic("e1"), epic("e2"))
    id = asked_of_an_agent(api, given)
    session = api.get(f"/api/sessions/{id}")
    assert (session["role"], session["agent_type"]) == ("coach", "scribe")
    lines = lines_for(given)

    emit(api, id, *lines[:2])
    assert (detail(api, id)["line_count"], detail(api, id)["status"]) == (2, "running")
    emit(api, id, *lines[2:])
    api.take("GembaUsage", {"input_tokens": 900, "output_tokens": 100, "cost_usd": 0.02}, id)
    assert detail(api, id)["status"] == "running"
    api.take("Stop", {}, id)

    found = detail(api, id)
    assert (found["status"], found["validated_lines"], found["model"]) == ("completed", lines, "a-model")
    assert (found["tokens"], found["dollars"]) == ({"input": 900, "output": 100, "total": 1000}, 0.02)
    assert reservation(app, id).settled_micros == 20_000
    with app.database.read() as connection:
        asked = connection.execute(select(consults.consults.c.composed)).scalar_one()
    assert "emit_ordering" in json.loads(asked)["text"]


def test_the_same_output_twice_counts_once(api: Api) -> None:
    given = order_input(epic("e1"))
    id = asked_of_an_agent(api, given)
    lines = lines_for(given)

    frame = emit(api, id, lines[0])
    emit(api, id, lines[0], event_id=frame)

    assert (detail(api, id)["line_count"], detail(api, id)["line_errors"]) == (1, [])


def test_wrong_lines_stand_beside_the_right_ones_with_their_reasons(api: Api) -> None:
    given = order_input(epic("e1"), epic("e2", depends_on_epics=["e1"]))
    id = asked_of_an_agent(api, given)
    strategy, one, two, *rest = lines_for(given)
    stranger = {**one, "epic_id": "gone"}

    emit(api, id, strategy, stranger, "nonsense", one, two, *rest)
    api.take("SessionEnd", {"reason": "exit"}, id)

    found = detail(api, id)
    assert found["validated_lines"] == [strategy, one, two, *rest]
    assert [(error["index"], error["raw"]) for error in found["line_errors"]] == [(1, stranger), (2, "nonsense")]
    assert all(error["rule"] and error["reason"] for error in found["line_errors"])
    assert found["status"] == "completed"


def test_lines_of_another_skill_are_refused(api: Api) -> None:
    id = asked_of_an_agent(api, {"question": "Why?"}, skill="ask")

    emit(api, id, {"type": "strategy", "reasoning": "so"}, skill="refine")

    found = detail(api, id)
    assert (found["line_count"], [error["rule"] for error in found["line_errors"]]) == (0, ["skill"])


def test_an_answer_without_a_summary_fails_and_says_what_is_missing(app: App, api: Api) -> None:
    id = asked_of_an_agent(api, {"question": "Why?"}, skill="ask")

    emit(api, id, {"type": "strategy", "reasoning": "I look"}, skill="ask")
    api.take("SessionEnd", {"reason": "exit"}, id)
    app.see_to_consults()

    found = detail(api, id)
    assert (found["status"], found["order_errors"]) == ("failed", [{"rule": "missing", "reason": "no summary came"}])
    assert "ended before the summary" in found["error"]
    assert apply(api, id, 0).status == 404


def test_what_an_agent_said_last_counts_although_its_end_was_seen_before(app: App, api: Api) -> None:
    given = order_input(epic("e1"))
    id = asked_of_an_agent(api, given)
    api.append("GembaSkillOutput", {"skill_id": "epic_order", "lines": lines_for(given)}, id)  # it lies in the log
    with app.database.transaction() as tx:
        app.ingest.tell(tx, [Draft("session_transition", {"to": "completed", "close_reason": "exit"}, id)])
    assert detail(api, id)["status"] == "running"

    app.see_to_consults()

    assert (detail(api, id)["status"], detail(api, id)["model"]) == ("completed", "a-model")


# ---- a model that fails ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["ended", "too dear"])
def test_the_built_in_advisor_takes_the_place_of_a_model_that_fails(app: App, api: Api, how: str) -> None:
    given = order_input(epic("e1"))
    id = asked_of_an_agent(api, given)
    emit(api, id, lines_for(given)[0])

    if how == "ended":
        api.take("SessionEnd", {"reason": "exit"}, id)
    else:
        api.take("GembaUsage", {"input_tokens": 9, "output_tokens": 9, "cost_usd": 0.3}, id)
        assert not api.get(f"/api/sessions/{id}")["run"]["wanted"]
    assert detail(api, id)["status"] == "running"
    app.see_to_consults()

    found = detail(api, id)
    assert (found["status"], found["model"]) == ("completed", "gemba-advisor")
    assert "the built-in advisor answered instead" in found["error"]
    assert [error["rule"] for error in found["line_errors"]] == ["set_aside"]
    assert found["validated_lines"][0]["model"] == "gemba-advisor"
    assert reservation(app, id).settled_micros == (0 if how == "ended" else 300_000)


def test_without_a_model_the_other_skills_fail_and_say_so(app: App, api: Api) -> None:
    answer = begin(api, {"question": "Why?"}, skill="ask")

    assert (answer.status, answer.json["code"]) == (502, "not_started")
    assert "needs a model, and none is at hand" in answer.json["detail"]
    found = detail(api, answer.json["consult_id"])
    assert (found["status"], found["error"]) == ("failed", answer.json["detail"])
    assert reservation(app, found["id"]) is None


def test_an_agent_that_cannot_run_here_leaves_the_consult_failed(api: Api) -> None:
    (api.workspace / ".gemba" / "agents.toml").write_text('[agent.ghost]\ncommand = ["no-such-program"]\n')

    answer = begin(api, order_input(epic("e1")), agent_type="ghost")

    assert (answer.status, detail(api, answer.json["consult_id"])["status"]) == (502, "failed")
    assert "no-such-program is not on PATH" in answer.json["detail"]


# ---- begin -----------------------------------------------------------------------------------------------------------


def test_a_dry_run_composes_the_prompt_and_costs_nothing(app: App, api: Api) -> None:
    answer = begin(api, {"question": "What is left?"}, skill="ask", spawn=False, guidance="Be short.")

    assert (answer.status, answer.json["status"]) == (201, "prepared")
    found = detail(api, answer.json["id"])
    assert "What is left?" in found["composed"]["text"]
    assert "Be short." in found["composed"]["text"]
    assert found["raw_request"]["raw_input"] == {"question": "What is left?"}
    assert reservation(app, found["id"]) is None
    assert apply(api, found["id"], 0).status == 404
    assert api.post(f"/api/consults/{found['id']}/close", {})["status"] == "closed"


def test_the_items_that_an_input_names_stand_in_the_prompt_as_they_are(api: Api) -> None:
    base, roof = make_epic(api, "Base"), make_epic(api, "Roof")
    body = {"priority": 0, "labels": ["stone"], "description": "Dig first. " * 200}
    api.request("PATCH", f"/api/work-items/{base}", body)
    api.post(f"/api/work-items/{roof}/relations", {"kind": "blocks", "source": base})
    tile = api.request("POST", "/api/work-items", {"item": {"title": "A tile", "parent": roof}}).json["id"]

    def asked(skill: str, **given: Any) -> str:
        text: str = detail(api, begun(api, given, skill=skill, spawn=False))["composed"]["text"]
        return text.partition("as they are now:\n")[2]

    refined = json.loads(asked("refine", item_ids=[roof, base, "gone"]))
    assert [(item["id"], item["title"], item.get("blocked_by")) for item in refined] == [
        (roof, "Roof", [base]),
        (base, "Base", None),
    ]
    assert (refined[1]["priority"], refined[1]["labels"], refined[1]["age_days"]) == (0, ["stone"], 0)
    assert 590 < len(refined[1]["description"]) < 610
    assert [item["id"] for item in json.loads(asked("what_remains", epic_id=roof))] == [roof, tile]
    assert [item["id"] for item in json.loads(asked("change_this", item_id=base, change="Wood"))] == [base]
    assert asked("ask", question="Why?", refs=["gone", "README.md"]) == ""


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"persona_id": "nobody"}, 404, "no persona is called"),
        ({"skill_id": "juggle"}, 404, "no skill is called"),
        ({"persona_id": "security"}, 403, "does not list the skill epic_order"),
        ({"raw_input": {"workspace": "w", "as_of": "2026-05-04T09:00:00Z"}}, 400, "candidate_epics"),
        ({"workspace": "/elsewhere"}, 400, "another workspace"),
        ({"agent_type": "nothing-like-it"}, 404, "no agent type is called"),
    ],
)
def test_what_cannot_be_asked_is_refused_and_nothing_is_stored(
    api: Api, change: dict[str, Any], status: int, words: str
) -> None:
    body = {"persona_id": PM, "skill_id": "epic_order", "workspace": "", "raw_input": order_input(epic("e1"))}

    answer = api.request("POST", "/api/consults", {**body, **change})

    assert (answer.status, words in answer.json["detail"]) == (status, True), answer
    assert api.get("/api/consults")["total"] == 0


def test_an_unknown_field_of_the_input_is_named_with_its_place(api: Api) -> None:
    answer = begin(api, {**order_input(epic("e1")), "mood": "good"})

    assert (answer.status, answer.json["pointer"]) == (400, "/raw_input/mood")


def test_a_day_that_has_no_room_refuses_with_what_is_left(app: App, api: Api) -> None:
    given = order_input(epic("e1"), constraints={"max_dollars": 0.0})
    assert begin(api, given).json["code"] == "budget_spent"
    for _ in range(40):
        begun(api, order_input(epic("e1")))

    answer = begin(api, order_input(epic("e1")))

    assert (answer.status, answer.json["left_dollars"]) == (409, 0.0)
    app.see_to_consults()  # what the advisor answers costs nothing
    assert begin(api, order_input(epic("e1"))).status == 201


def test_the_same_confirm_id_begins_and_applies_once(app: App, api: Api) -> None:
    first = make_epic(api, "Base")
    answers = at_once(8, lambda _: begin(api, order_input(epic(first)), confirm="begin-1"))
    assert {answer.json["id"] for answer in answers} == {answers[0].json["id"]}
    id = answers[0].json["id"]
    app.see_to_consults()

    applied = [apply(api, id, 1, X_GEMBA_Confirm="apply-1") for _ in range(3)]

    assert [answer.status for answer in applied] == [200, 200, 200]
    assert all(answer.json == applied[0].json for answer in applied)
    assert told(app, "consult.applied") == ["consult.applied"]
    assert apply(api, id, 1, "?record_only=true", X_GEMBA_Confirm="apply-1").status == 422


# ---- apply -----------------------------------------------------------------------------------------------------------


def test_fifty_who_apply_one_line_at_once_have_one_effect(app: App, api: Api) -> None:
    first = make_epic(api, "Base")
    id = begun(api, order_input(epic(first)))
    app.see_to_consults()
    version = api.get(f"/api/work-items/{first}")["version"]

    answers = at_once(50, lambda _: apply(api, id, 1))

    assert sorted(answer.status for answer in answers) == [200, *[409] * 49]
    assert {answer.json.get("code") for answer in answers} == {None, "already_applied"}
    assert api.get(f"/api/work-items/{first}")["version"] == version + 1
    assert detail(api, id)["applied_idx"] == [1]


def take_back(api: Api, id: str, idx: int | str, **headers: str) -> Answer:
    return api.request("POST", f"/api/consults/{id}/take-back/{idx}", {}, **headers)


def test_what_was_applied_is_taken_back_and_can_be_applied_again(app: App, api: Api) -> None:
    first = make_epic(api, "Base")
    api.request("PATCH", f"/api/work-items/{first}", {"user_order": 7})
    id = begun(api, order_input(epic(first)))
    app.see_to_consults()
    apply(api, id, 1)

    answer = take_back(api, id, 1, X_GEMBA_Confirm="back-1")

    assert (answer.status, answer.json["applied_idx"], order_of(api, first)) == (200, [], 7)
    assert detail(api, id)["applied"] == []
    assert take_back(api, id, 1, X_GEMBA_Confirm="back-1").json == answer.json
    again = take_back(api, id, 1)
    assert (again.status, again.json["code"]) == (404, "not_applied")
    assert apply(api, id, 1).status == 200
    assert order_of(api, first) == 1
    assert told(app, "consult.applied", "consult.unapplied") == [
        *("consult.applied", "consult.unapplied", "consult.applied")
    ]
    assert audited(app)[-3:] == ["consult.applied", "consult.unapplied", "consult.applied"]
    app.see_to_consults()
    record = next(app.home.glob(f"persona/consults/*/{id}.json"))
    assert msgspec.json.decode(record.read_bytes())["applied_idx"] == [1]


def test_what_somebody_changed_since_is_not_taken_back(app: App, api: Api) -> None:
    first = make_epic(api, "Base")
    id = begun(api, order_input(epic(first)))
    app.see_to_consults()
    apply(api, id, 1)
    api.request("PATCH", f"/api/work-items/{first}", {"title": "Ground"})

    answer = take_back(api, id, 1)

    assert (answer.status, answer.json["code"]) == (409, "changed_since")
    assert (order_of(api, first), detail(api, id)["applied_idx"]) == (1, [1])


def test_a_line_that_changed_nothing_takes_nothing_else_back(app: App, api: Api) -> None:
    first = make_epic(api, "Base")
    id = begun(api, order_input(epic(first)))
    app.see_to_consults()
    api.request("PATCH", f"/api/work-items/{first}", {"user_order": 1, "title": "Ground"})
    apply(api, id, 1)

    assert take_back(api, id, 1).status == 200
    item = api.get(f"/api/work-items/{first}")
    assert (item["title"], item["user_order"], detail(api, id)["applied_idx"]) == ("Ground", 1, [])


def test_fifty_who_take_one_line_back_at_once_undo_one_change(app: App, api: Api) -> None:
    first = make_epic(api, "Base")
    api.request("PATCH", f"/api/work-items/{first}", {"user_order": 7})
    id = begun(api, order_input(epic(first)))
    app.see_to_consults()
    apply(api, id, 1)

    answers = at_once(50, lambda _: take_back(api, id, 1))

    assert sorted(answer.status for answer in answers) == [200, *[404] * 49]
    assert order_of(api, first) == 7


def test_an_action_that_its_route_refuses_is_not_applied_and_can_be_tried_again(app: App, api: Api) -> None:
    id = begun(api, order_input(epic("not-there-yet")))
    app.see_to_consults()

    refused = apply(api, id, 1)

    assert (refused.status, refused.json["code"], refused.json["answer"]["status"]) == (424, "action_refused", 404)
    assert detail(api, id)["applied_idx"] == []
    assert audited(app)[-1] == "consult.apply_refused"
    assert apply(api, id, 1).status == 424  # it is judged anew each time


def test_a_failed_action_is_done_once_what_it_needs_is_there(app: App, api: Api) -> None:
    first = make_epic(api, "Base")
    id = begun(api, order_input(epic("later"), epic(first)))
    app.see_to_consults()
    found = detail(api, id)["validated_lines"]
    place = next(idx for idx, line in enumerate(found) if line.get("epic_id") == "later")
    assert apply(api, id, place).status == 424
    found[place]["epic_id"] = first
    found[place]["suggested_action"]["path"] = f"/api/work-items/{first}"
    rewrite_lines(app, found)

    assert apply(api, id, place).status == 200
    assert order_of(api, first) == found[place]["rank"]


def rewrite_lines(app: App, lines: list[dict[str, Any]]) -> None:
    with app.database.transaction() as tx:
        tx.connection.execute(update(consults.consults).values(lines=json.dumps(lines)))


@pytest.mark.parametrize(
    "action",
    [
        {"verb": "PATCH", "path": "/api/work-items/another", "body": {"user_order": 1}},
        {"verb": "PATCH", "path": "/api/work-items/e1", "body": {"state": "done"}},
        {"verb": "POST", "path": "/api/sessions", "body": {"agent": "shell"}},
    ],
)
def test_an_action_outside_of_the_allow_list_is_refused(app: App, api: Api, action: dict[str, Any]) -> None:
    id = begun(api, order_input(epic("e1")))
    app.see_to_consults()
    lines = detail(api, id)["validated_lines"]
    lines[1]["suggested_action"] = action
    rewrite_lines(app, lines)

    answer = apply(api, id, 1)

    assert (answer.status, answer.json["code"]) == (403, "action_not_allowed")
    assert detail(api, id)["applied_idx"] == []


def test_what_was_done_by_hand_can_be_recorded_without_being_done(app: App, api: Api) -> None:
    first = make_epic(api, "Base")
    id = begun(api, order_input(epic(first)))
    app.see_to_consults()

    done = apply(api, id, 1, "?record_only=true")

    assert (done.status, done.json["outcome"]["executed"], order_of(api, first)) == (200, False, None)
    assert apply(api, id, 1).status == 409


def test_only_lines_that_are_there_and_have_an_action_are_applied(app: App, api: Api) -> None:
    id = begun(api, order_input(epic("e1")))
    assert apply(api, id, 0).json["allowed"] == "none: it has no lines yet"
    app.see_to_consults()
    many = detail(api, id)["line_count"]

    assert (apply(api, id, 0).status, apply(api, id, 0).json["code"]) == (400, "line_not_applicable")
    for place in (many, -1, "x"):
        answer = apply(api, id, place)
        assert (answer.status, answer.json["allowed"]) == (404, f"0 to {many - 1}")
    assert apply(api, wire.new_event_id(), 1).status == 404


def test_a_completed_consult_is_applicable_until_it_is_closed_or_a_week_has_passed(app: App, api: Api) -> None:
    ids = [begun(api, order_input(epic("e1"))) for _ in range(2)]
    app.see_to_consults()

    closed = api.post(f"/api/consults/{ids[0]}/close", {})
    assert (closed["status"], closed["source"], apply(api, ids[0], 1).status) == ("closed", "archived", 404)
    with time_machine.travel(datetime.now(UTC) + timedelta(days=7, minutes=1)):
        assert apply(api, ids[1], 1, "?record_only=true").status == 404
        make_epic(api, "Anything")  # the clock of the log goes on
        app.prune()
    assert detail(api, ids[1])["status"] == "closed"


# ---- the end ---------------------------------------------------------------------------------------------------------


def test_cancelling_stops_the_session_and_gives_the_reservation_back(app: App, api: Api) -> None:
    id = asked_of_an_agent(api, order_input(epic("e1")))

    found = api.post(f"/api/consults/{id}/cancel", {})

    assert (found["status"], found["error"]) == ("cancelled", "cancelled by operator")
    assert not api.get(f"/api/sessions/{id}")["run"]["wanted"]
    assert (reservation(app, id).state, reservation(app, id).settled_micros) == ("settled", 0)
    emit(api, id, *lines_for(order_input(epic("e1"))))
    assert (detail(api, id)["line_count"], apply(api, id, 1).status) == (0, 404)
    assert api.request("POST", f"/api/consults/{id}/cancel", {}).status == 409


def test_one_that_takes_too_long_is_timed_out(app: App, api: Api) -> None:
    id = asked_of_an_agent(api, order_input(epic("e1"), constraints={"max_latency_seconds": 5}))

    with time_machine.travel(datetime.now(UTC) + timedelta(seconds=6)):
        app.see_to_consults()

    found = detail(api, id)
    assert (found["status"], found["error"]) == ("timed_out", "no summary came within 5 seconds")
    assert found["latency_ms"] >= 5_000


def test_the_record_on_disk_is_the_consult_and_follows_what_is_applied(app: App, api: Api) -> None:
    first = make_epic(api, "Base")
    id = begun(api, order_input(epic(first)))
    with app.database.read() as connection:
        path = record_path(app.home, id, consults.get(connection, id).started_at)
    assert not path.exists()
    app.see_to_consults()
    assert json.loads(path.read_text()) == detail(api, id)

    apply(api, id, 1)
    app.records.write()

    record = json.loads(path.read_text())
    assert (record["applied_idx"], record["composed_persisted"], record) == ([1], True, detail(api, id))
    assert path.parent.name == record["started_at"][:10]
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_the_list_is_filtered_and_paged(app: App, api: Api) -> None:
    ids = [begun(api, order_input(epic("e1"))) for _ in range(3)]
    prepared = begun(api, {"question": "Why?"}, skill="ask", spawn=False)

    page = api.get("/api/consults?limit=2")
    assert (page["total"], [row["id"] for row in page["consults"]]) == (4, [prepared, ids[2]])
    following = api.get(f"/api/consults?limit=2&cursor={page['next_cursor']}")
    assert [row["id"] for row in following["consults"]] == [ids[1], ids[0]]
    assert [row["id"] for row in api.get("/api/consults?status=prepared")["consults"]] == [prepared]
    assert api.get("/api/consults?skill_id=epic_order&persona_id=project-manager")["total"] == 3
    assert api.request("GET", "/api/consults?status=lost").status == 422


def test_the_command_line_walks_the_whole_way_without_a_server(workspace: Path, home: Path) -> None:
    def gemba(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([BIN / "gemba", *words], cwd=workspace, capture_output=True, text=True, check=False)

    nothing = gemba("consult", "start")
    assert (nothing.returncode, "there is nothing to put into an order" in nothing.stderr) == (1, True)
    made = json.loads(gemba("item", "add", "Base", "--kind", "epic", "--json").stdout)
    gemba("item", "add", "Beside", "--kind", "epic")
    gemba("item", "add", "Someday", "--kind", "epic", "--state", "backlog")
    board = json.loads(gemba("plan", "order", "--json").stdout.splitlines()[0])
    begun = json.loads(gemba("consult", "start", "--json").stdout)
    shown = json.loads(gemba("consult", "show", begun["id"][-8:], "--json").stdout)

    assert [line["type"] for line in shown["validated_lines"]][:2] == ["strategy", "recommendation"]
    # The board is the same for whoever asks about it: what is in the backlog is nobody's candidate.
    asked = shown["raw_request"]["raw_input"]
    assert [one["title"] for one in asked["candidate_epics"]] == ["Base", "Beside"]
    assert asked["candidate_epics"][0]["derived"]["why"]
    assert board["total_considered"] == 2
    for told in (gemba("consult", "show", begun["id"]).stdout, gemba("plan", "order").stdout):
        assert "Beside" in told
        assert " ".join(told.split()).count("Nothing waits for it.") == 1  # what is the same of both is said once
        assert "The same as of 1." in told
        assert f"Begin with {made['id']} (Base)." in " ".join(told.split())
    assert (
        "line 0 is a strategy, which has no action; lines that have one: 1, 2"
        in gemba("consult", "apply", begun["id"], "0").stderr
    )
    applied = gemba("consult", "apply", begun["id"], "1")
    said = f"applied 1 of {begun['id']}: {made['id']} (Base) is now number 1 of your order\n"
    assert (applied.returncode, applied.stdout) == (0, said)
    again = gemba("consult", "apply", begun["id"], "1")
    assert (again.returncode, again.stderr) == (1, "gemba: line 1 is applied already\n")
    assert json.loads(gemba("item", "show", made["id"], "--json").stdout)["user_order"] == 1
    assert gemba("consult", "start", "--skill", "ask").returncode == 2
    unknown = gemba("consult", "start", "--skill", "epic_ordr")
    assert (unknown.returncode, "there is no skill epic_ordr; did you mean epic_order?" in unknown.stderr) == (2, True)
    prompt = json.loads(gemba("consult", "start", "--dry-run", "--json").stdout)["id"]
    told = gemba("consult", "show", prompt, "--json").stdout
    first = json.loads(told)["composed"]["text"].splitlines()[0]
    assert first in gemba("consult", "start", "--dry-run").stdout


def test_the_figures_of_a_persona_are_those_of_its_consults(app: App, api: Api) -> None:
    def figures(query: str = "") -> dict[str, dict[str, Any]]:
        return {row["persona_id"]: row for row in api.get(f"/api/insights/personas{query}")["personas"]}

    assert list(figures()) == list(app.personas.by_id)
    untouched = figures()[PM]
    assert (untouched["consults"], untouched["last_activity_at"], untouched["dollars"]) == (0, None, 0)

    base = make_epic(api, "Base")
    given = order_input(epic(base))
    first = begun(api, given)
    app.see_to_consults()
    assert apply(api, first, 1).status == 200
    second = asked_of_an_agent(api, given)
    running = figures()[PM]
    assert (running["consults"], running["running"], running["failed"], running["applied"]) == (2, 1, 0, 1)
    api.take("GembaUsage", {"input_tokens": 900, "output_tokens": 100}, second)
    emit(api, second, *lines_for(given))
    api.take("Stop", {}, second)
    refused = begin(api, {"question": "Why?"}, "ask")
    assert refused.status == 502

    ended = figures()[PM]
    assert (ended["consults"], ended["running"], ended["failed"]) == (3, 0, 1)
    assert (ended["tokens_in"], ended["tokens_out"], ended["unpriced"]) == (900, 100, 1)
    assert ended["dollars"] == 0.25  # its client told no cost, so that the whole cap is charged
    assert ended["last_activity_at"] >= detail(api, second)["ended_at"]
    assert (ended["name"], ended["variety"]) == ("PM", "coach")
    assert figures()["architect"]["consults"] == 0


def test_figures_are_of_the_days_that_are_asked_for_and_of_personas_that_are_gone(app: App, api: Api) -> None:
    given = order_input(epic(make_epic(api, "Base")))
    with time_machine.travel(datetime.now(UTC) - timedelta(days=40), tick=True):
        old = begun(api, given)
        app.see_to_consults()
    begun(api, given)
    with app.database.transaction() as tx:
        table = consults.consults
        tx.connection.execute(update(table).where(table.c.id == old).values(persona_id="left"))

    def figures(query: str) -> dict[str, int]:
        return {row["persona_id"]: row["consults"] for row in api.get(query)["personas"] if row["consults"]}

    assert figures("/api/insights/personas") == {PM: 1, "left": 1}
    assert figures("/api/insights/personas?days=30") == {PM: 1}
    gone = api.get("/api/insights/personas")["personas"][-1]
    assert (gone["persona_id"], gone["name"], gone["variety"]) == ("left", None, None)
    assert api.request("GET", "/api/insights/personas?days=0").status == 422
