"""How a past ranking fared, as a pure function: what it said against what happened.

Order: of every two ranked epics of which at least one was finished since, the one that was finished first should stand
first; what is not finished yet counts as later than what is, and two of these say nothing. The share of pairs that
stand the wrong way round is what is told, and as a rank correlation (Kendall's tau) from -1 to 1. What was finished
before the ranking, or given up, is left out. Blocked time: how long epics waited after the ranking for what they depend
on. Conflicts: of those that one group said can run at once, and that did, the pairs that touch the same paths.
Near linear in the epics but for pairs that ran at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from gemba import clock
from gemba.paths import PathIndex


class Ranked(NamedTuple):
    """One place of a ranking; members of a group were said to fit beside each other."""

    epic_id: str
    group: str | None = None


class Happened(NamedTuple):
    """What became of an epic. Without a `finished_at` it is not done; `dropped`: nobody will do it any more."""

    begun_at: int | None = None
    finished_at: int | None = None
    dropped: bool = False
    targets: tuple[str, ...] = ()
    repository: str | None = None


class Score(NamedTuple):
    """`pairs` could be compared, `inversions` of them stand the wrong way round. Of `parallel` pairs of one group that
    ran at the same time `conflicts` touch the same paths. `blocked` is microseconds of all epics together."""

    ranked: int
    finished: int
    pairs: int
    inversions: int
    blocked: int
    waited: int  # epics that depend on others
    parallel: int
    conflicts: int

    @property
    def tau(self) -> float | None:
        return None if not self.pairs else 1 - 2 * self.inversions / self.pairs


def score(
    ranking: Sequence[Ranked],
    depends: Mapping[str, Sequence[str]],
    happened: Mapping[str, Happened],
    at: int,
    now: int,
) -> Score:
    """A ranking of the moment `at`, as it looks `now`; `depends` is what each epic waited for then."""
    met = [(one, happened[one.epic_id]) for one in ranking if _counts(happened.get(one.epic_id), at)]
    ends = [one.finished_at for _, one in met]
    pairs, inversions = compare(ends)
    blocked, waited = _blocked(ranking, depends, happened, at, now)
    parallel, conflicts = _conflicts(met, now)
    finished = sum(end is not None for end in ends)
    return Score(len(ranking), finished, pairs, inversions, blocked, waited, parallel, conflicts)


def _counts(what: Happened | None, at: int) -> bool:
    return what is not None and not what.dropped and (what.finished_at is None or what.finished_at > at)


def compare(ends: Sequence[int | None]) -> tuple[int, int]:
    """Of moments in the order of a ranking: how many pairs say something, and how many are the wrong way round."""
    places = {end: place for place, end in enumerate(sorted({end for end in ends if end is not None}), 1)}
    last = len(places) + 1  # of all that is not finished
    ranks = [last if end is None else places[end] for end in ends]
    counts = [0] * (last + 1)
    for rank in ranks:
        counts[rank] += 1
    many = len(ranks)
    alike = sum(count * (count - 1) // 2 for count in counts)
    return many * (many - 1) // 2 - alike, _inversions(ranks, last)


def _inversions(ranks: Sequence[int], last: int) -> int:
    """Pairs of which the later one stands first; by a tree of sums."""
    tree = [0] * (last + 1)
    found = 0
    for seen, rank in enumerate(ranks):
        below, place = 0, rank
        while place:  # those seen that are no later
            below += tree[place]
            place -= place & -place
        found += seen - below
        while rank <= last:
            tree[rank] += 1
            rank += rank & -rank
    return found


def _blocked(
    ranking: Sequence[Ranked],
    depends: Mapping[str, Sequence[str]],
    happened: Mapping[str, Happened],
    at: int,
    now: int,
) -> tuple[int, int]:
    total, waited = 0, 0
    for one in ranking:
        before = [happened[id] for id in depends.get(one.epic_id, ()) if id in happened]
        open_ = [what for what in before if _counts(what, at)]
        if not before:
            continue
        waited += 1
        until = max((now if what.finished_at is None else what.finished_at for what in open_), default=at)
        total += max(0, min(until, now) - at)
    return total, waited


def _conflicts(met: Sequence[tuple[Ranked, Happened]], now: int) -> tuple[int, int]:
    groups: dict[str, list[Happened]] = defaultdict(list)
    for one, what in met:
        if one.group is not None and what.begun_at is not None:
            groups[one.group].append(what)
    both = [pair for members in groups.values() for pair in combinations(members, 2) if _at_once(*pair, now)]
    return len(both), sum(share_a_path(*pair) for pair in both)


def _at_once(one: Happened, other: Happened, now: int) -> bool:
    ends = [now if what.finished_at is None else what.finished_at for what in (one, other)]
    return max(one.begun_at or 0, other.begun_at or 0) < min(ends)


def share_a_path(one: Happened, other: Happened) -> bool:
    if one.repository != other.repository:
        return False
    index = PathIndex()
    for glob in one.targets:
        index.add(glob, "one")
    return any(index.find(glob) is not None for glob in other.targets)


def hours(span: int) -> float:
    return span / (3_600 * clock.SECOND)
