"""Sprints as pure decisions: their states, when a threshold is passed, and what a burn-down says."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba import clock
from gemba.errors import Conflict, Invalid
from gemba.sprints.burn_down import MOST_DAYS, Piece, burn_down
from gemba.sprints.sprint import (
    LEVELS,
    MACHINE,
    USUAL,
    Level,
    SprintState,
    Thresholds,
    fallen_below,
    level_of,
    passed,
)

DAY = clock.DAY
START = 20_000 * DAY + DAY // 2  # noon of 2024-10-04

shares = st.floats(0.01, 10, allow_nan=False)


def rising(three: list[float]) -> Thresholds:
    return Thresholds(*sorted(three))


thresholds = st.lists(shares, min_size=3, max_size=3).map(rising)


# ---- states ----------------------------------------------------------------------------------------------------------

MOVES = {
    (SprintState.PLANNED, "started"): SprintState.RUNNING,
    (SprintState.PLANNED, "closed"): SprintState.CLOSED,
    (SprintState.RUNNING, "closed"): SprintState.CLOSED,
}


@pytest.mark.parametrize(("state", "event"), list(itertools.product(SprintState, ("started", "closed"))))
def test_a_sprint_is_started_once_and_closed_once(state: SprintState, event: str) -> None:
    if (state, event) in MOVES:
        assert MACHINE.after(state, event) is MOVES[state, event]
    else:
        with pytest.raises(Conflict, match=f"the sprint is {state}: it cannot be {event}"):
            MACHINE.after(state, event)


# ---- thresholds ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_", "pointer"),
    [
        (Thresholds(0.9, 0.8, 1.0), "/burn_thresholds/warn"),
        (Thresholds(0.5, 1.2, 1.0), "/burn_thresholds/stop"),
        (Thresholds(1.0, 0.5, 0.2), "/burn_thresholds/warn"),
    ],
)
def test_thresholds_that_fall_are_refused_where_they_do(given_: Thresholds, pointer: str) -> None:
    with pytest.raises(Invalid, match="allowed: inform ≤ warn ≤ stop") as refused:
        given_.check("/burn_thresholds")

    assert (refused.value.pointer, refused.value.code) == (pointer, "thresholds_fall")


def test_thresholds_may_be_the_same() -> None:
    Thresholds(0.8, 0.8, 0.8).check("/burn_thresholds")

    assert level_of(799, 1_000, Thresholds(0.8, 0.8, 0.8)) is Level.NONE
    assert level_of(800, 1_000, Thresholds(0.8, 0.8, 0.8)) is Level.STOP


@pytest.mark.parametrize(
    ("used", "level"),
    [(0, "none"), (499, "none"), (500, "inform"), (799, "inform"), (800, "warn"), (999, "warn"), (1_000, "stop")],
)
def test_a_threshold_is_passed_when_it_is_reached(used: int, level: str) -> None:
    assert level_of(used, 1_000, USUAL) == level


@given(
    thresholds=thresholds, budget=st.integers(1, 10**9), turns=st.lists(st.integers(0, 10**8), min_size=1, max_size=30)
)
def test_each_threshold_is_passed_once_however_the_use_comes_in(
    thresholds: Thresholds, budget: int, turns: list[int]
) -> None:
    used, level, told = 0, Level.NONE, []
    for tokens in turns:
        used += tokens
        now = level_of(used, budget, thresholds)
        told += passed(level, now)
        assert fallen_below(level, now) == []
        level = now

    assert told == passed(Level.NONE, level_of(used, budget, thresholds))
    assert told == [each for each in LEVELS[1:] if used >= budget * getattr(thresholds, each)]


@given(used=st.integers(0, 10**9), budgets=st.lists(st.integers(1, 10**9), min_size=2, max_size=2))
def test_a_larger_budget_never_passes_more(used: int, budgets: list[int]) -> None:
    small, large = sorted(budgets)
    before, after = (level_of(used, budget, USUAL) for budget in (small, large))

    assert passed(before, after) == []
    assert set(fallen_below(before, after)).isdisjoint(passed(Level.NONE, after))


# ---- burn-down -------------------------------------------------------------------------------------------------------


def test_a_sprint_that_has_not_begun_has_no_burn_down() -> None:
    assert burn_down(None, START, START + DAY, 100, {}, [Piece(0)]).days == []


def test_a_burn_down_tells_what_is_left_at_the_end_of_each_day() -> None:
    first = START // DAY
    work = [
        Piece(0, START + DAY),  # finished on the second day
        Piece(0),
        Piece(START + 2 * DAY),  # came in on the third
        Piece(0, START),  # finished on the first
    ]

    told = burn_down(START, START + 2 * DAY, START + 3 * DAY, 1_000, {first: 100, first + 1: 950}, work)

    assert [(day.day, day.tokens, day.tokens_left) for day in told.days] == [
        ("2024-10-04", 100, 900),
        ("2024-10-05", 950, -50),
        ("2024-10-06", 0, -50),
    ]
    assert [(day.items, day.items_left) for day in told.days] == [(3, 2), (3, 1), (4, 2)]
    assert [day.even for day in told.days] == [3.0, 2.0, 1.333]
    assert told.last_day == "2024-10-07"


pieces = st.lists(
    st.tuples(st.integers(-5 * DAY, 20 * DAY), st.none() | st.integers(0, 10 * DAY)).map(
        lambda pair: Piece(START + pair[0], None if pair[1] is None else START + pair[0] + pair[1])
    ),
    max_size=30,
)


@given(
    work=pieces,
    length=st.integers(0, 30 * DAY),
    budget=st.integers(1, 10**9),
    used=st.dictionaries(st.integers(-2, 35), st.integers(0, 10**6)),
)
def test_a_burn_down_adds_up(work: list[Piece], length: int, budget: int, used: dict[int, int]) -> None:
    first = START // DAY
    by_day = {first + day: tokens for day, tokens in used.items()}

    told = burn_down(START, START + length, None, budget, by_day, work).days

    last = (START + length) // DAY
    assert len(told) == last - first + 1
    assert told[-1].tokens_left == budget - sum(tokens for day, tokens in by_day.items() if day <= last)
    assert all(0 <= day.items_left <= day.items <= len(work) for day in told)
    until = START + length
    there = [piece for piece in work if piece.since <= until]
    assert told[-1].items_left == sum(piece.finished_at is None or piece.finished_at > until for piece in there)


def test_a_sprint_that_nobody_closes_does_not_grow_without_end() -> None:
    assert len(burn_down(START, START + 5_000 * DAY, None, 1, {}, []).days) == MOST_DAYS
