"""A sprint: items and a budget of tokens for them, the states it goes through, and how far its budget is burnt. No I/O.

Thresholds are shares of the budget, each with what it means to pass it: `inform` is told as an event, `warn` asks for
attention, `stop` holds new work back. A sprint has passed the highest that its use has reached; what it takes to pass
one again is that it was below in between, which only a change of the budget or of the thresholds can bring about.
"""

from __future__ import annotations

from enum import StrEnum
from itertools import pairwise
from typing import Annotated, Final

import msgspec

from gemba.errors import Invalid
from gemba.machine import Machine

BIGGEST: Final = 2**53  # the largest whole number that every JSON reader keeps
MOST_ITEMS: Final = 1_000
LONGEST_GOAL: Final = 20_000

Tokens = Annotated[int, msgspec.Meta(ge=1, le=BIGGEST)]
Share = Annotated[float, msgspec.Meta(gt=0, le=10)]


class SprintState(StrEnum):
    PLANNED = "planned"  # items and a budget; nothing is counted yet
    RUNNING = "running"  # what turns take is counted; there is one at most
    CLOSED = "closed"  # over; nothing of it changes any more


S = SprintState
MACHINE = Machine(
    "the sprint",
    {
        (S.PLANNED, "started"): S.RUNNING,
        (S.PLANNED, "closed"): S.CLOSED,
        (S.RUNNING, "closed"): S.CLOSED,
    },
)


class Level(StrEnum):
    """The highest threshold that a sprint has passed."""

    NONE = "none"
    INFORM = "inform"
    WARN = "warn"
    STOP = "stop"


LEVELS: Final = tuple(Level)


class Thresholds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Shares of the budget, inform ≤ warn ≤ stop: 0.8 is four fifths of it."""

    inform: Share
    warn: Share
    stop: Share

    def check(self, pointer: str) -> None:
        named = [(name, getattr(self, name)) for name in ("inform", "warn", "stop")]
        for (name, value), (next_name, next_value) in pairwise(named):
            if value > next_value:
                raise Invalid(
                    f"{pointer}/{next_name} is {next_value:g} and {name} is {value:g}; allowed: inform ≤ warn ≤ stop",
                    code="thresholds_fall",
                    pointer=f"{pointer}/{next_name}",
                    found=next_value,
                    allowed="inform ≤ warn ≤ stop",
                )


USUAL: Final = Thresholds(0.5, 0.8, 1.0)


def level_of(used: int, budget: int, thresholds: Thresholds) -> Level:
    """The highest threshold that so much of a budget has reached."""
    for level in (Level.STOP, Level.WARN, Level.INFORM):
        if used >= budget * getattr(thresholds, level):
            return level
    return Level.NONE


def passed(before: Level, now: Level) -> list[Level]:
    """The thresholds between two levels, in the order in which they are passed; none on the way down."""
    return list(LEVELS[LEVELS.index(before) + 1 : LEVELS.index(now) + 1])


def fallen_below(before: Level, now: Level) -> list[Level]:
    """The thresholds that are no longer passed."""
    return list(LEVELS[LEVELS.index(now) + 1 : LEVELS.index(before) + 1])
