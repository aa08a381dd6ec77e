"""Where a task's turn stands, as its dispatch and its session show it, and what follows for the task. Pure, but for the
one read.

Nothing is taken from a client's word: a turn is over when its envelope was accepted, when a person is asked about it,
or when its session is over and nothing of it is on its way. Called by the stint of a task, whenever one of these may
have changed, and for tasks that wait.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, Row, select

from gemba.escalations.store import escalations
from gemba.handoff import dispatches, handoffs
from gemba.handoff.handoffs import HandoffState
from gemba.handoff.status import PlanStatus
from gemba.sessions import runs
from gemba.sessions.session import Lifecycle
from gemba.sessions.store import sessions
from gemba.teams.task import WaitingFor

_ALIVE = (Lifecycle.STARTING, Lifecycle.RUNNING)
_WAITS = {
    PlanStatus.NEEDS_INPUT: WaitingFor.INPUT,
    PlanStatus.BLOCKED: WaitingFor.BLOCKED,
    PlanStatus.APPROVAL_REQUEST: WaitingFor.APPROVAL,
}


class Standing(NamedTuple):
    """`turn` is the dispatch's, `begun` the one that the task's session was started for or told of; `refusal` is what
    the agent was told of its last envelope, where that was refused."""

    turn: int
    begun: int
    status: PlanStatus | None = None
    accepted: bool = False  # an envelope of this turn
    complete: bool = False
    checking: bool = False
    asked: str | None = None  # the escalation about this turn that nobody has settled
    refusal: str | None = None
    over: bool = False  # its session
    awaited: bool = False  # something of its session is still on its way
    how: str = ""  # its session ended


Kind = Literal["verify", "wait", "go_on", "next", "repair", "broken"]


class Next(NamedTuple):
    """What follows: the gate; a person; the next turn, in which the agent goes on, reads an answer or mends its
    envelope; an attempt that broke."""

    kind: Kind
    waiting_for: WaitingFor | None = None
    words: str = ""
    escalation_id: str | None = None


def next_of(known: Standing) -> Next | None:
    """None as long as the turn goes on."""
    if known.checking:
        return None
    if known.complete:
        return Next("verify")
    if known.accepted and known.status is not None:
        if known.status is PlanStatus.IN_PROGRESS:
            return Next("go_on")
        if (waits := _WAITS.get(known.status)) is not None:
            return Next("wait", waits, escalation_id=known.asked)
    if known.turn > known.begun:
        return Next("next")
    if known.asked is not None and known.refusal is not None:
        return Next("wait", WaitingFor.BLOCKED, known.refusal, known.asked)
    if known.over and not known.awaited:
        return Next("broken", words=known.how) if known.refusal is None else Next("repair", words=known.refusal)
    return None


def read(connection: Connection, session_id: str, dispatch_id: str, begun: int) -> Standing:
    dispatch = dispatches.get(connection, dispatch_id)
    last = _last_handoff(connection, dispatch)
    is_refused = last is not None and last.state == HandoffState.REFUSED
    over, how = _session(connection, session_id)
    accepted = None if dispatch.accepted_id is None else handoffs.find(connection, dispatch.accepted_id)
    return Standing(
        turn=dispatch.turn,
        begun=begun,
        status=None if dispatch.status is None else PlanStatus(dispatch.status),
        accepted=accepted is not None and accepted.turn == dispatch.turn,
        complete=dispatch.completed_at is not None,
        checking=handoffs.checking(connection, dispatch_id) is not None,
        asked=_asked(connection, None if last is None else last.escalation_id),
        refusal=last.told or "it was refused" if is_refused and last is not None else None,
        over=over,
        awaited=over and _is_awaited(connection, session_id),
        how=how,
    )


def _last_handoff(connection: Connection, dispatch: Row[Any]) -> Row[Any] | None:
    """Of this turn."""
    table = handoffs.handoffs
    mine = select(table).where(table.c.dispatch_id == dispatch.id, table.c.turn == dispatch.turn)
    return connection.execute(mine.order_by(table.c.judged_at.desc(), table.c.id.desc()).limit(1)).first()


def _asked(connection: Connection, escalation_id: str | None) -> str | None:
    open_ = (escalations.c.id == escalation_id, ~escalations.c.resolved)
    id: str | None = (
        None if escalation_id is None else connection.execute(select(escalations.c.id).where(*open_)).scalar()
    )
    return id


def _session(connection: Connection, session_id: str) -> tuple[bool, str]:
    """Whether it is over, and how it ended."""
    run = runs.find(connection, session_id)
    columns = (sessions.c.lifecycle, sessions.c.close_reason)
    session = connection.execute(select(*columns).where(sessions.c.id == session_id)).first()
    if run is None or session is None:
        return True, "its session is gone"
    if run.ended_at is None and session.lifecycle in _ALIVE:
        return False, ""
    why = run.trouble or session.close_reason or session.lifecycle
    code = "" if run.code in (None, 0) else f", exit code {run.code}"
    return run.ended_at is not None, f"its session ended ({why}{code}) without handing over"


def typable(connection: Connection, session_id: str | None) -> str | None:
    """The session, if it lives and somebody can type to it."""
    run = None if session_id is None else runs.find(connection, session_id)
    if run is None or run.ended_at is not None or not run.wanted or runs.agent_of(run).headless:
        return None
    return session_id


def _is_awaited(connection: Connection, session_id: str) -> bool:
    """A person is asked something that the agent asked before it ended."""
    mine = (escalations.c.session_id == session_id, ~escalations.c.resolved)
    return connection.execute(select(escalations.c.id).where(*mine).limit(1)).first() is not None
