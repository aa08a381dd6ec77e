"""Perspectives that are asked for: who comments on a thing, who does not and why, and what is said without a model."""

from typing import Any

import pytest
from sqlalchemy import func, select

from gemba.app import App
from gemba.errors import NotFound
from gemba.personas.asking import ask_perspectives
from gemba.personas.consults import consults
from gemba.personas.persona import Perspective
from gemba.store import events
from gemba.store.database import Transaction
from gemba.work.item import Kind, State
from tests.fixtures.advisors import changed
from tests.fixtures.api import Api
from tests.fixtures.sprinting import change, item, running, turn
from tests.fixtures.team_floor import task

SHIPPED = ["project-manager", "architect", "security", "qa", "deployment-engineer", "documentarian"]


def ask(api: Api, ref: str) -> dict[str, Any]:
    answer = api.request("POST", "/api/perspectives", {"ref": ref})
    assert answer.status == 200, answer
    found: dict[str, Any] = answer.json
    return found


def lines_of(api: Api, ref: str) -> dict[str, dict[str, Any]]:
    """What each persona said of a thing, by its id."""
    return {one["persona_id"]: one for one in api.get(f"/api/perspectives?ref={ref}")["perspectives"]}


def mode(app: App, id: str, mode: Any, *triggers: str) -> None:
    app.personas.by_id[id] = changed(id, perspective=Perspective("what matters", triggers, mode))


def test_each_persona_comments_once_and_without_a_model_from_what_is_stored(app: App, api: Api) -> None:
    id = item(app, "Sign in", labels=["auth"])

    asked = ask(api, id)
    app.see_to_consults()

    assert asked["ref"] == id
    assert [one["persona_id"] for one in asked["consults"]] == SHIPPED
    assert {one["status"] for one in asked["consults"]} == {"running"}
    reason = "it does not list the skill perspective; it lists: team_plan"
    assert asked["skipped"] == [{"persona_id": "coordinator", "reason": reason}]
    said = lines_of(api, id)
    assert said.keys() == set(SHIPPED)
    assert {(one["status"], one["model"], one["error"]) for one in said.values()} == {
        ("completed", "gemba-advisor", None)
    }
    assert said["security"]["summary"] == f"Security: {id} is of auth, which I answer for (blocking)."
    assert (
        said["qa"]["summary"] == "QA: by rule, nothing that is stored of this touches "
        "its purview (testing) or its triggers. Nobody with a model looked at it."
    )
    assert all(finding["refs"] for one in said.values() for finding in one["findings"])
    for one in asked["consults"]:
        found = api.get(f"/api/consults/{one['id']}")
        assert (found["line_errors"], found["order_errors"]) == ([], [])


def test_a_persona_that_never_volunteers_is_left_alone_and_named(app: App, api: Api) -> None:
    mode(app, "security", "never")

    asked = ask(api, item(app))

    assert "security" not in [one["persona_id"] for one in asked["consults"]]
    assert {"persona_id": "security", "reason": "its volunteer_mode is never"} in asked["skipped"]


def test_on_trigger_personas_comment_when_one_fires_and_link_to_what_fired(app: App, api: Api) -> None:
    sprint = running(app, 1_000)
    epic = item(app, "Shop", kind=Kind.EPIC, targets=["src/shop/**"])
    part = item(app, "Basket", parent=epic, targets=["src/shop/basket.py"])
    other = item(app, "Prices", targets=["src/shop/*.py"])
    mode(app, "qa", "on_trigger", "epic_state_changed")
    mode(app, "security", "on_trigger", "sprint_overrun")
    mode(app, "architect", "on_trigger", "parallel_conflict")
    mode(app, "documentarian", "on_trigger", "ready_set_empty")
    mode(app, "deployment-engineer", "on_trigger")

    before = ask(api, part)
    assert [one["persona_id"] for one in before["consults"]] == ["project-manager"]
    told = {one["persona_id"]: one["reason"] for one in before["skipped"]}
    assert told["qa"] == "its volunteer_mode is on_trigger, and none of its triggers fires now: epic_state_changed"
    assert told["deployment-engineer"].endswith("none of its triggers fires now: it has none")

    change(app, epic, state=State.IN_PROGRESS)
    change(app, other, state=State.IN_PROGRESS)
    change(app, part, state=State.IN_PROGRESS)
    turn(api, 900)
    after = ask(api, part)
    app.see_to_consults()

    assert [one["persona_id"] for one in after["skipped"]] == ["deployment-engineer", "coordinator"]
    said = lines_of(api, part)
    refs = {id: said[id]["findings"][0]["refs"] for id in ("qa", "security", "architect", "documentarian")}
    (card,) = [one["id"] for one in api.get("/api/escalations")["escalations"] if one["kind"] == "budget_warn"]
    assert refs["qa"] == [epic]
    assert refs["security"] == [sprint, card]
    assert refs["architect"] == [part, other]
    assert {epic, part, other} <= set(refs["documentarian"])
    (qa,) = [one["id"] for one in after["consults"] if one["persona_id"] == "qa"]
    prompt = api.get(f"/api/consults/{qa}")["composed"]["text"]
    assert f"epic_state_changed: the epic {epic} (Shop) went from unstarted to in_progress" in prompt


def test_an_escalation_a_session_and_what_is_nothing(app: App, api: Api) -> None:
    id = item(app, "Sign in", labels=["auth"])
    asked = api.ask("May the port be public?", bead_id=id)

    ask(api, asked)
    ask(api, "session-1")
    refused = api.request("POST", "/api/perspectives", {"ref": "nothing"})
    app.see_to_consults()

    security = lines_of(api, asked)["security"]
    assert security["summary"] == f"Security: {id} is of auth, which I answer for (blocking)."
    assert any("May the port be public?" in finding["text"] for finding in security["findings"])
    assert lines_of(api, "session-1")["qa"]["status"] == "completed"
    assert (refused.status, refused.json["pointer"]) == (404, "/ref")
    assert "no work item, escalation, handoff, session or task of a team has the id nothing" in refused.json["detail"]
    assert api.request("POST", "/api/perspectives", {"ref": id, "colour": 1}).status == 422
    assert api.request("POST", "/api/perspectives", {}).status == 422


def test_one_whose_day_is_spent_is_named_and_the_others_are_asked(app: App, api: Api) -> None:
    policy = app.personas.by_id["qa"].budget_policy
    app.personas.by_id["qa"] = changed("qa", budget_policy=type(policy)(0.5, 0.1))

    asked = ask(api, item(app))

    skipped = {one["persona_id"]: one["reason"] for one in asked["skipped"]}
    assert "0.10" in skipped["qa"]
    assert len(asked["consults"]) == len(SHIPPED) - 1


def test_what_is_asked_in_a_larger_transaction_stands_or_falls_with_it(app: App) -> None:
    id = item(app)

    def ask_twice(tx: Transaction) -> None:
        assert len(ask_perspectives(tx, id).consults) == len(SHIPPED)
        ask_perspectives(tx, "nothing")

    with pytest.raises(NotFound):
        app.database.change(ask_twice)

    with app.database.read() as connection:
        assert connection.execute(select(func.count()).select_from(consults)).scalar_one() == 0
        assert not [one for one in events.read_after(connection, 0, 1_000) if one.name.startswith("consult.")]


def test_a_model_that_fails_leaves_its_comment_to_the_built_in_advisor(app: App, api: Api) -> None:
    (api.workspace / ".gemba" / "agents.toml").write_text('[agent.scribe]\ncommand = ["cat"]\n')
    id = item(app)
    body = {"persona_id": "qa", "skill_id": "perspective", "raw_input": {"ref": id}, "agent_type": "scribe"}
    consult = api.request("POST", "/api/consults", body).json["id"]

    api.take("SessionEnd", {"reason": "exit"}, consult)
    app.see_to_consults()

    found = api.get(f"/api/consults/{consult}")
    assert (found["status"], found["model"]) == ("completed", "gemba-advisor")
    assert "the built-in advisor answered instead" in found["error"]
    assert found["validated_lines"][1]["refs"] == [id]


# ---- in a walk -------------------------------------------------------------------------------------------------------


def test_in_a_walk_the_comments_carry_its_id_and_the_transcript_says_who_was_asked(app: App, api: Api) -> None:
    api.ask("May the port be public?")
    walk = api.request("POST", "/api/walks", {}).json

    answer = api.request("POST", f"/api/walks/{walk['id']}/perspectives", {})
    app.see_to_consults()

    asked = answer.json
    assert (answer.status, asked["ref"]) == (200, walk["agenda"][0]["source"]["ref"])
    assert [one["persona_id"] for one in asked["consults"]] == SHIPPED
    found = api.get(f"/api/walks/{walk['id']}")
    assert {one["id"] for one in found["consults"]} == {one["id"] for one in asked["consults"]}
    assert {one["status"] for one in found["consults"]} == {"completed"}
    assert api.get(f"/api/consults/{asked['consults'][0]['id']}")["walk_id"] == walk["id"]
    assert found["transcript"][-1]["text"] == f"Any perspectives? Asked: {', '.join(SHIPPED)}"
    with app.database.read() as connection:
        told = [one for one in events.read_after(connection, 0, 1_000) if one.name == "walk.consulted"]
    assert len(told) == len(SHIPPED)


def test_of_a_teams_task_personas_comment_on_a_walk_and_outside(app: App, api: Api) -> None:
    epic = item(app, "Sign in", kind="epic", labels=["auth"])
    plan = {"roles": [{"name": "developer", "prefix": "IMPL"}], "tasks": [task("IMPL-001", goal="Let people sign in")]}
    body = {"plan": plan, "epic_id": epic, "agent": "builtin"}
    run = api.request("POST", "/api/teams", {"text": "Let people sign in", **body})
    assert run.status == 201, run
    ref = f"{run.json['id']}/IMPL-001"
    walk = api.request("POST", "/api/walks", {}).json
    on_agenda = api.request("POST", f"/api/walks/{walk['id']}/agenda", {"ref": ref}).json["agenda"][-1]

    answer = api.request("POST", f"/api/walks/{walk['id']}/perspectives", {"item": on_agenda["id"]})
    app.see_to_consults()

    assert (answer.status, answer.json["ref"]) == (200, ref)
    assert [one["persona_id"] for one in answer.json["consults"]] == SHIPPED
    said = lines_of(api, ref)
    assert any("Let people sign in" in finding["text"] for finding in said["project-manager"]["findings"])
    assert said["security"]["summary"].startswith(f"Security: {epic} is of auth, which I answer for (blocking)")
    assert api.request("POST", "/api/perspectives", {"ref": ref}).status == 200


def test_of_a_topic_nobody_comments_and_of_nothing_neither(api: Api) -> None:
    walk = api.request("POST", "/api/walks", {}).json
    empty = api.request("POST", f"/api/walks/{walk['id']}/perspectives", {})
    api.request("POST", f"/api/walks/{walk['id']}/agenda", {"topic": "who is on call"})

    topic = api.request("POST", f"/api/walks/{walk['id']}/perspectives", {})

    assert (empty.status, empty.json["code"]) == (409, "nothing_on_the_table")
    assert (topic.status, topic.json["code"]) == (409, "nothing_to_see")


def test_a_walks_summary_is_told_without_a_model(app: App, api: Api) -> None:
    asked = api.ask("Which port?")
    walk = api.request("POST", "/api/walks", {"label": "Monday"}).json
    item_id = walk["active_item"]
    body = {"kind": "reject", "rationale": "ask Ann"}
    assert api.request("POST", f"/api/walks/{walk['id']}/decide/{item_id}", body).status == 200

    given = {"persona_id": "documentarian", "skill_id": "walk_summary", "raw_input": {"walk_id": walk["id"]}}
    consult = api.request("POST", "/api/consults", given).json["id"]
    given["raw_input"] = {"walk_id": "nothing"}
    of_nothing = api.request("POST", "/api/consults", given).json["id"]
    app.see_to_consults()

    found = api.get(f"/api/consults/{consult}")
    assert (found["status"], found["model"], found["line_errors"]) == ("completed", "gemba-advisor", [])
    finding = found["validated_lines"][1]
    assert "rejected" in finding["text"]
    assert finding["text"].endswith("Because: ask Ann")
    assert finding["refs"] == [asked]
    assert api.get(f"/api/consults/{of_nothing}")["status"] == "failed"
