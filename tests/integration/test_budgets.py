"""What personas spend, on both databases: reserved before, settled after, never more than the day's cap."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
import time_machine

from gemba import clock
from gemba.app import App
from gemba.errors import Conflict
from gemba.personas.budget import Usage, cap_of, day_of, over_cap
from gemba.personas.file import shipped
from gemba.personas.persona import BudgetPolicy, Persona
from gemba.personas.reservations import Spending, release, release_dead, reserve, settle, spending, taken
from tests.fixtures.advisors import changed

PM = shipped()["project-manager"]


def of_budget(call: float, day: float) -> Persona:
    return changed("project-manager", budget_policy=BudgetPolicy(call, day))


def taken_today(app: App, persona: Persona = PM) -> int:
    with app.database.read() as connection:
        return taken(connection, persona.id, day_of(clock.now()))


def reserved(app: App, id: str, persona: Persona = PM, max_dollars: float | None = None) -> int:
    return app.database.change(lambda tx: reserve(tx, persona, id, max_dollars))


def today(app: App, persona: Persona = PM) -> Spending:
    with app.database.read() as connection:
        return spending(connection, [persona], clock.now())[persona.id]


def test_a_call_reserves_the_smaller_of_the_two_caps(app: App) -> None:
    assert reserved(app, "one") == 250_000
    assert reserved(app, "two", max_dollars=0.10) == 100_000
    assert reserved(app, "three", max_dollars=5) == 250_000

    assert today(app) == Spending(0.0, 0.6, 9.4, 10.0)


def test_a_call_that_would_pass_the_days_cap_is_refused_with_what_is_left(app: App) -> None:
    tight = of_budget(0.25, 0.60)
    reserved(app, "one", tight)
    reserved(app, "two", tight)

    with pytest.raises(Conflict, match=r"may cost 0\.25 dollars, and of today's 0\.60 there are 0\.10 left") as refused:
        reserved(app, "three", tight)

    assert (refused.value.code, refused.value.extra["left_dollars"]) == ("budget_spent", 0.1)
    assert taken_today(app, tight) == 500_000
    assert reserved(app, "three", tight, max_dollars=0.10) == 100_000


@pytest.mark.parametrize(("call", "day"), [(0.0, 10.0), (0.25, 0.0), (0.0, 0.0)])
def test_a_budget_of_zero_refuses_every_call(app: App, call: float, day: float) -> None:
    with pytest.raises(Conflict, match="may cost nothing"):
        reserved(app, "one", of_budget(call, day))
    with pytest.raises(Conflict, match="may cost nothing"):
        reserved(app, "two", PM, max_dollars=0.0)

    assert taken_today(app) == 0


def test_fifty_at_once_never_pass_the_cap(app: App) -> None:
    tight = of_budget(0.25, 2.60)  # ten, and a little
    start = threading.Barrier(50)

    def run(number: int) -> bool:
        start.wait()
        try:
            return reserved(app, f"consult-{number}", tight) == 250_000
        except Conflict:
            return False

    with ThreadPoolExecutor(50) as threads:
        granted = list(threads.map(run, range(50)))

    assert granted.count(True) == 10
    assert taken_today(app, tight) == 2_500_000


def test_the_same_call_reserves_once_however_often_and_at_once_it_is_asked_for(app: App) -> None:
    start = threading.Barrier(8)

    def run(_: int) -> int:
        start.wait()
        return reserved(app, "one")

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(run, range(8))) == {250_000}
    assert taken_today(app) == 250_000


def test_what_a_run_cost_is_settled_and_the_rest_given_back_once(app: App) -> None:
    reserved(app, "one")
    used = Usage("claude-opus-4-7", 1_000, 200, 40_000)

    assert app.database.change(lambda tx: settle(tx, "one", used)) == 40_000
    assert app.database.change(lambda tx: settle(tx, "one", used)) == 40_000
    assert not app.database.change(lambda tx: release(tx, "one"))

    assert today(app) == Spending(0.04, 0.0, 9.96, 10.0)
    with pytest.raises(Conflict, match="that is settled"):
        reserved(app, "one")


def test_a_run_that_cost_more_is_charged_what_it_cost(app: App) -> None:
    cap = reserved(app, "one")
    used = Usage(cost_micros=300_000)

    assert over_cap(cap, used) == "it reports 0.3000 dollars, and may cost 0.2500"
    assert over_cap(cap, Usage(cost_micros=cap)) is None
    assert over_cap(cap, Usage(tokens_in=10**9)) is None
    assert app.database.change(lambda tx: settle(tx, "one", used)) == 300_000
    assert today(app).settled_dollars == 0.3


def test_a_run_of_which_nobody_knows_the_cost_is_charged_its_cap_unless_it_used_nothing(app: App) -> None:
    reserved(app, "one")
    reserved(app, "two")

    assert app.database.change(lambda tx: settle(tx, "one", Usage("some", 10, 10))) == 250_000
    assert app.database.change(lambda tx: settle(tx, "two", Usage())) == 0


def test_reservations_of_dead_consults_are_released_and_those_of_living_and_new_ones_stay(app: App) -> None:
    reserved(app, "dead")
    reserved(app, "living")
    later = clock.now() + 1
    with time_machine.travel(datetime.now(UTC) + timedelta(seconds=5), tick=False):
        new_day = reserved(app, "new")

    assert app.database.change(lambda tx: release_dead(tx, {"living"}, later)) == ["dead"]
    assert app.database.change(lambda tx: release_dead(tx, {"living"}, later)) == []
    assert new_day == 250_000
    assert taken_today(app) == 500_000


def test_a_new_day_begins_with_nothing_spent_and_what_began_before_is_charged_to_its_own(app: App) -> None:
    tight = of_budget(0.25, 0.25)
    with time_machine.travel(datetime(2026, 3, 1, 23, 59, tzinfo=UTC), tick=False):
        reserved(app, "late", tight)
        with pytest.raises(Conflict):
            reserved(app, "later", tight)
    with time_machine.travel(datetime(2026, 3, 2, 0, 1, tzinfo=UTC), tick=False):
        app.database.change(lambda tx: settle(tx, "late", Usage(cost_micros=200_000)))
        assert taken_today(app, tight) == 0
        assert reserved(app, "next", tight) == 250_000


def test_another_personality_costs_the_same() -> None:
    loud = changed("project-manager", personality=msgspec.structs.replace(PM.personality, id="loud"))

    assert cap_of(loud.budget_policy) == cap_of(PM.budget_policy) == 250_000
