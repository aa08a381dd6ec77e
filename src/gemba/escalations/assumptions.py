"""Assumptions: recorded from frames, listed for the operator, overturned by one."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import BigInteger, Column, Connection, Index, Row, Table, Text, func, select, tuple_, update

from gemba import clock, wire
from gemba.action import Action
from gemba.errors import Conflict, Invalid, NotFound
from gemba.escalations import reply
from gemba.escalations.assumption import Assumption, Overturned
from gemba.escalations.escalation import Delivery
from gemba.event import Draft
from gemba.store.database import Transaction
from gemba.store.schema import metadata
from gemba.text import storable

assumptions = Table(
    "assumptions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("session_id", Text, nullable=False),
    Column("agent_type", Text, nullable=False),
    Column("role", Text),
    Column("text", Text, nullable=False),
    Column("chose", Text, nullable=False),
    Column("bead_id", Text),
    Column("cwd", Text),
    Column("commit_hash", Text),
    Column("branch", Text),
    Column("recorded_at", BigInteger, nullable=False),
    Column("overturned_at", BigInteger),
    Column("overturned_text", Text),
    Column("delivery", Text, nullable=False),
    Index("assumptions_by_age", "recorded_at", "id"),
    Index("assumptions_by_session", "session_id", "recorded_at", "id"),
)


class Overturn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to do instead."""

    text: str


def record(tx: Transaction, draft: Draft) -> None:
    payload = draft.payload
    row = {
        "id": draft.ref,
        "session_id": draft.session_id,
        **{name: payload[name] for name in ("agent_type", "role", "text", "chose", "bead_id", "cwd", "branch")},
        "commit_hash": payload["commit"],
        "recorded_at": min(clock.parse(payload["asked_at"]) or tx.now, tx.now),
        "delivery": Delivery.NONE,
    }
    tx.insert_new(assumptions, [row], "id")


def overturn(tx: Transaction, body: Overturn, *, id: str) -> Assumption:
    """Decide otherwise. The words, and what was committed on the old decision, are what the agent gets."""
    text = storable(body.text).strip()
    if not text or len(text) > wire.MAX_TEXT:
        raise Invalid(
            "text must say what to do instead" if not text else f"text has {len(text):,} characters",
            code="invalid_value",
            pointer="/text",
            found=len(text),
            allowed=f"1 to {wire.MAX_TEXT} characters",
        )
    row = _get(tx.connection, id)
    statement = (
        update(assumptions)
        .where(assumptions.c.id == id, assumptions.c.overturned_at.is_(None))
        .values(overturned_at=tx.now, overturned_text=text, delivery=Delivery.PENDING)
    )
    if tx.connection.execute(statement).rowcount != 1:
        first = view(_get(tx.connection, id))
        raise Conflict("it was overturned already", code="already_overturned", assumption=first)
    reply.post(tx, id, "overturned", text, since=reply.Since(row.cwd, row.commit_hash))
    tx.emit(Draft("assumption.overturned", {"text": text}, row.session_id, id))
    return view(_get(tx.connection, id))


def reply_read(tx: Transaction, draft: Draft) -> None:
    """The agent has read that it was overturned."""
    statement = (
        update(assumptions)
        .where(
            assumptions.c.id == draft.ref,
            assumptions.c.session_id == draft.session_id,
            assumptions.c.delivery.in_((Delivery.PENDING, Delivery.UNDELIVERED)),
        )
        .values(delivery=Delivery.DELIVERED)
    )
    if tx.connection.execute(statement).rowcount:
        tx.emit(Draft("assumption.delivered", {}, draft.session_id, draft.ref))


def undeliverable(tx: Transaction, id: str, reason: str) -> None:
    """The other decision could not be put where the agent would find it."""
    pending = (assumptions.c.id == id, assumptions.c.delivery == Delivery.PENDING)
    if tx.connection.execute(update(assumptions).where(*pending).values(delivery=Delivery.UNDELIVERED)).rowcount:
        tx.emit(Draft("assumption.undelivered", {"note": reason}, _get(tx.connection, id).session_id, id))


ACTIONS = (
    Action("/api/assumptions/{id}/overturn", overturn, Overturn, Assumption, "Decide otherwise; the agent is told"),
)


def list_assumptions(
    connection: Connection, session: str | None, limit: int, before: tuple[int, str] | None
) -> tuple[list[Assumption], int, tuple[int, str] | None]:
    """Newest first: (a page, how many there are in all, where the next page starts)."""
    wanted = () if session is None else (assumptions.c.session_id == session,)
    total = connection.execute(select(func.count()).select_from(assumptions).where(*wanted)).scalar_one()
    key = (assumptions.c.recorded_at, assumptions.c.id)
    query = select(assumptions).where(*wanted).order_by(*(column.desc() for column in key)).limit(limit + 1)
    if before is not None:
        query = query.where(tuple_(*key) < before)
    rows = connection.execute(query).all()
    more = len(rows) > limit
    rows = rows[:limit]
    return [view(row) for row in rows], total, (rows[-1].recorded_at, rows[-1].id) if more else None


def view(row: Row[Any]) -> Assumption:
    overturned = None
    if row.overturned_at is not None:
        overturned = Overturned(row.overturned_text, clock.rfc3339(row.overturned_at))
    return Assumption(
        id=row.id,
        session_id=row.session_id,
        agent_type=row.agent_type,
        role=row.role,
        text=row.text,
        chose=row.chose,
        bead_id=row.bead_id,
        recorded_at=clock.rfc3339(row.recorded_at),
        cwd=row.cwd,
        commit=row.commit_hash,
        branch=row.branch,
        overturned=overturned,
        delivery=Delivery(row.delivery),
    )


def _get(connection: Connection, id: str) -> Row[Any]:
    row = connection.execute(select(assumptions).where(assumptions.c.id == id)).first()
    if row is None:
        raise NotFound(f"no assumption has the id {id}", code="not_found", found=id)
    return row
