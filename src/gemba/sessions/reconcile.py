"""What has to be done so that what runs is what is wanted. Pure: rows and observations in, steps out.

First the redundant is stopped, then the missing is started, so that two never work where one should. The same steps
come out of the same facts, whoever asks and however often: after a crash the plan is made anew from what is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from gemba.sessions.backends.backend import EndedBy, Observation, Seen
from gemba.sessions.session import Lifecycle

CloseReason = Literal[
    "provider_exit",  # it ended by itself
    "operator_stop",  # a person, or whoever acts for one, stopped it
    "time_limit",
    "not_started",  # it could not be
    "killed",  # by a signal that was not ours
    "pane_gone",  # somebody closed its pane
    "terminal_died",  # the tmux server is gone
]


class Run(NamedTuple):
    """A run that somebody wanted and that has not ended, as the store has it."""

    session_id: str
    run_id: str
    wanted: bool  # False: it is to stop
    started: bool  # it was seen to run


class Found(NamedTuple):
    """A run that is there, as its backend sees it."""

    run_id: str
    observation: Observation


class Ending(NamedTuple):
    """How a run ended: where its session goes, and why."""

    session_id: str
    to: Lifecycle
    reason: CloseReason
    code: int | None = None
    signal: int | None = None


class Plan(NamedTuple):
    """In this order."""

    stops: list[str]  # sessions whose run goes on though nobody wants it
    ends: list[Ending]
    running: list[str]  # sessions that have come up
    starts: list[str]


def plan(runs: Sequence[Run], found: Mapping[str, Found]) -> Plan:
    """`found` is what lies in the home of these runs, by session; another run than the one that is wanted is redundant,
    as is one of no row (`unknown_runs` sees to those)."""
    made = Plan([], [], [], [])
    known = {run.session_id: run for run in runs}
    for session_id, there in found.items():
        if there.observation.seen is Seen.RUNNING and not _is_wanted(known.get(session_id), there):
            made.stops.append(session_id)
    for run in runs:
        mine = found.get(run.session_id)
        _decide(made, run, mine.observation if mine is not None and mine.run_id == run.run_id else None)
    return made


def _is_wanted(run: Run | None, there: Found) -> bool:
    return run is not None and run.wanted and run.run_id == there.run_id


def _decide(made: Plan, run: Run, seen: Observation | None) -> None:
    if seen is not None and seen.seen is Seen.RUNNING:
        if not run.started:
            made.running.append(run.session_id)
    elif seen is not None:
        made.ends.append(ending(run, seen))
    elif not run.wanted:
        made.ends.append(Ending(run.session_id, Lifecycle.STOPPED, "operator_stop"))
    elif run.started:  # and not even its folder is there
        made.ends.append(Ending(run.session_id, Lifecycle.LOST, "killed"))
    else:
        made.starts.append(run.session_id)


def ending(run: Run, seen: Observation) -> Ending:
    """What the end of a run means for its session. What we stopped is stopped, however it went down."""
    to, reason = _meaning(seen) if run.wanted else (Lifecycle.STOPPED, "operator_stop")
    return Ending(run.session_id, to, reason, seen.code, seen.signal)


def _meaning(seen: Observation) -> tuple[Lifecycle, CloseReason]:
    if seen.ended_by is EndedBy.STOP:
        return Lifecycle.STOPPED, "operator_stop"
    if seen.ended_by is EndedBy.TIME:
        return Lifecycle.FAILED, "time_limit"
    if seen.ended_by is EndedBy.START:
        return Lifecycle.FAILED, "not_started"
    match seen.seen:
        case Seen.VANISHED:
            return Lifecycle.LOST, "pane_gone"
        case Seen.SERVER_DIED:
            return Lifecycle.LOST, "terminal_died"
        case Seen.KILLED:
            return Lifecycle.FAILED, "killed"
        case _:
            return (Lifecycle.COMPLETED if seen.code == 0 else Lifecycle.FAILED), "provider_exit"
