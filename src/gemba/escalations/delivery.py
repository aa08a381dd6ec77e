"""Where a reply is on its way to the agent: written, read, or neither for too long.

One flow sees to each reply until it is read: it lets the time pass in which an answer can be taken back, gives the
asker some time to read it, then says that it is undelivered and lays it down as the session's next turn, and tries
again and again, each time after a longer pause. The file itself is written by the home that the agent reads from.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, select, update

from gemba import clock
from gemba.escalations import assumptions, reply, typed_replies
from gemba.escalations.assumptions import assumptions as assumption_rows
from gemba.escalations.escalation import Delivery
from gemba.escalations.store import ON_ITS_WAY, escalations, find, set_delivery
from gemba.event import Draft
from gemba.store.database import Transaction

UNREAD = "nobody has read it yet: it waits for the agent as its next turn"
TYPED_UNREAD = "it was typed at the agent's prompt, and the agent's client has not said that it was read"

_FIRST_PAUSE = 60 * clock.SECOND
_LONGEST_PAUSE = 3_600 * clock.SECOND
ATTEMPTS = 30  # with these pauses more than a day


def pause_before(attempt: int) -> int:
    """How long to wait before an attempt, from the second on: twice as long each time, up to an hour."""
    return min(_FIRST_PAUSE << min(attempt - 2, 10), _LONGEST_PAUSE)


def on_its_way(connection: Connection, id: str, since: int) -> bool:
    """Does this delivery still matter: neither read, nor taken back, nor begun anew?"""
    row = find(connection, id)
    if row is not None:
        return row.delivery in ON_ITS_WAY and row.delivery_since == since
    assumption = _assumption(connection, id)
    return assumption is not None and assumption.delivery in ON_ITS_WAY


def release(tx: Transaction, id: str, since: int) -> None:
    """The time in which the answer could be taken back is over: it is sent."""
    still = _still_on_its_way(tx, id, since)
    row = find(tx.connection, id)
    if still and row is not None and row.held_until is not None:
        tx.connection.execute(update(escalations).where(escalations.c.id == id).values(held_until=None))
        reply.release(tx, id)
        if row.turn_session is not None and not reply.is_turn(tx, id) and not typed_replies.type_out(tx, row):
            reply.lay_down(tx, id, row.turn_session)  # nobody is there any more to type it to
        tx.emit(Draft("escalation.sent", {"attempt": 1}, row.session_id, id))


def give_up_waiting(tx: Transaction, id: str, since: int) -> bool:
    """Nobody has read it in time: say so, and lay it down as the session's next turn. False: it was read just now."""
    if not _still_on_its_way(tx, id, since):
        return False
    row = find(tx.connection, id)
    if row is None:
        assumptions.undeliverable(tx, UNREAD, assumption_rows.c.id == id)
        return True
    turn = row.turn_session or row.session_id
    is_typed = typed_replies.was_typed(tx, id)
    if not is_typed:
        reply.lay_down(tx, id, turn)
    tx.connection.execute(update(escalations).where(escalations.c.id == id).values(turn_session=turn, attempts=1))
    set_delivery(tx, row, Delivery.UNDELIVERED, row.delivery_note or (TYPED_UNREAD if is_typed else UNREAD))
    return True


def plan_attempt(tx: Transaction, id: str, since: int, attempt: int) -> int | None:
    """When the next attempt is due, shown on the card; None when there is nothing left to try."""
    if not _still_on_its_way(tx, id, since):
        return None
    due = tx.now + pause_before(attempt)
    tx.connection.execute(update(escalations).where(escalations.c.id == id).values(next_attempt_at=due))
    return due


def try_again(tx: Transaction, id: str, since: int, attempt: int) -> bool:
    """Lay the reply down once more: what deleted or missed it before may be gone."""
    if not _still_on_its_way(tx, id, since):
        return False
    row = find(tx.connection, id)
    if row is not None and row.attempts >= attempt:
        return True  # made before a crash
    reply.lay_down(tx, id)
    again = {"attempt": attempt}
    if row is None:
        assumption = _assumption(tx.connection, id)
        tx.emit(Draft("assumption.sent", again, None if assumption is None else assumption.session_id, id))
        return True
    tried = {"attempts": attempt, "next_attempt_at": None}
    tx.connection.execute(update(escalations).where(escalations.c.id == id).values(tried))
    tx.emit(Draft("escalation.sent", again, row.session_id, id))
    return True


def tell_of_writing(tx: Transaction, id: str, trouble: str | None) -> None:
    """The reply's file was written, or could not be."""
    row = find(tx.connection, id)
    if row is None:
        if trouble is not None:
            assumptions.undeliverable(tx, trouble, assumption_rows.c.id == id)
    elif trouble is not None:
        set_delivery(tx, row, Delivery.UNDELIVERED, trouble)
    elif row.delivery_note is not None and row.delivery_note.startswith(reply.NOT_WRITTEN):
        # After it could not be for a while: what is told of it is no longer true.
        set_delivery(tx, row, Delivery.UNDELIVERED, UNREAD)


def held_until(connection: Connection, id: str) -> int | None:
    row = find(connection, id)
    return None if row is None else row.held_until


def _still_on_its_way(tx: Transaction, id: str, since: int) -> bool:
    """Locked first, as everywhere before its reply: what is read at this moment is read now, or waits for us."""
    for table in (escalations, assumption_rows):
        tx.connection.execute(select(table.c.id).where(table.c.id == id).with_for_update()).first()
    return on_its_way(tx.connection, id, since)


def _assumption(connection: Connection, id: str) -> Row[Any] | None:
    return connection.execute(select(assumption_rows).where(assumption_rows.c.id == id)).first()
