"""Sprints over the API: planned, changed, started, closed; each change once, with its history, audit and event."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from gemba import wire
from gemba.app import App
from gemba.store import events
from gemba.work.item import Kind, State
from tests.fixtures.api import Api
from tests.fixtures.servers import Answer
from tests.fixtures.sprinting import cards, change, item, planned, running, shown, turn


def create(api: Api, **body: Any) -> Answer:
    return api.request("POST", "/api/sprints", {"title": "First", "token_budget": 1_000, **body})


def patch(api: Api, id: str, **body: Any) -> Answer:
    return api.request("PATCH", f"/api/sprints/{id}", body)


def names(api: Api, prefix: str = "sprint.") -> list[str]:
    with api.app.database.read() as connection:
        return [event.name for event in events.read_after(connection, 0, 10_000) if event.name.startswith(prefix)]


def test_a_sprint_goes_from_plan_to_close_with_all_that_tells_of_it(api: Api, app: App) -> None:
    first, second = item(app, "Index"), item(app, "Query")

    made = create(api, item_ids=[first, first], goal="Search that finds", ends_at="2199-01-01T00:00:00Z")
    assert made.status == 201
    id = made.json["id"]
    assert (id, made.json["state"], made.json["item_count"], made.json["held"]) == ("sprint-1", "planned", 1, False)
    assert made.json["burn_thresholds"] == {"inform": 0.5, "warn": 0.8, "stop": 1.0}
    api.post(f"/api/sprints/{id}/items", {"item_ids": [second, first]})
    changed = patch(api, id, token_budget=2_000, version=2).json
    assert (changed["token_budget"], changed["version"], changed["item_count"]) == (2_000, 3, 2)
    started = api.post(f"/api/sprints/{id}/start", {})
    assert (started["state"], started["started_at"] is not None) == ("running", True)
    api.post(f"/api/sprints/{id}/items/remove", {"item_ids": [first, "not-there"]})
    closed = api.post(f"/api/sprints/{id}/close", {"reason": "enough"})

    assert (closed["state"], closed["close_reason"], [each["id"] for each in closed["items"]]) == (
        "closed",
        "enough",
        [second],
    )
    history = api.get(f"/api/sprints/{id}/history")
    assert [each["kind"] for each in history["changes"]] == [
        *("closed", "removed", "started", "changed", "added", "created"),
    ]
    assert history["changes"][3]["before"] == {"token_budget": 1_000}
    assert {each["actor"] for each in history["changes"]} == {"operator"}
    told = ["sprint.created", "sprint.changed", "sprint.changed", "sprint.started", "sprint.changed", "sprint.closed"]
    assert names(api) == told
    assert [entry["kind"] for entry in api.get("/api/audit")["entries"]].count("sprint.started") == 1
    assert api.get("/api/sprints")["sprints"][0]["id"] == id
    assert api.get("/api/sprints?state=planned,running")["total"] == 0


def test_one_runs_at_a_time_also_when_many_are_started_at_once(api: Api, app: App) -> None:
    ids = [planned(app) for _ in range(8)]

    with ThreadPoolExecutor(8) as crowd:
        answers = list(crowd.map(lambda id: api.request("POST", f"/api/sprints/{id}/start", {}), ids))

    assert sorted(answer.status for answer in answers) == [200] + [409] * 7
    refused = next(answer.json for answer in answers if answer.status == 409)
    assert (refused["code"], "allowed: one at a time" in refused["detail"]) == ("sprint_running", True)
    assert api.get("/api/sprints?state=running")["total"] == 1


def test_a_confirm_id_starts_one_once(api: Api, app: App) -> None:
    confirm = wire.new_event_id()
    body = {"title": "Once", "token_budget": 5}

    first, again = (api.request("POST", "/api/sprints", body, X_GEMBA_Confirm=confirm) for _ in range(2))

    assert (first.status, again.status, first.json == again.json) == (201, 201, True)
    assert api.get("/api/sprints")["total"] == 1
    assert api.request("POST", "/api/sprints", {**body, "token_budget": 6}, X_GEMBA_Confirm=confirm).status == 422
    assert api.request("POST", "/api/sprints", body, X_GEMBA_Confirm="").status == 428


@pytest.mark.parametrize(
    ("body", "status", "pointer"),
    [
        ({"token_budget": 0}, 422, "/token_budget"),
        ({"token_budget": -1}, 422, "/token_budget"),
        ({"token_budget": 2**60}, 422, "/token_budget"),
        ({"token_budget": "many"}, 422, "/token_budget"),
        ({"title": ""}, 422, "/title"),
        ({"title": "x" * 100_000}, 422, "/title"),
        ({"goal": "x" * 500_000}, 422, "/goal"),
        ({"burn_thresholds": {"inform": 0.9, "warn": 0.5, "stop": 1}}, 422, "/burn_thresholds/warn"),
        ({"burn_thresholds": {"inform": 0, "warn": 0.5, "stop": 1}}, 422, "/burn_thresholds/inform"),
        ({"burn_thresholds": {"inform": 0.1, "late": 0.5}}, 422, "/burn_thresholds"),
        ({"ends_at": "tomorrow"}, 422, "/ends_at"),
        ({"ends_at": "2001-01-01T00:00:00Z"}, 422, "/ends_at"),
        ({"item_ids": ["no-such-item"]}, 422, "/item_ids/0"),
        ({"item_ids": [f"x-{n}" for n in range(1_001)]}, 422, "/item_ids"),
        ({"colour": "red"}, 422, None),
    ],
)
def test_what_is_no_sprint_is_refused_and_nothing_changes(
    api: Api, body: dict[str, Any], status: int, pointer: str | None
) -> None:
    answer = create(api, **body)

    assert answer.status == status, answer
    if pointer is not None:
        assert answer.json["pointer"].startswith(pointer), answer.json
    assert api.get("/api/sprints")["total"] == 0
    assert names(api) == []


def test_what_is_closed_changes_no_more(api: Api, app: App) -> None:
    id = planned(app)
    api.post(f"/api/sprints/{id}/close", {})

    for verb, body in (("start", {}), ("close", {}), ("items", {"item_ids": [item(app)]})):
        assert api.request("POST", f"/api/sprints/{id}/{verb}", body).status == 409, verb
    assert patch(api, id, token_budget=5).json["code"] == "sprint_closed"
    assert api.request("GET", "/api/sprints/none").status == 404
    assert patch(api, "none", title="x").status == 404


def test_of_two_who_change_one_the_second_sees_a_conflict(api: Api, app: App) -> None:
    id = planned(app)

    assert patch(api, id, title="Mine", version=1).status == 200
    second = patch(api, id, title="Theirs", version=1)

    assert (second.status, second.json["code"], second.json["found"]) == (409, "version_conflict", 2)
    assert shown(app, id).title == "Mine"


def test_an_item_with_parts_is_as_far_as_its_parts_are(api: Api, app: App) -> None:
    epic = item(app, "Search", kind=Kind.EPIC)
    inner = item(app, "Index", parent=epic)
    done, left = item(app, "Write", parent=inner), item(app, "Read", parent=inner)
    alone = item(app, "Mail")
    id = running(app, 1_000, epic, left, alone)
    api.take("GembaState", {"state": "working", "bead_id": done}, "s-1")
    turn(api, 40)
    change(app, done, state=State.DONE)
    change(app, alone, state=State.DONE)

    found = api.get(f"/api/sprints/{id}")

    rows = {each["id"]: (each["parts"], each["parts_finished"], each["tokens"]) for each in found["items"]}
    assert rows == {epic: (2, 1, 40), left: (1, 0, 0), alone: (1, 1, 0)}
    assert (found["item_count"], found["finished_count"]) == (3, 1)
    (day,) = found["burn_down"]["days"]
    assert (day["items"], day["items_left"], day["tokens"], day["tokens_left"]) == (3, 1, 40, 960)


def test_a_budget_that_is_lowered_below_its_use_stops_at_once(api: Api, app: App) -> None:
    id = running(app, 1_000)
    turn(api, 400)

    lowered = patch(api, id, token_budget=400).json

    assert (lowered["level"], lowered["held"]) == ("stop", True)
    assert cards(api) == [("budget_warn", "advisory", "open"), ("budget_stop", "blocking", "open")]
    assert patch(api, id, token_budget=10_000).json["level"] == "none"
    assert {state for _, _, state in cards(api)} == {"withdrawn"}


def test_planning_is_told_of_the_sprint_that_runs(api: Api, app: App) -> None:
    epic = item(app, "Search", kind=Kind.EPIC)
    assert api.get("/api/skills/epic_order/input")["sprint_context"] is None
    id = running(app, 1_000, epic)
    turn(api, 300)

    context = api.get("/api/skills/epic_order/input")["sprint_context"]

    assert (context["sprint_id"], context["token_budget"], context["tokens_used"]) == (id, 1_000, 300)
    assert context["burn_thresholds"] == {"inform": 0.5, "warn": 0.8, "stop": 1.0}
    for skill, sprint, status in (("what_remains", id, 201), ("sprint_retro", id, 201), ("sprint_retro", "none", 400)):
        body = {"persona_id": "project-manager", "skill_id": skill, "spawn": False, "raw_input": {"sprint_id": sprint}}
        answer = api.request("POST", "/api/consults", body)
        assert answer.status == status, answer
        if status == 201:
            composed = api.get(f"/api/consults/{answer.json['id']}")["composed"]["text"]
            assert epic in composed
            assert '"tokens_used": 300' in composed
        else:
            assert answer.json["pointer"] == "/raw_input/sprint_id"
