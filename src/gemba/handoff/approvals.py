"""The approvals table: sealed requests and their grants, as rows, as they are shown, and how they are found.

What moves them is in `requests` and `grants`. `call_key` is a digest of what a call is, by which a call finds its
request; `live_key` is unique and there as long as a request waits or its grant is unused, so that one call has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Index,
    Integer,
    Row,
    Table,
    Text,
    exists,
    select,
)

from gemba import clock, typed
from gemba.event import Draft
from gemba.handoff import audit
from gemba.handoff.approval import GrantState, RequestState
from gemba.handoff.seal import Sealed, digest
from gemba.store import rows
from gemba.store.database import Transaction
from gemba.store.schema import metadata

approvals = Table(
    "approvals",
    metadata,
    Column("id", Text, primary_key=True),
    Column("state", Text, nullable=False),
    Column("command", Text, nullable=False),
    Column("cwd", Text, nullable=False),
    Column("environment", Text, nullable=False),  # names, as JSON
    Column("tool", Text, nullable=False),
    Column("requester", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("risk", Text, nullable=False),
    Column("reason", Text, nullable=False),  # why it has this risk
    Column("rollback", Text, nullable=False),
    Column("verification", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),  # of the request and of its grant
    Column("set_id", Text),
    Column("position", Integer),
    Column("superseded_by", Text),
    Column("decided_at", BigInteger),
    Column("decided_by", Text),
    Column("confirmed_by", Text),  # the second person, where a policy wants one
    Column("decision_reason", Text),
    Column("told_at", BigInteger),  # when the requester that came back heard of it
    Column("escalation_id", Text, nullable=False),
    Column("grant_state", Text),
    Column("consumed_at", BigInteger),
    Column("outcome", Text),
    Column("outcome_at", BigInteger),
    Column("call_key", Text, nullable=False),
    Column("live_key", Text),
    Index("approvals_by_age", "created_at", "id"),
    Index("approvals_by_state", "state", "created_at", "id"),
    Index("approvals_by_call", "call_key", "created_at"),
    Index("approvals_live", "live_key", unique=True),
    Index("approvals_by_escalation", "escalation_id", "position"),
    Index("approvals_by_set", "set_id", "position"),
    Index("approvals_by_grant", "grant_state", "session_id", "consumed_at"),
)

_earlier = approvals.alias("earlier")
# In a plan each waits for those before it: all of them used, and none of them failed.
IN_ORDER = ~exists(
    select(_earlier.c.id).where(
        _earlier.c.set_id == approvals.c.set_id,
        _earlier.c.position < approvals.c.position,
        _earlier.c.state != RequestState.SUPERSEDED,
        _earlier.c.grant_state.is_(None) | _earlier.c.grant_state.in_((GrantState.UNUSED, GrantState.FAILED)),
    )
)


class Call(msgspec.Struct, frozen=True):
    """What an agent is about to run: exactly what a grant is bound to."""

    command: str
    cwd: str
    requester: str
    tool: str

    @property
    def key(self) -> str:
        return digest("call", msgspec.structs.asdict(self))


class Approval(msgspec.Struct, frozen=True):
    """A request and its grant as the API, the page and the command line show them."""

    id: str
    state: RequestState
    command: str
    cwd: str
    environment: list[str]
    tool: str
    requester: str
    session_id: str
    risk: str
    reason: str
    rollback: Any
    verification: Any
    hash: str
    created_at: str
    expires_at: str
    set_id: str | None
    position: int | None
    superseded_by: str | None
    decided_at: str | None
    decided_by: str | None
    confirmed_by: str | None
    decision_reason: str | None
    escalation_id: str
    grant_state: GrantState | None
    consumed_at: str | None
    outcome: str | None
    outcome_at: str | None


def find(connection: Connection, id: str) -> Row[Any] | None:
    return rows.find(connection, approvals, id)


def get(connection: Connection, id: str) -> Row[Any]:
    return rows.get(connection, approvals, id, "approval")


def get_locked(tx: Transaction, id: str) -> Row[Any]:
    return rows.get_locked(tx, approvals, id, "approval")


def of_escalation(tx: Transaction, escalation_id: str) -> Sequence[Row[Any]]:
    """The requests that an escalation asks about and that nobody has decided, in the order of their plan."""
    rows = select(approvals).where(
        approvals.c.escalation_id == escalation_id, approvals.c.state == RequestState.PENDING
    )
    return tx.connection.execute(rows.order_by(approvals.c.position, approvals.c.id).with_for_update()).all()


def approved_by(tx: Transaction, escalation_id: str) -> Sequence[Row[Any]]:
    """What the answer to an escalation approved, in the order of its plan."""
    rows = select(approvals).where(
        approvals.c.escalation_id == escalation_id, approvals.c.state == RequestState.APPROVED
    )
    return tx.connection.execute(rows.order_by(approvals.c.position, approvals.c.id).with_for_update()).all()


def of_set(connection: Connection, set_id: str) -> Sequence[Row[Any]]:
    """The plan as it is now: what was edited is in it as it was edited."""
    rows = select(approvals).where(approvals.c.set_id == set_id, approvals.c.state != RequestState.SUPERSEDED)
    return connection.execute(rows.order_by(approvals.c.position)).all()


def list_approvals(
    connection: Connection,
    states: Sequence[str],
    limit: int,
    before: tuple[int, str] | None,
    *,
    escalation_id: str | None = None,
) -> tuple[list[Approval], int, tuple[int, str] | None]:
    """Newest first, of one escalation or of all: (a page, how many there are in all, where the next page starts)."""
    chosen: list[ColumnElement[bool]] = [approvals.c.state.in_(states)] if states else []
    if escalation_id is not None:
        chosen.append(approvals.c.escalation_id == escalation_id)
    page = rows.newest(connection, approvals.c.created_at, limit, before, chosen)
    return [view(row) for row in page.rows], page.total, page.next


def tell_of(tx: Transaction, name: str, approval: Approval, actor: str) -> None:
    """What happened to it, with all that it is now, in the audit log; and an event for whoever waits."""
    audit.record(tx, name, approval.id, msgspec.to_builtins(approval), actor)
    said = {
        "state": approval.state,
        "risk": approval.risk,
        "by": approval.decided_by,
        "confirmed_by": approval.confirmed_by,
        "reason": approval.decision_reason,
        "superseded_by": approval.superseded_by,
        "escalation_id": approval.escalation_id,
        "grant_state": approval.grant_state,
        "outcome": approval.outcome,
    }
    tx.emit(Draft(name, said, approval.session_id, approval.id))


def sealed_of(row: Row[Any]) -> Sealed:
    """The seal as it was made, out of its row."""
    return Sealed(
        id=row.id,
        command=row.command,
        cwd=row.cwd,
        environment=tuple(typed.decode(row.environment, list[str])),
        requester=row.requester,
        tool=row.tool,
        risk=row.risk,
        rollback=msgspec.json.decode(row.rollback),
        verification=msgspec.json.decode(row.verification),
        created_at=row.created_at,
        expires_at=row.expires_at,
        set_id=row.set_id,
        position=row.position,
    )


def view(row: Row[Any]) -> Approval:
    return Approval(
        id=row.id,
        state=RequestState(row.state),
        command=row.command,
        cwd=row.cwd,
        environment=typed.decode(row.environment, list[str]),
        tool=row.tool,
        requester=row.requester,
        session_id=row.session_id,
        risk=row.risk,
        reason=row.reason,
        rollback=msgspec.json.decode(row.rollback),
        verification=msgspec.json.decode(row.verification),
        hash=row.hash,
        created_at=clock.rfc3339(row.created_at),
        expires_at=clock.rfc3339(row.expires_at),
        set_id=row.set_id,
        position=row.position,
        superseded_by=row.superseded_by,
        decided_at=clock.told(row.decided_at),
        decided_by=row.decided_by,
        confirmed_by=row.confirmed_by,
        decision_reason=row.decision_reason,
        escalation_id=row.escalation_id,
        grant_state=None if row.grant_state is None else GrantState(row.grant_state),
        consumed_at=clock.told(row.consumed_at),
        outcome=row.outcome,
        outcome_at=clock.told(row.outcome_at),
    )
