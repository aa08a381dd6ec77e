"""The last days in figures, from a made-up past: what was begun, asked, waited for and spent, on both databases."""

from typing import Any

import pytest
import time_machine

from gemba.app import App
from tests.fixtures.api import Api
from tests.fixtures.plans import epic, order_input
from tests.fixtures.sprinting import item, turn

PM = "project-manager"
SCRIBE = '[agent.scribe]\ncommand = ["cat"]\n'
NOW = "2030-03-10T18:00:00Z"


@pytest.fixture
def past(api: Api, app: App) -> dict[str, str]:
    """Ten days; the ids of its epics."""
    (app.workspace.folder / "agents.toml").write_text(SCRIBE)
    with time_machine.travel("2030-03-01T12:00:00Z", tick=False) as time:
        search, sync = item(app, "Search", kind="epic"), item(app, "Sync", kind="epic")
        for session, about in (("s-1", search), ("s-2", sync)):
            api.take("GembaState", {"state": "working", "bead_id": about}, session)
        turn(api, 1_000, "s-1", cost_usd=1.0)

        time.move_to("2030-03-08T09:00:00Z")
        blockers = [api.ask(f"Which of {session}?", session, kind="blocker") for session in ("s-1", "s-2", "s-3")]
        for goal in ("one", "two"):
            api.post("/api/dispatches", {"goal": goal})
        for seconds, answered, seen in ((30, None, 0), (60, 0, 1), (120, 1, None), (600, 2, None)):
            time.move_to(f"2030-03-08T09:{seconds // 60:02}:{seconds % 60:02}Z")
            if seen is not None:
                api.post(f"/api/escalations/{blockers[seen]}/ack", {})
            if answered is not None:
                api.post(f"/api/escalations/{blockers[answered]}/respond", {"text": "8080"})

        time.move_to("2030-03-09T23:59:59Z")
        turn(api, 400, "s-1", cost_usd=0.25, output_tokens=100)
        turn(api, 300, "s-2")
        turn(api, 200, "s-3", cost_usd=0.05)
        advice = {"persona_id": PM, "skill_id": "epic_order", "raw_input": order_input(epic(search))}
        consult = api.request("POST", "/api/consults", {**advice, "agent_type": "scribe"})
        assert consult.status == 201, consult
        turn(api, 100, consult.json["id"], cost_usd=0.01)

        time.move_to("2030-03-10T10:00:00Z")
        api.ask("Which colour?", "s-1")
        api.post("/api/dispatches", {"goal": "three"})
        # Told late: by the agent's clock it belongs to a day that has passed.
        turn(api, 7_000, "s-1", ts="2030-03-02T08:00:00Z", cost_usd=2.0)
    return {"search": search, "sync": sync}


def insights(api: Api, days: int) -> dict[str, Any]:
    with time_machine.travel(NOW, tick=False):
        found: dict[str, Any] = api.get(f"/api/insights?days={days}")
    return found


def rows(shares: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [(row["key"], row["title"], row["turns"], row["tokens"], row["cost_usd_micros"]) for row in shares["rows"]]


def test_each_day_has_what_happened_on_it_and_the_total_all_of_it(api: Api, past: dict[str, str]) -> None:
    found = insights(api, 7)
    by_day = {day["day"]: day for day in found["days"]}

    assert list(by_day) == [f"2030-03-{day:02}" for day in range(4, 11)]
    assert by_day["2030-03-08"] == {
        "day": "2030-03-08",
        "tokens": 0,
        "turns": 0,
        "unpriced": 0,
        "cost_usd_micros": None,
        "dispatched": 2,
        "asked": 3,
        "seen": 3,
        "answered": 3,
        "by_default": 0,
        "to_see_p50": 60.0,  # 30, 60, and 600 of the one that was answered unseen
        "to_see_p90": 600.0,
        "to_answer_p50": 120.0,  # 60, 120, 600
        "to_answer_p90": 600.0,
        "blocked_minutes": 13.0,  # 60 + 120 + 600 seconds
    }
    ninth, tenth = by_day["2030-03-09"], by_day["2030-03-10"]
    assert (ninth["tokens"], ninth["turns"], ninth["unpriced"], ninth["cost_usd_micros"]) == (1_100, 4, 1, 310_000)
    assert (ninth["dispatched"], ninth["asked"]) == (1, 0)  # the session that answers for the persona
    assert (tenth["dispatched"], tenth["asked"], tenth["answered"], tenth["to_see_p50"]) == (1, 1, 0, None)
    assert by_day["2030-03-05"] == {**dict.fromkeys(ninth, 0), "day": "2030-03-05", **dict.fromkeys(_UNKNOWN)}
    assert found["total"] == {
        **{name: value for name, value in by_day["2030-03-08"].items() if name != "day"},
        "tokens": 1_100,
        "turns": 4,
        "unpriced": 1,
        "cost_usd_micros": 310_000,
        "dispatched": 4,
        "asked": 4,
    }


_UNKNOWN = ("cost_usd_micros", "to_see_p50", "to_see_p90", "to_answer_p50", "to_answer_p90")


def test_the_cost_is_told_by_epic_and_persona_within_the_days(api: Api, past: dict[str, str]) -> None:
    week, month = insights(api, 7), insights(api, 30)
    search, sync = past["search"], past["sync"]

    assert rows(week["epics"]) == [(search, "Search", 1, 500, 250_000), (sync, "Sync", 1, 300, None)]
    assert (week["epics"]["none"]["tokens"], week["epics"]["none"]["cost_usd_micros"]) == (300, 60_000)
    assert (week["epics"]["more"], week["epics"]["rest"]) == (0, None)
    name = api.get(f"/api/personas/{PM}")["name"]
    assert rows(week["personas"]) == [(PM, name, 1, 100, 10_000)]
    assert (week["personas"]["none"]["tokens"], week["personas"]["none"]["unpriced"]) == (1_000, 1)
    # What was told late counts where it belongs.
    assert rows(month["epics"])[0] == (search, "Search", 3, 8_500, 3_250_000)
    assert (month["total"]["tokens"], month["total"]["cost_usd_micros"]) == (9_100, 3_310_000)
    assert sum(day["tokens"] for day in month["days"]) == 9_100


def test_a_floor_on_which_nothing_happened_is_told_in_zeros(api: Api) -> None:
    found = api.get("/api/insights?days=90")

    assert len(found["days"]) == 90
    assert {**dict.fromkeys(found["total"], 0), **dict.fromkeys(_UNKNOWN)} == found["total"]
    assert found["epics"] == found["personas"] == {"rows": [], "more": 0, "rest": None, "none": None}


@pytest.mark.parametrize(
    ("table", "column", "index"),
    [
        ("usage_turns", "at", "usage_turns_by_age"),
        ("runs", "created_at", "runs_by_age"),
        ("dispatches", "created_at", "dispatches_by_age"),
        ("escalations", "opened_at", "escalations_by_opening"),
    ],
)
def test_what_is_of_the_last_days_is_found_by_an_index(app: App, table: str, column: str, index: str) -> None:
    query = f"select * from {table} where {column} >= 1"
    with app.database.transaction() as tx:
        if app.database.is_sqlite:
            plan = f"explain query plan {query}"
        else:
            tx.connection.exec_driver_sql("set local enable_seqscan = off")
            plan = f"explain {query}"
        told = " ".join(str(part) for row in tx.connection.exec_driver_sql(plan) for part in row)

    assert index in told
