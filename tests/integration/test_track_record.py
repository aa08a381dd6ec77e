"""Past rankings against what happened, perspectives on one thing, and what is told of a consult after its end."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from sqlalchemy import select

from gemba import clock
from gemba.app import App
from gemba.personas.reservations import persona_days, reservations
from tests.fixtures.advisors import persona
from tests.fixtures.api import Api
from tests.fixtures.operator import Operator
from tests.fixtures.plans import epic, order_input

PM = "project-manager"
SCRIBE = '[agent.scribe]\ncommand = ["cat"]\n'


def make(api: Api, title: str, **facts: Any) -> str:
    answer = api.request("POST", "/api/work-items", {"item": {"title": title, "kind": "epic", **facts}})
    assert answer.status == 201, answer
    id: str = answer.json["id"]
    return id


def begun(api: Api, raw: dict[str, Any], skill: str = "epic_order", **more: Any) -> str:
    answer = api.request("POST", "/api/consults", {"persona_id": PM, "skill_id": skill, "raw_input": raw, **more})
    assert answer.status == 201, answer
    id: str = answer.json["id"]
    return id


def move(api: Api, id: str, state: str) -> None:
    assert api.request("PATCH", f"/api/work-items/{id}", {"state": state}).status == 200


def ranked(api: Api, id: str) -> list[str]:
    lines = api.get(f"/api/consults/{id}")["validated_lines"]
    return [line["epic_id"] for line in lines if line["type"] == "recommendation"]


# ---- the record ------------------------------------------------------------------------------------------------------


def test_rankings_are_scored_by_what_was_finished_since_for_each_persona_and_model(app: App, api: Api) -> None:
    ids = [make(api, f"Epic {number}", targets=[f"src/{number}.py"]) for number in range(3)]
    advised = begun(api, order_input(*(epic(id) for id in ids)))
    app.see_to_consults()
    order = ranked(api, advised)
    assert api.get("/api/personas/track-record")["records"][0]["tau"] is None
    (api.workspace / ".gemba" / "agents.toml").write_text(SCRIBE)
    model = begun(api, order_input(*(epic(id) for id in ids)), agent_type="scribe")
    lines = json.loads(json.dumps(api.get(f"/api/consults/{advised}")["validated_lines"]))
    recommended = [line for line in lines if line["type"] == "recommendation"]
    for line, id in zip(recommended, reversed(order), strict=True):
        line |= {"epic_id": id, "suggested_action": {**line["suggested_action"], "path": f"/api/work-items/{id}"}}
    lines[0]["model"] = "a-model"
    api.take("GembaSkillOutput", {"skill_id": "epic_order", "lines": lines}, model)
    api.take("Stop", {}, model)
    assert ranked(api, model) == order[::-1]
    assert api.request("POST", f"/api/consults/{advised}/apply/1", {}).status == 200

    for hours, id in enumerate(order[:2], 1):
        with time_machine.travel(datetime.now(UTC) + timedelta(hours=hours), tick=True):
            move(api, id, "done")
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=3), tick=True):
        found = api.get("/api/personas/track-record")

    assert [(one["model"], one["agreement"], one["tau"], one["applied"]) for one in found["records"]] == [
        ("gemba-advisor", 1.0, 1.0, 1),
        ("a-model", 0.0, -1.0, 0),
    ]
    assert [(one["pairs"], one["inversions"], one["finished"]) for one in found["rankings"]] == [(3, 3, 2), (3, 0, 2)]
    assert found["more"] is False
    assert len(api.get("/api/personas/track-record?limit=1")["rankings"]) == 1
    assert api.get(f"/api/personas/track-record?persona_id={PM}") == found
    assert api.request("GET", "/api/personas/track-record?persona_id=nobody").status == 404
    with time_machine.travel(datetime.now(UTC) + timedelta(days=2), tick=True):
        of_days = [len(api.get(f"/api/personas/track-record?days={days}")["rankings"]) for days in (2, 3, 366)]
    assert of_days == [0, 2, 2]


def test_waits_and_conflicts_of_what_ran_at_once_are_counted(app: App, api: Api) -> None:
    base, roof = make(api, "Base", targets=["src/base.py"]), make(api, "Roof", targets=["src/roof.py"])
    other = make(api, "Other", targets=["src/other.py"])
    begun(api, order_input(epic(base), epic(other), epic(roof, depends_on_epics=[base])))
    app.see_to_consults()
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=1), tick=True):
        move(api, base, "in_progress")
        move(api, other, "in_progress")
        # What they touched in the end is known by then.
        api.request("PATCH", f"/api/work-items/{other}", {"targets": ["src/**"]})
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=4), tick=True):
        move(api, base, "done")
        (found,) = api.get("/api/personas/track-record")["rankings"]

    assert round(found["blocked_hours"]) == 4
    assert (found["parallel_pairs"], found["conflicts"]) == (1, 1)


def test_the_command_shows_the_record(app: App, api: Api) -> None:
    operator = Operator(app.workspace.root, app.home)
    assert operator.ok("persona", "record") == "No epics were ranked yet. Ask with: gemba consult start\n"
    begun(api, order_input(epic(make(api, "One"))))
    app.see_to_consults()

    shown = operator.ok("persona", "record")

    assert "project-manager  gemba-advisor  1" in shown


# ---- perspectives ----------------------------------------------------------------------------------------------------


def test_a_perspective_is_told_what_it_is_about_and_stands_with_the_item(app: App, api: Api) -> None:
    (api.workspace / ".gemba" / "agents.toml").write_text(SCRIBE)
    item = make(api, "Sign in", description="With a key of one's own.", kind="task")
    move(api, item, "in_progress")
    body = {"persona_id": "security", "skill_id": "perspective", "raw_input": {"ref": item}, "agent_type": "scribe"}

    id = api.request("POST", "/api/consults", body).json["id"]

    assert "With a key of one's own." in api.get(f"/api/consults/{id}")["composed"]["text"]
    lines = [
        {"type": "strategy", "reasoning": "Who gets in."},
        {"type": "finding", "text": "<b>Keys</b> are never rotated.", "refs": [item]},
        {"type": "summary", "notes": "Say how a key is taken back."},
    ]
    api.take("GembaSkillOutput", {"skill_id": "perspective", "lines": lines}, id)
    api.take("Stop", {}, id)
    found = api.get(f"/api/work-items/{item}/perspectives")
    assert found == api.get(f"/api/perspectives?ref={item}")
    (one,) = found["perspectives"]
    assert (one["persona_id"], one["status"], one["ground"], one["summary"]) == (
        "security",
        "completed",
        "Who gets in.",
        "Say how a key is taken back.",
    )
    assert one["findings"] == [{"text": "<b>Keys</b> are never rotated.", "refs": [item]}]
    move(api, item, "review")  # nothing waits for it
    assert api.request("GET", "/api/work-items/nothing/perspectives").status == 404


def test_a_perspective_on_an_escalation_is_told_its_words(api: Api) -> None:
    (api.workspace / ".gemba" / "agents.toml").write_text(SCRIBE)
    asked = api.ask("May the port be public?")

    id = begun(api, {"ref": asked}, "perspective", agent_type="scribe")

    assert "May the port be public?" in api.get(f"/api/consults/{id}")["composed"]["text"]
    assert api.get(f"/api/perspectives?ref={asked}")["total"] == 1


def test_a_persona_that_does_not_list_the_skill_gives_none(app: App, api: Api) -> None:
    app.personas.by_id["own"] = persona()
    body = {"persona_id": "own", "skill_id": "perspective", "raw_input": {"ref": make(api, "One")}}

    answer = api.request("POST", "/api/consults", body)

    assert (answer.status, answer.json["code"]) == (403, "skill_not_listed")


def test_the_command_asks_for_a_comment_and_shows_it(app: App, api: Api) -> None:
    (api.workspace / ".gemba" / "agents.toml").write_text(SCRIBE)
    operator = Operator(app.workspace.root, app.home)
    item = make(api, "Sign in")

    asked = operator.ok("persona", "comment", "security", item[-4:], "--agent", "scribe")

    assert asked.endswith(f"gemba persona comment security {item} --show\n")
    assert "1 in all." in operator.ok("persona", "comment", "security", item, "--show")
    refused = operator.refused("persona", "comment", "security", "nothing-of-that-name")
    assert "no work item, escalation or handoff has the id" in refused


# ---- what is told after the end --------------------------------------------------------------------------------------


@pytest.mark.parametrize("cost", [120_000, None])
def test_what_a_client_tells_after_the_end_is_settled_once(app: App, api: Api, cost: int | None) -> None:
    (api.workspace / ".gemba" / "agents.toml").write_text(SCRIBE)
    one = make(api, "One")
    begun(api, order_input(epic(one)))
    app.see_to_consults()
    id = begun(api, order_input(epic(one)), agent_type="scribe")
    api.request("POST", f"/api/consults/{id}/cancel", {})
    assert charged(app, id) == (0, 0)
    usage = {"input_tokens": 900, "output_tokens": 100, **({} if cost is None else {"cost_usd": cost / 1_000_000})}

    api.take("GembaUsage", usage, id)
    app.ingest.drain()

    found = api.get(f"/api/consults/{id}")
    assert (found["status"], found["tokens"]["total"]) == ("cancelled", 1_000)
    assert found["dollars"] == (None if cost is None else 0.12)
    due = 250_000 if cost is None else cost  # what nobody knows is charged as the call's cap
    assert charged(app, id) == (due, due)
    app.see_to_consults()
    day = clock.rfc3339(clock.now())[:10]
    record = json.loads((Path(app.home) / "persona" / "consults" / day / f"{id}.json").read_text())
    assert record["tokens"]["total"] == 1_000


def charged(app: App, id: str) -> tuple[int, int]:
    """What the consult, and the persona's day, are charged."""
    with app.database.read() as connection:
        row = connection.execute(select(reservations).where(reservations.c.id == id)).one()
        day = connection.execute(select(persona_days.c.settled_micros)).scalar_one()
    return row.settled_micros, day
