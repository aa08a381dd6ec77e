"""What is started by itself: gates that hold it, whom it is given to, and how a start ends. No I/O."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba import clock
from gemba.autodispatch.choosing import Decision, Free, Situation, TypeFacts, decide, workers_of
from gemba.autodispatch.ending import Outcome, Standing, outcome_of
from gemba.autodispatch.start import FIRST_PAUSE, LONGEST_PAUSE, AutoHold, pause_after
from gemba.work.item import State
from gemba.work.selection import Candidate, Field, Running, Worker

NOW = 100 * clock.DAY
HAND = TypeFacts("hand", on=True, most=2)
ITEMS = (Candidate("a", priority=1, created_at=NOW), Candidate("b", priority=3, created_at=NOW))


def situation(*items: Candidate, beside: tuple[Running, ...] = (), **facts: Any) -> Situation:
    field = Field(items or ITEMS, beside, NOW)
    return Situation(on=True, field=field, types=(HAND,), most=4, now=NOW)._replace(**facts)


def kinds(decision: Decision) -> list[str]:
    return [hold.kind for hold in decision.holds]


def test_the_best_of_what_is_ready_is_started_in_a_new_session_with_its_reasons() -> None:
    decision = decide(situation())

    assert decision.chosen is not None
    assert (decision.chosen.choice.item_id, decision.chosen.session_id) == ("a", None)
    assert decision.chosen.because == "hand has room: 0 of 2 run"
    assert [(line.kind, line.points) for line in decision.chosen.choice.reasons] == [("priority", 30), ("targets", 0)]
    assert decision.holds == []


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        ({"on": False}, "off"),
        ({"running": 4}, "full"),
        ({"others": (AutoHold("sprint", "the sprint is stopped"),)}, "sprint"),
        ({"types": (HAND._replace(on=False),)}, "type_off"),
        ({"types": (HAND._replace(unusable="hand is not on PATH"),)}, "unusable"),
        ({"types": (HAND._replace(living=2),)}, "max_parallel"),
        ({"types": (HAND._replace(started=9, rate=9, fewer_at=NOW + 1),)}, "runs_per_hour"),
        ({"types": (HAND._replace(failures=1, failed_at=NOW),)}, "failing"),
    ],
)
def test_each_gate_alone_holds_a_start_and_says_so(facts: dict[str, Any], kind: str) -> None:
    decision = decide(situation(**facts))

    assert decision.chosen is None
    assert not decision.has_room
    assert kinds(decision) == [kind]


def test_what_the_operator_ordered_goes_first_whoever_would_do_it() -> None:
    known = Worker("s-1", concepts=frozenset({"mail"}))
    items = (
        Candidate("dear", priority=0, concepts=("mail",), created_at=NOW - 90 * clock.DAY),
        Candidate("ordered", priority=4, user_order=7, created_at=NOW),
    )

    decision = decide(situation(*items, free=(Free("hand", known),)))

    assert decision.chosen is not None
    assert decision.chosen.choice.item_id == "ordered"
    assert decision.chosen.choice.reasons[0].text == "you ordered it: place 7"


def test_a_session_that_is_free_goes_before_a_new_one_and_one_that_knows_the_matter_before_others() -> None:
    other, knows = Worker("s-1"), Worker("s-2", concepts=frozenset({"mail"}))
    items = (Candidate("mail", concepts=("mail",), created_at=NOW),)

    decision = decide(situation(*items, free=(Free("hand", other), Free("hand", knows))))
    alone = decide(situation(free=(Free("hand", other),)))

    assert decision.chosen is not None
    assert decision.chosen.session_id == "s-2"
    assert decision.chosen.because == "s-2 is free: its last dispatch is complete"
    assert alone.chosen is not None
    assert alone.chosen.session_id == "s-1"


def test_a_session_that_is_free_is_given_work_although_no_new_one_may_be_started() -> None:
    full = (HAND._replace(living=2),)

    decision = decide(situation(types=full, free=(Free("hand", Worker("s-1")),)))

    assert decision.chosen is not None
    assert decision.chosen.session_id == "s-1"
    assert kinds(decision) == ["max_parallel"]


def test_a_session_of_a_type_that_is_off_is_given_nothing() -> None:
    off = (HAND._replace(on=False),)

    assert decide(situation(types=off, free=(Free("hand", Worker("s-1")),))).chosen is None


def test_of_two_types_the_one_with_fewer_sessions_begins() -> None:
    types = (TypeFacts("busy", on=True, living=1, most=9), TypeFacts("idle", on=True, most=9))

    decision = decide(situation(types=types))

    assert decision.chosen is not None
    assert decision.chosen.agent_type == "idle"


def test_what_touches_what_runs_is_not_started_and_nothing_is_a_hold() -> None:
    items = (Candidate("a", targets=("src/**",), created_at=NOW),)
    running = (Running("other", "s-9", ("src/app.py",)),)

    decision = decide(situation(*items, beside=running))

    assert (decision.chosen, decision.holds, decision.has_room) == (None, [], True)


def test_an_item_that_a_person_has_to_look_at_is_passed_over() -> None:
    decision = decide(situation(kept={"a": "its last start came to nothing"}))

    assert decision.chosen is not None
    assert decision.chosen.choice.item_id == "b"


def test_the_pause_after_starts_that_went_wrong_grows_and_ends() -> None:
    assert [pause_after(many) for many in (0, 1, 2, 3)] == [0, FIRST_PAUSE, 2 * FIRST_PAUSE, 4 * FIRST_PAUSE]
    assert pause_after(1_000) == LONGEST_PAUSE
    failing = (HAND._replace(failures=2, failed_at=NOW - 2 * FIRST_PAUSE + 1),)
    held = decide(situation(types=failing))
    assert (held.chosen, held.again_at) == (None, NOW + 1)
    assert decide(situation(types=failing, now=NOW + 1)).chosen is not None


def test_how_many_work_at_once_is_known_where_work_is_started_by_itself() -> None:
    many = TypeFacts("many", on=True, most=16)

    assert workers_of(situation(types=(HAND,))) == 2
    assert workers_of(situation(types=(HAND, many))) == 4
    assert workers_of(situation(on=False)) is None
    assert workers_of(situation(types=(many._replace(unusable="gone"),))) is None


@given(
    st.lists(st.tuples(st.integers(0, 4), st.none() | st.integers(1, 5)), min_size=1, max_size=12),
    st.sets(st.integers(0, 11)),
    st.integers(0, 3),
)
def test_nothing_is_started_that_is_kept_and_the_first_that_is_ordered_is(
    drawn: list[tuple[int, int | None]], kept: set[int], living: int
) -> None:
    items = [
        Candidate(f"i-{place:02}", priority=priority, user_order=order, created_at=NOW)
        for place, (priority, order) in enumerate(drawn)
    ]
    known = situation(*items, kept={f"i-{place:02}": "kept" for place in kept}, types=(HAND._replace(living=living),))

    decision = decide(known)

    allowed = [item for item in items if item.id not in known.kept]
    assert decision.has_room == (living < 2)
    if living >= 2 or not allowed:
        assert decision.chosen is None
        return
    assert decision.chosen is not None
    chosen = next(item for item in allowed if item.id == decision.chosen.choice.item_id)
    orders = [item.user_order for item in allowed if item.user_order is not None]
    if orders:
        assert chosen.user_order == min(orders)
    else:
        assert chosen.priority == min(item.priority for item in allowed)


BEGUN = Standing(State.IN_PROGRESS, "s-1", "s-1", how="it broke")


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({}, None),
        ({"owner": None}, None),
        ({"is_complete": True}, Outcome("done")),
        ({"is_over": True}, Outcome("failed", "it broke")),
        ({"is_over": True, "is_complete": True}, Outcome("done")),
        ({"item_state": State.REVIEW, "is_over": True}, Outcome("done")),
        ({"item_state": State.DONE}, Outcome("done")),
        ({"item_state": State.DEFERRED}, Outcome("left", "somebody made the item deferred")),
        ({"owner": "ann"}, Outcome("left", "ann has claimed the item")),
    ],
)
def test_how_a_start_ends(facts: dict[str, Any], expected: Outcome | None) -> None:
    assert outcome_of(BEGUN._replace(**facts)) == expected
