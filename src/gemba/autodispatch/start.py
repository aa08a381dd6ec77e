"""An automatic start: a work item that was chosen for a session, claimed, given to it, and how that ended. No I/O."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from gemba import clock
from gemba.machine import Machine
from gemba.work.selection import Line

ACTOR = "auto-dispatch"  # in whose name it claims and starts
LEASE_SECONDS = 3_600  # of a claim; extended for as long as its session lives
FIRST_PAUSE, LONGEST_PAUSE = 30 * clock.SECOND, 3_600 * clock.SECOND


class StartState(StrEnum):
    CLAIMED = "claimed"  # the item is claimed, and what its agent needs is being made
    STARTED = "started"  # the agent has it
    DONE = "done"  # the item is handed in, or finished
    FAILED = "failed"  # its session is over, and the item is not handed in
    LEFT = "left"  # somebody took the item away, or gave it to another one
    REFUSED = "refused"  # it could not be started


S = StartState
START = Machine(
    "the start",
    {
        (S.CLAIMED, "started"): S.STARTED,
        (S.CLAIMED, "refused"): S.REFUSED,
        (S.STARTED, "done"): S.DONE,
        (S.STARTED, "failed"): S.FAILED,
        (S.STARTED, "left"): S.LEFT,
    },
)
OPEN = (S.CLAIMED, S.STARTED)
WENT_WRONG = (S.FAILED, S.REFUSED)


class AutoHold(msgspec.Struct, frozen=True):
    """Why nothing is started by itself, or nothing of one type of agent: `kind` for programs, `text` for people."""

    kind: str
    text: str
    agent_type: str | None = None
    until: str | None = None  # it ends by itself then


class AutoStart(msgspec.Struct, frozen=True, kw_only=True):
    """One start with its reasons, line by line, and why to this session. `living`: it had ended other work before."""

    id: str
    state: StartState
    item_id: str
    title: str
    session_id: str
    agent_type: str
    living: bool
    because: str
    score: int
    reasons: list[Line]
    dispatch_id: str | None
    trouble: str | None
    created_at: str
    started_at: str | None
    ended_at: str | None


def pause_after(failures: int) -> int:
    """How long after so many starts in a row that went wrong the next one of a type waits."""
    return 0 if failures <= 0 else min(LONGEST_PAUSE, FIRST_PAUSE << min(failures - 1, 20))
