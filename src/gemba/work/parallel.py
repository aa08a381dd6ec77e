"""What can be done at the same time: of items in an order, as many as share no path with one before them. No I/O.

Two items conflict when a path could be touched by both, in the same repository. The batch is an independent set of
that graph, taken greedily: the best item is always in it, and whatever is left out conflicts with one that is in.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from gemba.paths import PathIndex
from gemba.work.selection import Candidate

MOST_CONFLICTS = 200  # told; that there are more is said


class Conflict(msgspec.Struct, frozen=True):
    """Two items that must not run at the same time, the better one first, and the globs by which they meet."""

    first: str
    second: str
    first_glob: str
    second_glob: str
    text: str


class Batch(msgspec.Struct, frozen=True):
    """`items` can run at once; `unknown` of them name no targets, so that nobody knows; `left_out` conflict with one
    that is in. `more` says that there are more conflicts than these."""

    items: list[str]
    unknown: list[str]
    left_out: list[str]
    conflicts: list[Conflict]
    more: bool


def choose_batch(ordered: Sequence[Candidate], most: int) -> Batch:
    """Up to `most` items. Those behind the last one are not looked at."""
    chosen: list[str] = []
    unknown: list[str] = []
    left_out: list[str] = []
    conflicts: list[Conflict] = []
    more = False
    taken: dict[str | None, PathIndex] = defaultdict(PathIndex)
    seen: dict[str | None, PathIndex] = defaultdict(PathIndex)
    for item in ordered:
        if len(chosen) == most:
            break
        index = taken[item.repository]
        is_free = all(index.find(glob) is None for glob in item.targets)
        more = more or (not is_free and len(conflicts) >= MOST_CONFLICTS)
        if len(conflicts) < MOST_CONFLICTS:
            conflicts += _conflicts(item, seen[item.repository])
            for glob in item.targets:
                seen[item.repository].add(glob, item.id)
        if not is_free:
            left_out.append(item.id)
            continue
        chosen.append(item.id)
        if not item.targets:
            unknown.append(item.id)
        for glob in item.targets:
            index.add(glob, item.id)
    more = more or len(conflicts) > MOST_CONFLICTS
    return Batch(chosen, unknown, left_out, conflicts[:MOST_CONFLICTS], more)


def _conflicts(item: Candidate, seen: PathIndex) -> list[Conflict]:
    """One for each item before this one that it meets."""
    found: dict[str, Conflict] = {}
    for glob in item.targets:
        for other, theirs in seen.find_all(glob).items():
            if other not in found:
                text = f"{other} touches {theirs} and {item.id} touches {glob}"
                found[other] = Conflict(other, item.id, theirs, glob, text)
    return [found[other] for other in sorted(found)]
