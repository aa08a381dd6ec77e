"""The figures of attention: what counts where, and that they add up whatever the asks, their order and the clock."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba import clock
from gemba.escalations.attention import Ask, AttentionRow, AttentionTotal, standing_still, summarise

DAY, SECOND = clock.DAY, clock.SECOND
MINUTE = 60 * SECOND
NOON = 20_000 * DAY + DAY // 2  # 2024-10-04
COUNTS = ("asked", "seen", "answered", "by_default", "expired", "declined")


def ask(id: str = "a", opened: int = 0, **more: Any) -> Ask:
    """Opened so many seconds after noon; other moments likewise."""
    moments = {name: NOON + value * SECOND for name, value in more.items() if name.endswith("_at")}
    known = {"session_id": "s", "agent_type": "test", "kind": "blocker", "blocking": True, **more, **moments}
    return Ask(id=id, opened_at=NOON + opened * SECOND, **known)


def figures(*asks: Ask, price: float = 0.0, at_work: int = 0) -> tuple[list[AttentionRow], AttentionTotal]:
    return summarise(asks, now=NOON + 3600 * SECOND, price=price, at_work=at_work)


def test_nothing_asked_is_told_in_zeros_without_shares() -> None:
    rows, total = figures()

    assert rows == []
    assert (total.asked, total.blocked_minutes, total.to_see_p50, total.to_answer_p90) == (0, 0.0, None, None)
    assert (total.questions_per_agent_hour, total.share_by_default, total.cost) == (None, None, None)


def test_an_answered_ask_counts_from_when_it_was_made() -> None:
    ([row], total) = figures(ask(seen_at=30, outcome="answered", resolved_at=120), price=0.25, at_work=1800 * SECOND)

    assert (row.day, row.agent_type, row.kind) == ("2024-10-04", "test", "blocker")
    assert (row.asked, row.seen, row.answered) == (1, 1, 1)
    assert (row.to_see_p50, row.to_answer_p50, row.blocked_minutes, row.cost) == (30.0, 120.0, 2.0, 0.5)
    assert (total.agent_hours, total.questions_per_agent_hour, total.share_by_default) == (0.5, 2.0, 0.0)


@pytest.mark.parametrize(
    ("outcome", "counted"),
    [("answered", "answered"), ("default", "by_default"), ("expired", "expired"), ("declined", "declined")],
)
def test_every_end_is_counted_in_its_place_and_only_answers_have_a_time_to_answer(outcome: str, counted: str) -> None:
    _, total = figures(ask(outcome=outcome, resolved_at=60))

    assert {name for name in COUNTS if getattr(total, name)} == {"asked", counted}
    assert (total.to_answer_p50 is not None) == (outcome == "answered")


def test_one_that_was_withdrawn_or_waits_is_asked_and_nothing_else() -> None:
    _, total = figures(ask("a", outcome="withdrawn", resolved_at=60), ask("b"))

    assert [getattr(total, name) for name in COUNTS] == [2, 0, 0, 0, 0, 0]
    assert total.share_by_default is None


def test_the_share_by_default_is_of_what_was_answered() -> None:
    ends = ["answered"] * 3 + ["default"] + ["expired"] * 4
    _, total = figures(*(ask(str(n), outcome=end, resolved_at=1) for n, end in enumerate(ends)))

    assert total.share_by_default == 0.25


def test_what_waits_blocks_until_now_and_what_is_advisory_never() -> None:
    _, total = figures(ask("a", 3000), ask("b", 0, session_id="t", blocking=False))

    assert total.blocked_minutes == 10.0


def test_an_agent_that_waits_for_two_answers_stands_still_once() -> None:
    first = ask("a", 0, kind="blocker", outcome="answered", resolved_at=600)
    inside = ask("b", 60, kind="question", outcome="answered", resolved_at=120)
    beyond = ask("c", 300, kind="approval", outcome="answered", resolved_at=900)
    elsewhere = ask("d", 0, session_id="t", outcome="answered", resolved_at=600)

    blocked = standing_still([beyond, elsewhere, inside, first], NOON)

    assert blocked == {"a": 600 * SECOND, "b": 0, "c": 300 * SECOND, "d": 600 * SECOND}


def test_a_late_answer_holds_nobody_up_after_the_ask_s_time_ran_out() -> None:
    _, total = figures(ask(outcome="answered", free_at=60, resolved_at=600))

    assert (total.blocked_minutes, total.to_answer_p50) == (1.0, 600.0)


def test_a_clock_that_ran_backwards_makes_nothing_negative() -> None:
    before = ask("a", 0, seen_at=-86_400, outcome="answered", resolved_at=-86_400)
    ahead = ask("b", 90_000)  # made "tomorrow": now is before it
    rows, total = figures(before, ahead, price=1.0)

    assert (total.to_see_p50, total.to_answer_p50, total.blocked_minutes, total.cost) == (0.0, 0.0, 0.0, 0.0)
    assert [row.day for row in rows] == ["2024-10-04", "2024-10-05"]


def test_quantiles_are_times_that_were_taken() -> None:
    _, total = figures(*(ask(str(n), seen_at=n, outcome="answered", resolved_at=n) for n in range(1, 11)))

    assert (total.to_see_p50, total.to_see_p90, total.to_answer_p50, total.to_answer_p90) == (5.0, 9.0, 5.0, 9.0)


moments = st.integers(NOON - 2 * DAY, NOON + 2 * DAY)
asks = st.lists(
    st.builds(
        Ask,
        id=st.uuids().map(str),
        session_id=st.sampled_from("stu"),
        agent_type=st.sampled_from(["claude", "codex", ""]),
        kind=st.sampled_from(["question", "blocker"]),
        blocking=st.booleans(),
        opened_at=moments,
        seen_at=st.none() | moments,
        outcome=st.sampled_from([None, "answered", "default", "expired", "declined", "withdrawn"]),
        resolved_at=st.none() | moments,
        free_at=st.none() | moments,
    ),
    max_size=30,
    unique_by=lambda ask: ask.id,
)


@given(asks, st.integers(0, 2**32))
def test_the_order_of_the_asks_makes_no_difference(given_asks: list[Ask], seed: int) -> None:
    shuffled = random.Random(seed).sample(given_asks, len(given_asks))

    assert figures(*shuffled, price=0.25, at_work=DAY) == figures(*given_asks, price=0.25, at_work=DAY)


@given(asks)
def test_the_rows_add_up_to_the_total_and_nothing_is_negative(given_asks: list[Ask]) -> None:
    rows, total = figures(*given_asks, price=0.25)

    for name in COUNTS:
        assert sum(getattr(row, name) for row in rows) == getattr(total, name)
    assert sum(row.blocked_minutes for row in rows) == pytest.approx(total.blocked_minutes)
    assert sum(row.cost or 0 for row in rows) == pytest.approx(total.cost or 0)
    assert len({(row.day, row.agent_type, row.kind) for row in rows}) == len(rows)
    for row in (*rows, total):
        found = [getattr(row, name) for name in row.__struct_fields__]
        assert all(value >= 0 for value in found if isinstance(value, int | float))


@given(
    st.lists(
        st.tuples(st.sampled_from("st"), st.integers(0, 60), st.none() | st.integers(0, 60)),
        max_size=12,
    )
)
def test_the_time_that_agents_stood_still_is_counted_once_for_every_moment(
    spans: list[tuple[str, int, int | None]],
) -> None:
    now = 50
    given_asks = [
        Ask(str(number), session, "test", "blocker", True, start, resolved_at=end)
        for number, (session, start, end) in enumerate(spans)
    ]
    moments = {(session, at) for session, start, end in spans for at in range(start, now if end is None else end)}

    assert sum(standing_still(given_asks, now).values()) == len(moments)
