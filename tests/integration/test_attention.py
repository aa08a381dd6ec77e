"""What attention costs, from real asks and answers: over HTTP on both databases, and at the operator's terminal."""

import json
import re
from typing import Any

import pytest
import time_machine

from gemba.app import App
from gemba.config import AttentionSettings, Settings, Workspace
from gemba.escalations.store import escalations
from tests.fixtures.api import Api, served
from tests.fixtures.operator import Operator

NOON = "2030-01-02T12:00:00Z"


def attention(api: Api, query: str = "") -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"/api/attention{query}")
    return found


def test_the_way_from_ask_to_answer_is_measured(api: Api) -> None:
    with time_machine.travel(NOON, tick=False) as time:
        blocker = api.ask("Which port?", kind="blocker")
        question = api.ask("Which colour?", "session-2")
        time.shift(30)
        api.post(f"/api/escalations/{blocker}/ack", {})
        time.shift(90)
        api.post(f"/api/escalations/{blocker}/respond", {"text": "8080"})
        api.post(f"/api/escalations/{question}/dismiss", {"text": "not now"})
        found = attention(api)

    assert (found["from"], found["to"]) == ("2029-12-27T00:00:00.000000Z", "2030-01-02T12:02:00.000000Z")
    first, second = found["rows"]
    assert first == {
        "day": "2030-01-02",
        "agent_type": "test",
        "kind": "blocker",
        "asked": 1,
        "seen": 1,
        "answered": 1,
        "by_default": 0,
        "expired": 0,
        "declined": 0,
        "to_see_p50": 30.0,
        "to_see_p90": 30.0,
        "to_answer_p50": 120.0,
        "to_answer_p90": 120.0,
        "blocked_minutes": 2.0,
        "cost": None,
    }
    assert (second["kind"], second["declined"], second["blocked_minutes"]) == ("question", 1, 0.0)
    assert (found["total"]["asked"], found["total"]["blocked_minutes"]) == (2, 2.0)


def test_filters_and_days_say_which_asks_count(api: Api) -> None:
    with time_machine.travel(NOON, tick=False) as time:
        for days_ago in (8, 7, 6, 0):
            time.move_to(f"2030-01-{10 - days_ago:02}T23:59:59Z")
            api.ask(f"{days_ago} days ago", kind="blocker" if days_ago else "question")
        api.take("GembaAsk", {"kind": "question", "role": "coach", "mode": "balanced", "text": "?"}, agent_type="other")

        asked = {
            query: attention(api, query)["total"]["asked"]
            for query in ("", "?days=1", "?days=8", "?days=366", "?kind=blocker", "?agent_type=other", "?agent_type=no")
        }

    assert asked == {
        "": 3,
        "?days=1": 2,
        "?days=8": 4,
        "?days=366": 5,
        "?kind=blocker": 1,
        "?agent_type=other": 1,
        "?agent_type=no": 0,
    }


def test_agents_hours_go_from_their_first_frame_to_their_last(api: Api) -> None:
    with time_machine.travel(NOON, tick=False) as time:
        api.ask(session="session-1")
        assert attention(api)["total"]["questions_per_agent_hour"] is None
        time.shift(1800)
        api.ask(session="session-1")
        total = attention(api)["total"]

    assert (total["agent_hours"], total["questions_per_agent_hour"]) == (0.5, 4.0)


def test_a_price_makes_a_cost(workspace: Any, home: Any, database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMBA_DATABASE_URL", database_url)
    settings = Settings(attention=AttentionSettings(cost_per_agent_minute=0.25, currency="CHF"))
    app = App.open(Workspace(workspace), settings, home)
    try:
        with served(app) as api, time_machine.travel(NOON, tick=False) as time:
            id = api.ask(kind="blocker")
            time.shift(600)
            api.post(f"/api/escalations/{id}/respond", {"text": "8080"})
            found = attention(api)
    finally:
        app.close()

    assert (found["currency"], found["total"]["cost"]) == ("CHF", 2.5)


@pytest.mark.parametrize("jump", [-86_400, 86_400])
def test_a_clock_that_jumps_by_a_day_makes_no_figure_negative(api: Api, jump: int) -> None:
    with time_machine.travel(NOON, tick=False) as time:
        id = api.ask(kind="blocker")
        time.shift(jump)
        api.post(f"/api/escalations/{id}/respond", {"text": "8080"})
        total = attention(api)["total"]

    waited = max(0, jump)
    assert (total["asked"], total["to_answer_p50"], total["blocked_minutes"]) == (1, waited, waited / 60)
    assert all(value >= 0 for value in total.values() if value is not None)


@pytest.mark.parametrize("query", ["?days=0", "?days=367", "?days=x", "?kind=nonsense", "?day=1"])
def test_a_query_that_does_not_fit_is_refused(api: Api, query: str) -> None:
    assert api.request("GET", f"/api/attention{query}").status == 422


def test_the_asks_of_the_last_days_are_found_by_an_index(app: App) -> None:
    with app.database.transaction() as tx:
        if app.database.is_sqlite:
            plan = "explain query plan select id from escalations where opened_at >= 1"
        else:
            tx.connection.exec_driver_sql("set local enable_seqscan = off")
            plan = "explain select id from escalations where opened_at >= 1"
        told = " ".join(str(column) for row in tx.connection.exec_driver_sql(plan) for column in row)

    assert "escalations_by_opening" in told
    assert "escalations_by_opening" in {index.name for index in escalations.indexes}


# ---- gemba attention --------------------------------------------------------------------------------------------


def test_the_command_says_the_totals_and_shows_a_table(operator: Operator) -> None:
    for number in range(3):
        id = operator.ask(kind="blocker", text=f"Which of {number}?", session=f"worker-{number}")
        operator.ok("answer", id, "this one")
    operator.ask()

    shown = operator.ok("attention")

    assert shown.startswith("4 asked in the last 7 days: 3 answered.")
    assert re.search(r"^Seen after \d+s in half of the cases, after \d+s in 9 of 10\.$", shown, re.MULTILINE)
    header, *rows = shown.partition("\n\n")[2].splitlines()
    assert " ".join(header.split()) == "day agent kind asked answered default to see to answer blocked"
    assert [row.split()[1:5] for row in rows] == [["test", "blocker", "3", "3"], ["test", "question", "1", "0"]]
    assert json.loads(operator.ok("attention", "--json"))["total"]["answered"] == 3
    assert "1 asked today" in operator.ok("attention", "--days", "1", "--kind", "question")


def test_nothing_asked_is_said_in_one_line(alone: Operator) -> None:
    assert alone.ok("attention", "--agent-type", "nobody") == "Nothing was asked in the last 7 days.\n"


def test_the_command_refuses_what_it_does_not_know(alone: Operator) -> None:
    assert "1<=x<=366" in alone.refused("attention", "--days", "0", code=2)
    assert "'nonsense' is not one of 'question', 'blocker'" in alone.refused("attention", "--kind", "nonsense", code=2)


def test_a_hostile_agent_type_cannot_drive_the_terminal_and_a_narrow_one_gets_narrow_lines(alone: Operator) -> None:
    alone.append(
        "GembaAsk",
        {"kind": "question", "role": "coach", "mode": "balanced", "text": "?"},
        agent_type="\x1b[2J日本語" * 9,
    )

    shown = alone.ok("attention")
    assert "\x1b" not in shown
    assert "\\x1b[2J日本語" in shown
    for columns in (24, 40, 80):
        narrow = alone.ok("attention", COLUMNS=str(columns))
        assert max(map(len, narrow.splitlines())) <= columns, narrow
