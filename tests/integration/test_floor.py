"""The floor over the API and at a terminal: what needs somebody, what runs, what is next, what it cost."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import msgspec
import pytest
import time_machine

from gemba.app import App
from gemba.config import CapSettings
from gemba.escalations.inbox import read_needs
from gemba.escalations.policy import Policy, Verify
from gemba.teams.run import RunState
from tests.fixtures.api import Api
from tests.fixtures.flowing import FlowFloor
from tests.fixtures.operator import Operator
from tests.fixtures.plans import epic, order_input
from tests.fixtures.remembered import suggest
from tests.fixtures.sprinting import item, running, turn
from tests.fixtures.teams import RUN, new_run
from tests.integration.test_cached_reads import statements
from tests.integration.test_consults import apply, begun, make_epic
from tests.integration.test_work_items import change, make, relate


def floor(api: Api) -> dict[str, Any]:
    found: dict[str, Any] = api.get("/api/floor")
    return found


def needs(api: Api) -> dict[str, int]:
    """How many of each, of those that there are."""
    found = floor(api)["needs"]
    return {name: part["many"] for name, part in found.items() if isinstance(part, dict) and part["many"]}


def test_a_floor_on_which_nothing_ever_happened_says_so(api: Api) -> None:
    found = floor(api)

    assert found["untouched"]
    assert (found["needs"]["total"], needs(api), found["running"]["sessions"]) == (0, {}, [])
    assert (found["teams"]["runs"], found["ready"]["items"], found["ready"]["holds"]) == ([], [], [])
    assert (found["cost"]["today"], found["cost"]["sprint"], len(found["cost"]["days"])) == (None, None, 14)
    assert found["phase"]["phase"] == api.get("/api/project/phase")["phase"]
    make(api, "First")
    assert not floor(api)["untouched"]


def test_what_needs_somebody_is_counted_by_kind_with_the_oldest(api: Api, app: App) -> None:
    with time_machine.travel("2026-03-01T10:00:00Z", tick=False) as now:
        oldest = api.ask("Which port?", kind="blocker")
        now.shift(timedelta(minutes=5))
        api.permission("claude-1")
        api.ask("Which colour?", "session-2")
        later = api.ask("Not now?", "session-3")
        api.post(f"/api/escalations/{later}/snooze", {"seconds": 3_600})
        (memory,) = suggest(app, "use UTC")
        with app.database.transaction() as tx:
            new_run(tx, state=RunState.PLANNED, started_at=None)
        found = floor(api)["needs"]

    assert needs(api) == {"blocking": 2, "advisory": 1, "memories": 1, "plans": 1}
    assert (found["total"], found["snoozed"]) == (5, 1)
    assert found["blocking"] == {"many": 2, "oldest_at": "2026-03-01T10:00:00.000000Z", "oldest_id": oldest}
    assert (found["memories"]["oldest_id"], found["plans"]["oldest_id"]) == (memory, RUN)

    api.post(f"/api/escalations/{oldest}/respond", {"text": "8080"})
    assert needs(api)["blocking"] == 1
    api.post(f"/api/memories/{memory}/reject", {"reason": "no"})
    assert "memories" not in needs(api)


def test_an_answer_counts_as_proposed_as_long_as_a_second_person_is_wanted(
    open_floor: Callable[..., FlowFloor],
) -> None:
    here = open_floor(Policy("p", verify=Verify(person=True)))
    id = here.ask(text='Is it "verifier":"person","state":"waiting"?')

    def proposed() -> int:
        with here.app.database.read() as connection:
            return read_needs(connection).proposed.many

    assert proposed() == 0
    here.act(id, "respond", "anna", text='"verifier":"person","state":"waiting"')
    assert proposed() == 1
    here.act(id, "reject", "ben", text="no")
    assert proposed() == 0


def test_advice_waits_until_a_line_of_it_is_applied(api: Api, app: App) -> None:
    first, second = make_epic(api, "Base"), make_epic(api, "Roof")
    id = begun(api, order_input(epic(second, depends_on_epics=[first]), epic(first)))
    assert "advice" not in needs(api)

    app.see_to_consults()

    assert floor(api)["needs"]["advice"]["oldest_id"] == id
    assert apply(api, id, 1).status == 200
    assert "advice" not in needs(api)


def test_those_who_need_somebody_stand_first_and_the_silent_do_not_count(api: Api) -> None:
    work = make(api, "Paint the wall")["id"]
    with time_machine.travel("2026-03-01T10:00:00Z", tick=False) as now:
        api.take("GembaState", {"state": "working"}, "silent")
        now.shift(timedelta(minutes=59))
        api.ask("Which port?", "stopped", kind="blocker")
        now.shift(timedelta(minutes=2))
        for number in range(10):
            api.take("GembaState", {"state": "working", "note": "at it", "bead_id": work}, f"works-{number}")
            now.shift(1)
        api.take("SessionEnd", {"reason": "exit"}, "works-9")
        found = floor(api)["running"]

    assert [one["id"] for one in found["sessions"]] == ["stopped", *(f"works-{number}" for number in range(8, 1, -1))]
    assert (found["total"], found["needs_you"], found["failed"]) == (10, 1, 0)
    assert found["items"] == {work: "Paint the wall"}


def test_team_runs_that_are_not_over_have_their_progress(api: Api, app: App) -> None:
    with app.database.transaction() as tx:
        new_run(tx)
        new_run(tx, "team-ffffffffffff", state=RunState.COMPLETED)
        new_run(tx, "team-eeeeeeeeeeee", workspace="/elsewhere")

    found = floor(api)["teams"]

    assert [(run["id"], run["states"], run["tasks"]) for run in found["runs"]] == [(RUN, {"pending": 3}, 3)]
    assert found["total"] == 1


def test_what_is_ready_stands_as_the_coach_ranks_it_with_the_reasons(api: Api) -> None:
    whole = make(api, "Search", kind="epic", priority=0)["id"]
    part = make(api, "Index", parent=whole, priority=1)["id"]
    waits = make(api, "Query", parent=whole, priority=1)["id"]
    low, ordered = make(api, "Docs", priority=4)["id"], make(api, "Now", priority=4, user_order=1)["id"]
    assert relate(api, part, "blocks", waits).status in (200, 201)

    found = floor(api)["ready"]

    assert [one["id"] for one in found["items"]] == [ordered, part, low]
    assert found["items"][0]["reasons"][0] == "you ordered it: place 1"
    assert found["items"][1]["reasons"] == ["priority 1", "one item waits for it, and for nothing else"]
    (anyone,) = (one for one in api.get("/api/work-items/selection")["sessions"] if one["session_id"] is None)
    assert [one["item_id"] for one in anyone["choices"]] == [one["id"] for one in found["items"]]
    # As the list of what is ready counts it, and the board: with what is worked on in parts.
    assert (found["total"], found["more"], found["auto"]) == (4, False, False)
    assert api.get("/api/work-items/ready")["total"] == 4
    api.post("/api/auto/switch", {"on": True})
    change(api, low, state="done")
    assert (floor(api)["ready"]["auto"], floor(api)["ready"]["total"]) == (True, 3)


def test_cost_stands_against_every_limit_there_is(api: Api, app: App) -> None:
    app.settings = msgspec.structs.replace(app.settings, caps=CapSettings(turns_per_hour=2, tokens_per_hour=10_000))
    running(app, 1_000, item(app))
    turn(api, 700, cost_usd=0.25)
    turn(api, 500)

    found = floor(api)

    today = found["cost"]["today"]
    assert (today["turns"], today["tokens"], today["cost_usd_micros"], today["unpriced"]) == (2, 1_200, 250_000, 1)
    assert found["cost"]["days"][-1] == {"day": today["key"], "tokens": 1_200}
    assert (found["cost"]["sprint"]["tokens_used"], found["cost"]["sprint"]["held"]) == (1_200, True)
    assert [(rate["name"], rate["taken"], rate["most"]) for rate in found["cost"]["rates"]] == [
        ("turns_per_hour", 2, 2),
        ("tokens_per_hour", 1_200, 10_000),
    ]
    assert [hold["kind"] for hold in found["ready"]["holds"]] == ["sprint_stop", "run_rate"]
    assert [one["title"] for one in found["ready"]["items"]] == ["Index"]
    advisors = found["cost"]["advisors"]
    caps = [persona["budget_policy"]["max_per_day_dollars"] for persona in api.get("/api/personas")["personas"]]
    assert (advisors["spent_dollars"], advisors["day_dollars"]) == (0, pytest.approx(sum(caps)))


def test_the_floor_costs_as_many_reads_when_it_is_full_as_when_it_is_nearly_empty(api: Api, app: App) -> None:
    def asked() -> int:
        with statements(app.database.engine) as seen:
            floor(api)
        return len(seen)

    def fill(many: int) -> None:
        for number in range(many):
            api.ask(f"Question {number}?", f"session-{number}", bead_id=make(api, f"Item {number}")["id"])
            suggest(app, f"memory {number}")

    fill(2)
    few = asked()
    fill(30)

    assert asked() == few
    assert few <= 45


def test_the_terminal_shows_the_same_floor(operator: Operator) -> None:
    assert operator.ok("floor").startswith("Nothing is here yet. To begin:\n    gemba-ask")
    operator.ok("item", "add", "Build the \x1b[31mindex", "--priority", "1")
    operator.ask(kind="blocker", session="worker-1")
    operator.say("GembaState", {"state": "working", "note": "painting"}, "worker-2")

    shown = operator.ok("floor")

    for words in (
        "Needs you: 1",
        "    1 ask stops an agent, for ",
        "Running: 2 (1 waiting for you)",
        "worker-2 working for ",
        "painting",
        "Ready: 1",
        "Build the ",
        "priority 1",
        "No turn has told what it took today.",
        "The project is in ",
    ):
        assert words in shown, shown
    assert "\x1b[31m" not in shown
    found = json.loads(operator.ok("floor", "--json"))
    assert (found["needs"]["blocking"]["many"], found["running"]["total"], found["untouched"]) == (1, 2, False)
