"""Notifications as rows: written with the reminder they belong to, and marked when they were sent or could not be.

A row names what is told, to which channel, for which reminder; a flow of its own (`flows.py`) sends it. Like asks that
wait together are told of once, by the first of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Index,
    Integer,
    Row,
    Table,
    Text,
    delete,
    func,
    select,
    update,
)

from gemba import clock
from gemba.escalations.escalation import State
from gemba.escalations.notify import Notice
from gemba.escalations.store import escalations, find
from gemba.event import Draft
from gemba.flows import wanted
from gemba.flows.wanted import Call
from gemba.store.database import Transaction
from gemba.store.schema import metadata

notices = Table(
    "notices",
    metadata,
    Column("id", Text, primary_key=True),
    Column("escalation_id", Text, nullable=False),
    Column("number", Integer, nullable=False),  # of the reminder
    Column("channel", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("ok", Boolean),  # NULL: it is being sent, or was when its process died
    Column("note", Text),
    Index("notices_by_escalation", "escalation_id", "at"),
    Index("notices_by_outcome", "ok", "at"),
)


def tell(tx: Transaction, row: Row[Any], since: int, number: int, channels: Sequence[str]) -> None:
    """Have these channels told of a reminder, unless they are told of a like ask that waits for longer."""
    if _is_told_of(tx.connection, row.group_id, row.id):
        return
    told = [
        # One that waits again is counted anew, so the moment is part of the notice's id.
        {
            "id": f"{row.id}/{since}/{number}/{channel}",
            "escalation_id": row.id,
            "number": number,
            "channel": channel,
            "at": tx.now,
        }
        for channel in channels
    ]
    tx.insert_new(notices, told, "id")
    wanted.want(tx, "notify", [Call(f"notify/{notice['id']}", {"notice_id": notice["id"]}) for notice in told])


def notice_of(connection: Connection, notice_id: str) -> dict[str, Any] | None:
    """What to tell and where, unless it was told, or nobody waits any more."""
    given = connection.execute(select(notices).where(notices.c.id == notice_id)).first()
    row = None if given is None else find(connection, given.escalation_id)
    if given is None or row is None or row.resolved or given.ok:
        return None
    in_group = (escalations.c.group_id == row.group_id, ~escalations.c.resolved)
    notice = Notice(
        id=row.id,
        kind=row.kind,
        urgency=row.urgency,
        words=row.title or row.text,
        agent_type=row.agent_type,
        session_id=row.session_id,
        waited=max(clock.now() - row.opened_at, 0),
        number=given.number,
        others=connection.execute(select(func.count()).select_from(escalations).where(*in_group)).scalar_one() - 1,
    )
    return {"told": msgspec.to_builtins(notice), "channel": given.channel}


def end_notice(tx: Transaction, notice_id: str, ok: bool, problem: str | None) -> int:
    """Note how it went, once when it went well; when that was."""
    is_it = notices.c.id == notice_id
    notice = tx.connection.execute(select(notices).where(is_it)).first()
    if notice is None or notice.ok:
        return tx.now
    tx.connection.execute(update(notices).where(is_it).values(ok=ok, note=problem))
    row = find(tx.connection, notice.escalation_id)
    told = {"number": notice.number, "channel": notice.channel, "ok": ok, "problem": problem}
    tx.emit(Draft("escalation.notified", told, None if row is None else row.session_id, notice.escalation_id))
    return tx.now


class FailedNotices(NamedTuple):
    """Notifications that did not arrive: how many, and what became of the last one."""

    many: int
    last: str | None


def failed_notices(connection: Connection, since: int) -> FailedNotices:
    failed = (notices.c.ok.is_(False), notices.c.at >= since)
    many = connection.execute(select(func.count()).where(*failed)).scalar_one()
    last = connection.execute(select(notices.c.note).where(*failed).order_by(notices.c.at.desc()).limit(1)).scalar()
    return FailedNotices(many, last)


def prune(tx: Transaction, older_than: int) -> None:
    """Forget what was told long ago; what is not known to have been told is kept."""
    tx.connection.execute(delete(notices).where(notices.c.ok.is_not(None), notices.c.at < older_than))


def _is_told_of(connection: Connection, group_id: str, id: str) -> bool:
    """Does the first of its group wait unseen, with reminders of its own?"""
    first = None if group_id == id else find(connection, group_id)
    return first is not None and first.state == State.OPEN and first.watched_since is not None
