"""What the days cost by epic and persona: the most costly first, nothing lost on the way to the sums."""

from hypothesis import given
from hypothesis import strategies as st

from gemba.sprints.costs import Amount, CostShares, shares
from gemba.sprints.usage_view import UsageRow


def amount(tokens: int, micros: int | None = None) -> Amount:
    """Of one turn."""
    return Amount(1, int(micros is None), tokens, 0, micros or 0)


def told(row: UsageRow | None) -> tuple[str, int, int, int | None] | None:
    return None if row is None else (row.key, row.turns, row.tokens, row.cost_usd_micros)


def test_dollars_go_before_tokens_and_what_is_of_one_thing_is_added_up() -> None:
    found = shares(
        [("a", amount(10, 5)), ("b", amount(900)), ("c", amount(1, 7)), ("a", amount(20, 4)), (None, amount(3, 1))], 10
    )

    assert [told(row) for row in found.rows] == [("a", 2, 30, 9), ("c", 1, 1, 7), ("b", 1, 900, None)]
    assert (found.more, found.rest, told(found.none)) == (0, None, ("", 1, 3, 1))


def test_those_past_the_most_are_told_together() -> None:
    found = shares([(f"e{number}", amount(number, number)) for number in range(1, 6)], 2)

    assert [row.key for row in found.rows] == ["e5", "e4"]
    assert (found.more, told(found.rest)) == (3, ("", 3, 6, 6))


def test_a_cost_that_some_told_says_how_many_did_not() -> None:
    (row,) = shares([("a", amount(1)), ("a", amount(2, 50))], 1).rows

    assert (row.turns, row.unpriced, row.cost_usd_micros) == (2, 1, 50)


def test_nothing_spent_is_no_rows() -> None:
    assert shares([], 3) == CostShares(rows=[], more=0, rest=None, none=None)


@given(
    st.lists(
        st.tuples(
            st.none() | st.sampled_from("abcdef"),
            st.builds(amount, st.integers(0, 10**12), st.none() | st.integers(0, 10**12)),
        )
    ),
    st.integers(1, 8),
)
def test_all_of_it_adds_up_whatever_is_left_out(spent: list[tuple[str | None, Amount]], most: int) -> None:
    found = shares(spent, most)
    everything = [row for row in (*found.rows, found.rest, found.none) if row is not None]

    assert len(found.rows) <= most
    assert sum(row.tokens for row in everything) == sum(one.tokens for _, one in spent)
    assert sum(row.turns for row in everything) == len(spent)
    assert sum(row.cost_usd_micros or 0 for row in everything) == sum(one.micros for _, one in spent)
    assert len({row.key for row in found.rows}) == len(found.rows)
