"""Starts as rows and as they are shown, and their moves. A move commits only where the state is what it was decided on.

Called by whoever chooses, gives and ends, and by the reads.
"""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import Connection, Row, select, update

from gemba import clock, typed
from gemba.autodispatch.start import OPEN, START, AutoStart, StartState
from gemba.autodispatch.tables import starts
from gemba.errors import Conflict
from gemba.store import rows
from gemba.store.database import Transaction
from gemba.work.selection import Line


def find(connection: Connection, id: str) -> Row[Any] | None:
    return rows.find(connection, starts, id)


def get_locked(tx: Transaction, id: str) -> Row[Any]:
    return rows.get_locked(tx, starts, id, "start")


def list_open(connection: Connection, workspace: str, origin: str) -> list[Row[Any]]:
    """Those of this home that are not over, the eldest first."""
    mine = (starts.c.workspace == workspace, starts.c.state.in_(OPEN), starts.c.origin == origin)
    return list(connection.execute(select(starts).where(*mine).order_by(starts.c.created_at, starts.c.id)))


def list_starts(
    connection: Connection, workspace: str, limit: int, before: rows.Place | None
) -> tuple[list[AutoStart], int, rows.Place | None]:
    """Newest first: (a page, how many there are in all, where the next page starts)."""
    page = rows.newest(connection, starts.c.created_at, limit, before, (starts.c.workspace == workspace,))
    return [view(row) for row in page.rows], page.total, page.next


def move(tx: Transaction, row: Row[Any], event: str, **values: Any) -> Row[Any]:
    state = START.after(StartState(row.state), event)
    this = update(starts).where(starts.c.id == row.id, starts.c.state == row.state)
    if tx.connection.execute(this.values(state=state, **values)).rowcount != 1:
        raise Conflict("the start was changed meanwhile", code="changed_meanwhile", found=row.state)
    return rows.get(tx.connection, starts, row.id, "start")


def told(row: Row[Any]) -> dict[str, Any]:
    """An event's payload: the start as it is shown."""
    shown: dict[str, Any] = msgspec.to_builtins(view(row))
    return shown


def view(row: Row[Any]) -> AutoStart:
    return AutoStart(
        id=row.id,
        state=StartState(row.state),
        item_id=row.item_id,
        title=row.title,
        session_id=row.session_id,
        agent_type=row.agent_type,
        living=row.living,
        because=row.because,
        score=row.score,
        reasons=typed.decode(row.reasons, list[Line]),
        dispatch_id=row.dispatch_id,
        trouble=row.trouble,
        created_at=clock.rfc3339(row.created_at),
        started_at=clock.told(row.started_at),
        ended_at=clock.told(row.ended_at),
    )
