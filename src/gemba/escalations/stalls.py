"""Sessions that say they work and are not heard of for too long: marked as stalled, and the operator is asked, once.

How long is too long is said by the type of their agent. Whatever is heard of the session afterwards takes the question
back. What the operator chooses is carried out in the transaction of the answer: to wait, or, of an agent that Gemba
runs, to interrupt or stop it. Called by the app now and then, by the projection, and where such a card is answered.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Row, select, update

from gemba import clock
from gemba.action import Nothing
from gemba.escalations.escalation import Reply
from gemba.escalations.raised import raise_escalation
from gemba.escalations.store import escalations, locked, settle
from gemba.event import Draft
from gemba.sessions import inputs, runs, starting
from gemba.sessions.session import Lifecycle, ReportedState
from gemba.sessions.store import project, sessions
from gemba.store.database import Transaction

KIND: Final = "stalled"
WAIT, INTERRUPT, STOP = "wait", "interrupt", "stop"

_AT_WORK = (sessions.c.lifecycle == Lifecycle.RUNNING, sessions.c.reported_state == ReportedState.WORKING)

Limit = Callable[[str], int]  # seconds of silence that a type of agent may keep, by its name; 0: any


def silent(connection: Connection, now: int, limit_of: Limit) -> Sequence[Row[Any]]:
    """The sessions that are not heard of for too long."""
    rows = connection.execute(select(sessions).where(*_AT_WORK, sessions.c.last_frame_at < now - clock.SECOND)).all()
    started = runs.of_sessions(connection, [row.id for row in rows])

    def limit(row: Row[Any]) -> int:
        run = started.get(row.id)
        return limit_of(row.agent_type) if run is None else runs.agent_of(run).limits.stalled_after_seconds

    return [row for row in rows if (most := limit(row)) and now - row.last_frame_at >= most * clock.SECOND]


def mark(tx: Transaction, seen: Row[Any]) -> None:
    """Unless it was heard of since it was looked at."""
    same = (sessions.c.id == seen.id, sessions.c.last_frame_at == seen.last_frame_at)
    if tx.connection.execute(select(sessions.c.id).where(*same, *_AT_WORK).with_for_update()).first() is None:
        return
    words = f"It says that it works, and nothing was heard of it for {_span(tx.now - seen.last_frame_at)}."
    stalled = {"state": ReportedState.STALLED.value, "bead_id": seen.bead_id, "note": words}
    draft = Draft("session_state_reported", stalled, seen.id)
    tx.emit(draft)
    project(tx, [draft])
    text = f"{words}\n\nIts last words: {seen.note}" if seen.note else words
    run = runs.find(tx.connection, seen.id)
    options = (WAIT, INTERRUPT, STOP) if run is not None and run.ended_at is None else (WAIT,)
    about = {"title": f"{seen.id} seems to be stuck", "bead_id": seen.bead_id, "agent_type": seen.agent_type}
    raise_escalation(tx, KIND, text, session_id=seen.id, options=options, waiting=False, **about)


def heard_again(tx: Transaction, session_ids: Collection[str]) -> None:
    """Nobody has to be asked about these any more."""
    about = (escalations.c.session_id.in_(session_ids), ~escalations.c.resolved, escalations.c.kind == KIND)
    for row in locked(tx, *about):
        settle(tx, row, "withdrawn", Reply("withdrawn", "it was heard of again", "session"))
        _works(tx, row.session_id)


def carry_out(tx: Transaction, row: Row[Any], action: str | None) -> None:
    """What the operator chose on the card. To wait is to count from now on."""
    if action == WAIT:
        tx.connection.execute(update(sessions).where(sessions.c.id == row.session_id).values(last_frame_at=tx.now))
        _works(tx, row.session_id)
    elif action == INTERRUPT:
        inputs.interrupt(tx, Nothing(), id=row.session_id)
    elif action == STOP:
        starting.stop_session(tx, Nothing(), id=row.session_id)


def _works(tx: Transaction, session_id: str) -> None:
    stalled = (sessions.c.id == session_id, sessions.c.reported_state == ReportedState.STALLED)
    tx.connection.execute(update(sessions).where(*stalled).values(reported_state=ReportedState.WORKING))


def _span(microseconds: int) -> str:
    minutes = microseconds // (60 * clock.SECOND)
    return f"{minutes} minutes" if minutes > 1 else "a minute" if minutes else "some seconds"
