"""Assumptions: recorded from frames, listed for the operator, overturned by one."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Index,
    Row,
    Table,
    Text,
    update,
)

from gemba import clock
from gemba.action import Action
from gemba.errors import Conflict, Invalid
from gemba.escalations import reply
from gemba.escalations.answer import checked_text
from gemba.escalations.assumption import Assumption, Overturned
from gemba.escalations.escalation import Delivery
from gemba.event import Draft
from gemba.flows import wanted
from gemba.flows.wanted import Call
from gemba.store import rows
from gemba.store.database import Transaction
from gemba.store.schema import metadata

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
    Column("origin", Text, nullable=False),  # the home that its session writes to
    Index("assumptions_by_age", "recorded_at", "id"),
    Index("assumptions_by_delivery", "delivery", "overturned_at"),
    Index("assumptions_by_session", "session_id", "recorded_at", "id"),
)


class Decided(msgspec.Struct, frozen=True):
    """The operator's other decision as a reply's words."""

    text: str
    outcome: str = "overturned"
    option: int | None = None
    value: Any = msgspec.UNSET


class Overturn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to do instead."""

    text: str


def record(tx: Transaction, draft: Draft, origin: str) -> None:
    payload = draft.payload
    row = {
        "id": draft.ref,
        "session_id": draft.session_id,
        **{name: payload[name] for name in ("agent_type", "role", "text", "chose", "bead_id", "cwd", "branch")},
        "commit_hash": payload["commit"],
        "recorded_at": clock.parse_past(payload["asked_at"], tx.now),
        "delivery": Delivery.NONE,
        "origin": origin,
    }
    tx.insert_new(assumptions, [row], "id")


def overturn(tx: Transaction, body: Overturn, *, id: str) -> Assumption:
    """Decide otherwise. The words, and what was committed on the old decision, are what the agent gets."""
    text = checked_text(body.text)
    if not text:
        allowed = "what to do instead, in words"
        raise Invalid("text is empty", code="missing_field", pointer="/text", allowed=allowed)
    row = _get(tx.connection, id)
    statement = (
        update(assumptions)
        .where(assumptions.c.id == id, assumptions.c.overturned_at.is_(None))
        .values(overturned_at=tx.now, overturned_text=text, delivery=Delivery.PENDING)
    )
    if tx.connection.execute(statement).rowcount != 1:
        first = view(_get(tx.connection, id))
        raise Conflict("it was overturned already", code="already_overturned", assumption=first)
    reply.post(tx, row, Decided(text), turn=row.session_id, since=reply.Since(row.cwd, row.commit_hash))
    wanted.want(tx, "deliver", [Call(f"deliver/{id}/{tx.now}", {"id": id, "since": tx.now})])
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
    if tx.connection.execute(statement).rowcount and draft.ref is not None:
        reply.turn_over(tx, draft.ref)
        tx.emit(Draft("assumption.delivered", {}, draft.session_id, draft.ref))


def undeliverable(tx: Transaction, reason: str, *which: ColumnElement[bool]) -> None:
    """The other decision has not reached the agent, and does not look as if it would."""
    pending = (assumptions.c.delivery == Delivery.PENDING, *which)
    statement = update(assumptions).where(*pending).values(delivery=Delivery.UNDELIVERED)
    for row in tx.connection.execute(statement.returning(assumptions.c.id, assumptions.c.session_id)).all():
        tx.emit(Draft("assumption.undelivered", {"note": reason}, row.session_id, row.id))


def session_over(tx: Transaction, session_id: str) -> None:
    undeliverable(tx, "the session ended before it was read", assumptions.c.session_id == session_id)


ACTIONS = (
    Action("/api/assumptions/{id}/overturn", overturn, Overturn, Assumption, "Decide otherwise; the agent is told"),
)


def list_assumptions(
    connection: Connection, session: str | None, limit: int, before: tuple[int, str] | None
) -> tuple[list[Assumption], int, tuple[int, str] | None]:
    """Newest first: (a page, how many there are in all, where the next page starts)."""
    chosen = () if session is None else (assumptions.c.session_id == session,)
    page = rows.newest(connection, assumptions.c.recorded_at, limit, before, chosen)
    return [view(row) for row in page.rows], page.total, page.next


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
    return rows.get(connection, assumptions, id, "assumption")
