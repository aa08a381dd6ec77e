"""The plan status of a dispatch: what an agent may send after what, and how often it may go on. Pure.

`decide` judges the status of an envelope that its verdict accepted; `start_turn` is the runtime's own move when it
starts a dispatch's next turn. Whoever keeps a `Progress` writes it only where the one it was decided on still stands,
so of two envelopes for one dispatch one wins. A refusal changes nothing.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from gemba.machine import Machine


class PlanStatus(StrEnum):
    IN_PROGRESS = "IN_PROGRESS"  # in the middle of the work
    APPROVAL_REQUEST = "APPROVAL_REQUEST"  # a command waits for a person's grant
    COMPLETE = "COMPLETE"  # done, with evidence
    BLOCKED = "BLOCKED"  # it cannot go on; the gap is named
    NEEDS_INPUT = "NEEDS_INPUT"  # a person chooses among options


RETRY_CAP = 2  # IN_PROGRESS that may follow an IN_PROGRESS in a row
NEXT_TURN = "next_turn"  # the runtime's event; every other one is a status that an agent sends

S = PlanStatus
MACHINE = Machine(
    "the dispatch",
    {
        (S.IN_PROGRESS, "IN_PROGRESS"): S.IN_PROGRESS,
        (S.IN_PROGRESS, "APPROVAL_REQUEST"): S.APPROVAL_REQUEST,
        (S.IN_PROGRESS, "COMPLETE"): S.COMPLETE,
        (S.IN_PROGRESS, "BLOCKED"): S.BLOCKED,
        (S.IN_PROGRESS, "NEEDS_INPUT"): S.NEEDS_INPUT,
        (S.APPROVAL_REQUEST, "IN_PROGRESS"): S.IN_PROGRESS,
        (S.COMPLETE, "IN_PROGRESS"): S.IN_PROGRESS,
        (S.BLOCKED, "IN_PROGRESS"): S.IN_PROGRESS,
        (S.NEEDS_INPUT, "IN_PROGRESS"): S.IN_PROGRESS,
        # An answer, a grant, a gate retry, a revise.
        (S.IN_PROGRESS, NEXT_TURN): S.IN_PROGRESS,
        (S.APPROVAL_REQUEST, NEXT_TURN): S.IN_PROGRESS,
        (S.COMPLETE, NEXT_TURN): S.IN_PROGRESS,
        (S.BLOCKED, NEXT_TURN): S.IN_PROGRESS,
        (S.NEEDS_INPUT, NEXT_TURN): S.IN_PROGRESS,
    },
)


class Progress(NamedTuple):
    """Where a dispatch stands, and how many IN_PROGRESS its agent sent in a row. No status: none was accepted yet."""

    status: PlanStatus | None = None
    in_progress: int = 0


class Refusal(NamedTuple):
    """Why a status is not taken, as a code and a sentence, and which would be."""

    code: str
    message: str
    allowed: list[str]


def decide(progress: Progress, sent: str) -> Progress | Refusal:
    """Where a dispatch stands after its agent sent this status, or why it may not."""
    allowed = allowed_after(progress.status)
    if sent not in allowed:
        now = "has no status yet" if progress.status is None else f"is {progress.status}"
        return Refusal("illegal_move", f"the dispatch {now}: it cannot become {sent[:40]}{_named(allowed)}", allowed)
    if sent != S.IN_PROGRESS:
        return Progress(S(sent), 0)
    before = _in_a_row(progress)
    if before > RETRY_CAP:
        others = [status for status in allowed if status != S.IN_PROGRESS]
        words = f"IN_PROGRESS came {before} times in a row, which is the most{_named(others)}, or a person's answer"
        return Refusal("IN_PROGRESS_LIMIT", words, others)
    return Progress(S.IN_PROGRESS, before + 1)


def start_turn(progress: Progress, *, by_person: bool) -> Progress:
    """The runtime starts the next turn. Only a person's answer starts the agent's count anew."""
    status = S.IN_PROGRESS if progress.status is None else MACHINE.after(progress.status, NEXT_TURN)
    return Progress(status, 0 if by_person else _in_a_row(progress))


def allowed_after(status: PlanStatus | None) -> list[str]:
    """The statuses that an agent may send now; as its first one, any."""
    if status is None:
        return [each.value for each in S]
    return [event for event in MACHINE.events_from(status) if event != NEXT_TURN]


def _in_a_row(progress: Progress) -> int:
    return progress.in_progress if progress.status is S.IN_PROGRESS else 0


def _named(allowed: list[str]) -> str:
    return f"; allowed: {', '.join(allowed)}"
