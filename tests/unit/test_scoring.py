"""How a ranking fared: the order that it said against the order that came, waits, and conflicts. No I/O."""

from collections.abc import Sequence
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from gemba import clock
from gemba.personas.scoring import Happened, Ranked, Score, compare, score

HOUR = 3_600 * clock.SECOND
AT, NOW = 10 * HOUR, 100 * HOUR

ENDS = st.lists(st.none() | st.integers(AT + 1, AT + 12), max_size=40)


def naive(ends: list[int | None]) -> tuple[int, int]:
    """Every two, one by one."""
    pairs = inversions = 0
    for first, second in combinations(ends, 2):
        if first == second:
            continue
        pairs += 1
        inversions += first is None or (second is not None and second < first)
    return pairs, inversions


def fared(ends: Sequence[int | None]) -> Score:
    ids = [f"e-{place}" for place in range(len(ends))]
    happened = {id: Happened(finished_at=end) for id, end in zip(ids, ends, strict=True)}
    return score([Ranked(id) for id in ids], {}, happened, AT, NOW)


@given(ENDS)
def test_pairs_and_inversions_are_those_of_a_count_one_by_one(ends: list[int | None]) -> None:
    assert compare(ends) == naive(ends)


@given(ENDS)
def test_a_correlation_lies_between_the_two_extremes_and_is_there_when_something_can_be_compared(
    ends: list[int | None],
) -> None:
    one = fared(ends)

    assert 0 <= one.inversions <= one.pairs
    assert (one.tau is None) == (one.pairs == 0)
    assert one.tau is None or -1 <= one.tau <= 1
    assert one.finished == sum(end is not None for end in ends)


@given(st.lists(st.integers(AT + 1, AT + 10_000), unique=True, min_size=2, max_size=40))
def test_the_order_that_came_is_right_and_the_other_way_round_wrong(ends: list[int]) -> None:
    assert fared(sorted(ends)).tau == 1
    assert fared(sorted(ends, reverse=True)).tau == -1


@given(ENDS, st.integers(0, 39), st.integers(0, 39))
def test_two_that_stand_right_and_are_swapped_make_it_no_better(ends: list[int | None], one: int, other: int) -> None:
    if not ends:
        return
    first, second = sorted((one % len(ends), other % len(ends)))
    key = [NOW if end is None else end for end in ends]
    if key[first] < key[second]:
        swapped = ends.copy()
        swapped[first], swapped[second] = ends[second], ends[first]
        assert fared(swapped).inversions >= fared(ends).inversions + 1


@given(ENDS)
def test_what_is_unknown_dropped_or_was_done_before_changes_nothing(ends: list[int | None]) -> None:
    happened = {f"e-{place}": Happened(finished_at=end) for place, end in enumerate(ends)}
    happened |= {"gone": Happened(finished_at=AT + 1, dropped=True), "old": Happened(finished_at=AT)}
    more = [Ranked("gone"), *(Ranked(f"e-{place}") for place in range(len(ends))), Ranked("old"), Ranked("never")]

    one = score(more, {}, happened, AT, NOW)

    assert (one.pairs, one.inversions, one.finished) == (*compare(ends), sum(end is not None for end in ends))


def test_an_epic_waits_until_the_last_that_it_depends_on_is_finished() -> None:
    happened = {
        "base": Happened(finished_at=AT + 2 * HOUR),
        "wall": Happened(finished_at=AT + 5 * HOUR),
        "roof": Happened(),
        "open": Happened(),
        "late": Happened(),
    }
    depends = {"roof": ["base", "wall"], "late": ["open"], "base": ["elsewhere"]}
    ranking = [Ranked(id) for id in happened]

    one = score(ranking, depends, happened, AT, NOW)

    assert (one.waited, one.blocked) == (2, 5 * HOUR + (NOW - AT))


def test_a_dependency_that_was_done_or_dropped_before_makes_nobody_wait() -> None:
    happened = {"base": Happened(finished_at=AT - HOUR), "wall": Happened(dropped=True), "roof": Happened()}

    one = score([Ranked("roof")], {"roof": ["base", "wall"]}, happened, AT, NOW)

    assert (one.waited, one.blocked) == (1, 0)


def test_of_those_that_ran_at_once_in_one_group_the_pairs_that_share_a_path_are_conflicts() -> None:
    def ran(begun: int, finished: int | None, *targets: str, repository: str | None = None) -> Happened:
        end = None if finished is None else AT + finished * HOUR
        return Happened(AT + begun * HOUR, end, targets=targets, repository=repository)

    happened = {
        "a": ran(1, 4, "src/**"),
        "b": ran(2, 5, "src/app.py"),
        "later": ran(6, 8, "src/app.py"),
        "other": ran(1, 8, "src/app.py", repository="elsewhere"),
        "apart": ran(1, 8, "docs/**"),
        "group2": ran(1, 8, "src/**"),
        "never": Happened(targets=("src/**",)),
    }
    groups = {"group2": "2", "never": "1"}
    ranking = [Ranked(id, groups.get(id, "1")) for id in happened]

    one = score(ranking, {}, happened, AT, NOW)

    # a-b, a-other, b-other, later-other, and apart with each of the four
    assert (one.parallel, one.conflicts) == (8, 1)


def test_a_ranking_of_ten_thousand_is_scored_at_once() -> None:
    ends: list[int | None] = [AT + 1 + (place * 7_919) % 10_007 for place in range(10_000)]

    one = fared(ends)

    assert one.pairs == 10_000 * 9_999 // 2
    assert 0 < one.inversions < one.pairs
