"""How a start ends: pure decision, and what follows from it for the item.

An item whose dispatch is complete goes to review, never further. One whose session is over and that is not handed in
goes back to where it was, free for everybody; it is not started by itself again before somebody has changed it. What
somebody else took in hand meanwhile is left to them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, select

from gemba import clock
from gemba.autodispatch import store
from gemba.autodispatch.start import LEASE_SECONDS, StartState
from gemba.errors import GembaError
from gemba.escalations.store import escalations
from gemba.event import Draft
from gemba.handoff import audit, dispatches
from gemba.handoff.handoffs import HandoffState, handoffs
from gemba.sessions import runs
from gemba.sessions.inputs import InputState, inputs
from gemba.sessions.session import Lifecycle
from gemba.sessions.store import get_session
from gemba.store.database import Transaction
from gemba.work.claiming import ExtendClaim, ReleaseClaim, extend_claim, release_claim
from gemba.work.item import FINISHED, Cause, State
from gemba.work.items import alone, get, is_claimed
from gemba.work.store import ChangeItem, change_item

_ALIVE = (Lifecycle.STARTING, Lifecycle.RUNNING)
_EXTEND_BELOW = LEASE_SECONDS * clock.SECOND // 2


class Standing(NamedTuple):
    """What is known of a start that is not over: its item, its dispatch, its session."""

    item_state: State
    owner: str | None  # who has the claim, if anybody
    session_id: str
    is_complete: bool = False  # its dispatch
    is_over: bool = False  # its session, with nothing on its way
    how: str = ""  # that ended, and the dispatch's status then


class Outcome(NamedTuple):
    event: str
    trouble: str | None = None


def outcome_of(known: Standing) -> Outcome | None:
    """None as long as it goes on."""
    if known.item_state in FINISHED or known.item_state is State.REVIEW:
        return Outcome("done")
    if known.item_state is not State.IN_PROGRESS:
        return Outcome("left", f"somebody made the item {known.item_state}")
    if known.owner not in (None, known.session_id):
        return Outcome("left", f"{known.owner} has claimed the item")
    if known.is_complete:
        return Outcome("done")
    if known.is_over:
        return Outcome("failed", known.how)
    return None


def settle(tx: Transaction, id: str) -> None:
    """End a start that is over, with what follows for its item; one that goes on keeps its claim."""
    alone(tx)
    row = store.get_locked(tx, id)
    if row.state != StartState.STARTED:
        return
    tx.cause = Cause("run", row.session_id)
    item = get(tx.connection, row.item_id)
    outcome = outcome_of(_standing(tx.connection, row, item, tx.now))
    if outcome is not None:
        _end(tx, row, item, outcome)
    elif _claim_ends_soon(item, tx.now):
        _keep_claim(tx, row)


def is_due(connection: Connection, row: Row[Any], now: int) -> bool:
    """Whether there is something to settle."""
    item = get(connection, row.item_id)
    return outcome_of(_standing(connection, row, item, now)) is not None or _claim_ends_soon(item, now)


def _claim_ends_soon(item: Row[Any], now: int) -> bool:
    """Of a claim that a person gave back there is nothing to extend."""
    return item.claimed_until is not None and item.claimed_until - now < _EXTEND_BELOW


def _standing(connection: Connection, row: Row[Any], item: Row[Any], now: int) -> Standing:
    session = get_session(connection, row.session_id)
    run = runs.find(connection, row.session_id)
    given = dispatches.find(connection, row.dispatch_id)
    over = session.lifecycle not in _ALIVE or run is None or run.ended_at is not None or _is_unheard(connection, row)
    status = "without a word" if given is None or given.status is None else given.status
    why = (run.trouble if run is not None else None) or session.close_reason or session.lifecycle
    return Standing(
        item_state=State(item.state),
        owner=item.claimed_by if is_claimed(item, now) else None,
        session_id=row.session_id,
        is_complete=given is not None and given.completed_at is not None,
        is_over=over and not _is_waited_for(connection, row.session_id),
        how=f"its session ended ({why}), and its dispatch stands {status}",
    )


def _is_waited_for(connection: Connection, session_id: str) -> bool:
    """Whether a person, or the check of a handoff, still decides how it ended. An answer to one that is over is read by
    nobody."""
    asked = select(escalations.c.id).where(escalations.c.session_id == session_id, ~escalations.c.resolved)
    table = handoffs.c
    checked = select(table.id).where(table.session_id == session_id, table.state == HandoffState.CHECKING)
    return any(connection.execute(query.limit(1)).first() is not None for query in (asked, checked))


def _is_unheard(connection: Connection, row: Row[Any]) -> bool:
    """Whether what a living session was to be told could not be typed."""
    table = inputs.c
    mine = (table.session_id == row.session_id, table.at == row.started_at, table.state == InputState.NOT_TYPED)
    return row.living and connection.execute(select(table.id).where(*mine).limit(1)).first() is not None


def _end(tx: Transaction, row: Row[Any], item: Row[Any], outcome: Outcome) -> None:
    trouble, version = outcome.trouble, None
    try:
        with tx.part():
            if outcome.event == "done" and item.state == State.IN_PROGRESS:
                change_item(tx, ChangeItem(state=State.REVIEW), id=item.id)
            elif outcome.event == "failed":
                version = _put_back(tx, row, item)
    except GembaError as error:  # a purview asks about that too
        trouble = "; ".join(filter(None, (trouble, error.message)))
    row = store.move(tx, row, outcome.event, trouble=trouble, ended_at=tx.now, item_version=version)
    told = store.told(row)
    tx.emit(Draft("auto.ended", told, row.session_id, row.id))
    audit.record(tx, "auto.ended", row.id, told)


def _put_back(tx: Transaction, row: Row[Any], item: Row[Any]) -> int:
    """The item's version after that."""
    if is_claimed(item, tx.now) and item.claimed_by == row.session_id:
        release_claim(tx, ReleaseClaim(row.session_id), id=item.id)
    return change_item(tx, ChangeItem(state=State(row.item_state)), id=item.id).version


def _keep_claim(tx: Transaction, row: Row[Any]) -> None:
    extend_claim(tx, ExtendClaim(row.session_id, LEASE_SECONDS), id=row.item_id)
