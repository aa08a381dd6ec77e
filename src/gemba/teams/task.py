"""A task of a run: its states, what may follow on each, and what its end means for the tasks that wait for it. No I/O.

A move commits as `UPDATE … WHERE state = <as read>`, a task's end together with what it does to its dependents: what
that costs grows with them and not with the run. Called by the engine, and by `schedule.py` for a whole graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from gemba.errors import Conflict, Invalid
from gemba.machine import Machine


class TaskState(StrEnum):
    PENDING = "pending"  # nobody has it yet
    CLAIMED = "claimed"  # one worker has it, under a lease
    RUNNING = "running"  # its agent works (phases 2 to 4)
    VERIFYING = "verifying"  # the agent has handed in, and the engine checks it
    WAITING = "waiting"  # for what `waiting_for` says
    COMPLETED = "completed"
    COMPLETED_WITH_WARNINGS = "completed_with_warnings"
    PARTIAL_COMPLETION = "partial_completion"  # its gate gave up; somebody decides, and dependents wait
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


class WaitingFor(StrEnum):
    APPROVAL = "approval"  # a command that somebody has to allow
    INPUT = "input"  # an answer to what the agent asked
    BLOCKED = "blocked"  # something outside of the run
    DECISION = "decision"  # what is to become of the work


S = TaskState
TASK = Machine(
    "the task",
    {
        (S.PENDING, "claimed"): S.CLAIMED,
        (S.PENDING, "held"): S.WAITING,
        (S.PENDING, "revised"): S.PENDING,
        (S.PENDING, "skipped"): S.SKIPPED,
        (S.PENDING, "cancelled"): S.CANCELLED,
        (S.CLAIMED, "started"): S.RUNNING,
        (S.CLAIMED, "released"): S.PENDING,  # its lease ran out, or its worker gave it back
        (S.CLAIMED, "outdated"): S.PENDING,  # what it builds on has a new version
        (S.CLAIMED, "failed"): S.FAILED,
        (S.CLAIMED, "skipped"): S.SKIPPED,
        (S.CLAIMED, "cancelled"): S.CANCELLED,
        (S.RUNNING, "submitted"): S.VERIFYING,
        (S.RUNNING, "held"): S.WAITING,
        (S.RUNNING, "released"): S.PENDING,
        (S.RUNNING, "outdated"): S.PENDING,
        (S.RUNNING, "failed"): S.FAILED,
        (S.RUNNING, "skipped"): S.SKIPPED,
        (S.RUNNING, "cancelled"): S.CANCELLED,
        (S.VERIFYING, "passed"): S.COMPLETED,
        (S.VERIFYING, "passed_with_warnings"): S.COMPLETED_WITH_WARNINGS,
        (S.VERIFYING, "sent_back"): S.RUNNING,  # phase 3 again
        (S.VERIFYING, "given_up"): S.PARTIAL_COMPLETION,
        (S.VERIFYING, "held"): S.WAITING,
        (S.VERIFYING, "released"): S.PENDING,
        (S.VERIFYING, "outdated"): S.PENDING,
        (S.VERIFYING, "failed"): S.FAILED,
        (S.VERIFYING, "skipped"): S.SKIPPED,
        (S.VERIFYING, "cancelled"): S.CANCELLED,
        (S.WAITING, "answered"): S.RUNNING,  # its agent is still there
        (S.WAITING, "released"): S.PENDING,  # a worker takes it up anew, with the answer
        (S.WAITING, "accepted"): S.COMPLETED_WITH_WARNINGS,
        (S.WAITING, "retried"): S.PENDING,
        (S.WAITING, "revised"): S.PENDING,
        (S.WAITING, "outdated"): S.PENDING,
        (S.WAITING, "failed"): S.FAILED,
        (S.WAITING, "skipped"): S.SKIPPED,
        (S.WAITING, "cancelled"): S.CANCELLED,
        (S.COMPLETED, "revised"): S.PENDING,
        (S.COMPLETED, "outdated"): S.PENDING,
        (S.COMPLETED_WITH_WARNINGS, "accepted"): S.COMPLETED_WITH_WARNINGS,  # somebody has looked, and takes it
        (S.COMPLETED_WITH_WARNINGS, "revised"): S.PENDING,
        (S.COMPLETED_WITH_WARNINGS, "outdated"): S.PENDING,
        (S.PARTIAL_COMPLETION, "accepted"): S.COMPLETED_WITH_WARNINGS,
        (S.PARTIAL_COMPLETION, "retried"): S.PENDING,
        (S.PARTIAL_COMPLETION, "revised"): S.PENDING,
        (S.PARTIAL_COMPLETION, "outdated"): S.PENDING,
        (S.PARTIAL_COMPLETION, "skipped"): S.SKIPPED,
        (S.PARTIAL_COMPLETION, "cancelled"): S.CANCELLED,
        (S.FAILED, "retried"): S.PENDING,
        (S.FAILED, "revised"): S.PENDING,
        (S.FAILED, "skipped"): S.SKIPPED,
        (S.SKIPPED, "retried"): S.PENDING,
        (S.SKIPPED, "revised"): S.PENDING,
        (S.SKIPPED, "reopened"): S.PENDING,  # what it was skipped for goes on after all
    },
)

# What a task in this state may come to wait for.
MAY_WAIT: Mapping[TaskState, frozenset[WaitingFor]] = {
    S.PENDING: frozenset({WaitingFor.APPROVAL, WaitingFor.BLOCKED, WaitingFor.DECISION}),
    S.RUNNING: frozenset(WaitingFor),
    S.VERIFYING: frozenset({WaitingFor.APPROVAL, WaitingFor.DECISION}),
}
# What is done only to a task that waits for a decision: other waits have no work that could be taken as it is.
DECIDED = frozenset({"accepted"})

DONE = frozenset({S.COMPLETED, S.COMPLETED_WITH_WARNINGS})  # dependents go on
LOST = frozenset({S.FAILED, S.SKIPPED, S.CANCELLED})  # dependents are skipped
ENDED = DONE | LOST  # in any other state dependents wait


class Position(NamedTuple):
    """Where a task stands; `waiting_for` is said of one that waits, and of no other."""

    state: TaskState
    waiting_for: WaitingFor | None = None


def events_from(position: Position) -> list[str]:
    """What can happen to a task that stands here."""
    events = TASK.events_from(position.state)
    if position.state is S.WAITING and position.waiting_for is not WaitingFor.DECISION:
        return [event for event in events if event not in DECIDED]
    return events


def move(position: Position, event: str, waiting_for: WaitingFor | None = None) -> Position:
    """Where a task stands after an event. A Conflict says what is allowed instead; `held` needs to be told for what."""
    state = TASK.after(position.state, event)
    if event not in events_from(position):
        raise Conflict(
            f"the task is waiting for {position.waiting_for}: it cannot be {event}",
            code="illegal_move",
            found=f"{position.state} for {position.waiting_for}",
            allowed=events_from(position),
        )
    allowed = MAY_WAIT.get(position.state, frozenset()) if state is S.WAITING else frozenset({None})
    if waiting_for not in allowed:
        wanted = [each.value for each in WaitingFor if each in allowed]
        raise Invalid(
            f"a {position.state} task that is {event} waits for {waiting_for or 'nothing'}; "
            f"allowed: {' or '.join(wanted) or 'nothing'}",
            code="waiting_for",
            pointer="/waiting_for",
            found=waiting_for,
            allowed=wanted,
        )
    return Position(state, waiting_for)


# ---- what its end means for others -----------------------------------------------------------------------------------


class Dependent(NamedTuple):
    """A task that waits for the one that ended: `open_blockers` are those that were not done before."""

    id: str
    state: TaskState
    open_blockers: int


class Lost(NamedTuple):
    """A task that ended without being done; `first` is the one that others were skipped for, if it was skipped so."""

    id: str
    state: TaskState
    first: Lost | None = None


class Skip(NamedTuple):
    id: str
    reason: str


class Effects(NamedTuple):
    """What the end of a task does: dependents that can begin, that wait for others still, and that are skipped."""

    ready: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    skipped: tuple[Skip, ...] = ()


def effects_of(ended: Lost | str, dependents: Iterable[Dependent]) -> Effects:
    """Of a task that is done (its id) or lost, on its direct dependents. Those that are past pending are left alone."""
    pending = [each for each in dependents if each.state is S.PENDING]
    if isinstance(ended, Lost):
        reason = _reason(ended)
        return Effects(skipped=tuple(Skip(each.id, reason) for each in pending))
    return Effects(
        ready=tuple(each.id for each in pending if each.open_blockers <= 1),
        waiting=tuple(each.id for each in pending if each.open_blockers > 1),
    )


def _reason(lost: Lost) -> str:
    first = lost.first
    because = f", since {first.id} {_HOW[first.state]}" if first is not None else ""
    return f"it depends on {lost.id}, which {_HOW[lost.state]}{because}"


_HOW = {S.FAILED: "failed", S.SKIPPED: "was skipped", S.CANCELLED: "was cancelled"}
