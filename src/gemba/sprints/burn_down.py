"""The burn-down of a sprint, day by day: how much of its budget is left, and how much of its work. Pure.

A day (UTC) tells how things stood at its end; today, how they stand now. Work counts from the day on which it was put
into the sprint, and is gone from the day on which it was finished. The line of what would be even goes from all of the
work on the first day to none on the last, where somebody said which that is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from gemba import clock

MOST_DAYS = 366  # the last ones


class Piece(NamedTuple):
    """Something that is worked on: since when it is in the sprint, and when it was finished."""

    since: int
    finished_at: int | None = None


class BurnDay(msgspec.Struct, frozen=True):
    """`tokens` were used on the day itself; `even` is what would be left of the work at an even pace."""

    day: str
    tokens: int
    tokens_left: int
    items: int
    items_left: int
    even: float | None


class BurnDown(msgspec.Struct, frozen=True):
    """Nothing where the sprint has not begun. `last_day` is the day that it is to end on."""

    days: list[BurnDay]
    last_day: str | None


def burn_down(
    started_at: int | None,
    until: int,
    ends_at: int | None,
    budget: int,
    used: Mapping[int, int],
    pieces: Iterable[Piece],
) -> BurnDown:
    """`used` is tokens by day; `until` the moment up to which it is told: now, or the end of the sprint."""
    if started_at is None:
        return BurnDown([], None)
    first, last = started_at // clock.DAY, max(started_at, until) // clock.DAY
    end = None if ends_at is None else max(first, ends_at // clock.DAY)
    work = list(pieces)
    left = budget - sum(tokens for day, tokens in used.items() if day < first)
    days = []
    for day in range(first, last + 1):
        left -= used.get(day, 0)
        moment = min((day + 1) * clock.DAY - 1, until)
        there = [piece for piece in work if piece.since <= moment]
        open_ = sum(piece.finished_at is None or piece.finished_at > moment for piece in there)
        told = BurnDay(name_of(day), used.get(day, 0), left, len(there), open_, _even(day, first, end, len(there)))
        days.append(told)
    return BurnDown(days[-MOST_DAYS:], None if end is None else name_of(end))


def name_of(day: int) -> str:
    """The date of a day that is counted from 1970."""
    return clock.rfc3339(day * clock.DAY)[:10]


def _even(day: int, first: int, end: int | None, work: int) -> float | None:
    if end is None:
        return None
    return round(work * max(0, end - day) / (end - first), 3) if end > first else 0.0
