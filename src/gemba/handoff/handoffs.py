"""The handoffs table: every output envelope that was submitted, what was found about it and what came of it.

A handoff is `checking` while the world is compared with what it claims, else `accepted` or `refused`. `key` is unique:
the same envelope of the same turn is one row. What moves them is in `escalations` (`handing_over`, `accepting`,
`refusing`); here is how they are kept, found and shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Literal

import msgspec
from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Index,
    Integer,
    Row,
    Select,
    Table,
    Text,
    bindparam,
    select,
    update,
)

from gemba import clock, typed
from gemba.handoff.check import Check
from gemba.handoff.seal import digest
from gemba.handoff.status import PlanStatus
from gemba.store import rows
from gemba.store.database import Transaction
from gemba.store.schema import metadata

handoffs = Table(
    "handoffs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("key", Text, nullable=False),
    Column("dispatch_id", Text),  # none for a turn outside of a dispatch
    Column("session_id", Text),
    Column("agent_id", Text),
    Column("turn", Integer),
    Column("source", Text, nullable=False),
    Column("event", Text),
    Column("content_hash", Text, nullable=False),
    Column("document", Text),
    Column("state", Text, nullable=False),
    Column("plan_status", Text),
    Column("verdict", Text, nullable=False),
    Column("checks", Text, nullable=False),
    Column("refused_by", Text),
    Column("refusal", Text),
    Column("told", Text, nullable=False),  # what the agent reads of a refusal
    Column("applied", Text, nullable=False),
    Column("summary", Text, nullable=False),
    Column("escalation_id", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("judged_at", BigInteger, nullable=False),  # tells this judgement from one before it
    Column("concluded_at", BigInteger),
    Index("handoffs_by_key", "key", unique=True),
    Index("handoffs_by_age", "created_at", "id"),
    Index("handoffs_by_dispatch", "dispatch_id", "created_at", "id"),
    Index("handoffs_by_session", "session_id", "created_at", "id"),
    Index("handoffs_by_state", "state", "created_at", "id"),
    Index("handoffs_by_plan_status", "plan_status", "created_at", "id"),
    Index("handoffs_by_escalation", "escalation_id"),
)


class HandoffState(StrEnum):
    CHECKING = "checking"  # it claims to be complete, and the world is asked
    ACCEPTED = "accepted"
    REFUSED = "refused"  # nothing was changed by it


Source = Literal["api", "cli", "gate", "hook", "mcp"]
RefusedBy = Literal["verdict", "status", "world", "repairs_spent"]


class AppliedContract(msgspec.Struct, frozen=True):
    contract: str
    revision: int


class AppliedWarning(msgspec.Struct, frozen=True):
    pointer: str
    message: str


class Applied(msgspec.Struct, frozen=True):
    """What an accepted handoff changed: revisions of sections, ids of suggested memories, and what there is to say."""

    contracts: list[AppliedContract] = []
    memory: list[str] = []
    warnings: list[AppliedWarning] = []


class Refusal(msgspec.Struct, frozen=True):
    """Why a handoff with a valid verdict was not accepted, and which statuses would be."""

    code: str
    message: str
    allowed: list[str] = []


class VerdictFinding(msgspec.Struct, frozen=True):
    code: str
    pointer: str
    severity: str
    message: str
    hint: str


class HandoffVerdict(msgspec.Struct, frozen=True):
    """The verdict on its shape. `action` is what followed in all: accept, repair or escalate."""

    valid: bool
    plan_status: PlanStatus | None
    missing: list[str]
    invalid: list[str]
    warnings: list[str]
    findings: list[VerdictFinding]
    action: Literal["accept", "repair", "escalate"]


class Handoff(msgspec.Struct, frozen=True):
    """A handoff as the API, the page and the command line show it; in a list, without its document."""

    id: str
    dispatch_id: str | None
    session_id: str | None
    agent_id: str | None
    turn: int | None
    source: Source
    event: str | None
    content_hash: str
    state: HandoffState
    plan_status: PlanStatus | None
    verdict: HandoffVerdict
    checks: list[Check]
    refused_by: RefusedBy | None
    refusal: Refusal | None
    told: str
    applied: Applied
    summary: str
    escalation_id: str | None
    created_at: str
    concluded_at: str | None
    document: dict[str, Any] | None


def key_of(content: str, *, dispatch: tuple[str, int] | None, session_id: str | None, aside: str | None) -> str:
    """What makes two submissions the same: the content, and the turn of a dispatch or, outside of one, the session.

    `aside` is the subagent of a dispatch that handed in for itself: its words are not those of the dispatch's agent.
    """
    place = {"session": session_id} if dispatch is None else {"dispatch": dispatch[0], "turn": dispatch[1]}
    return digest("handoff", {**place, "aside": aside, "content": content})


# ---- reading --------------------------------------------------------------------------------------------------------


def find(connection: Connection, id: str) -> Row[Any] | None:
    return rows.find(connection, handoffs, id)


def get(connection: Connection, id: str) -> Row[Any]:
    return rows.get(connection, handoffs, id, "handoff")


def get_locked(tx: Transaction, id: str) -> Row[Any]:
    return rows.get_locked(tx, handoffs, id, "handoff")


def of_key(connection: Connection, key: str) -> Row[Any] | None:
    return connection.execute(_of_key, {"key": key}).first()


def of_escalation(connection: Connection, escalation_id: str) -> Row[Any] | None:
    """The last handoff that asks what an escalation asks: one of a later turn may have found it waiting."""
    asked = select(handoffs).where(handoffs.c.escalation_id == escalation_id)
    newest = asked.order_by(handoffs.c.created_at.desc(), handoffs.c.id.desc())
    return connection.execute(newest.limit(1)).first()


def checking(connection: Connection, dispatch_id: str) -> Row[Any] | None:
    """The one handoff of a dispatch that is compared with the world at this moment."""
    return connection.execute(_checking, {"dispatch_id": dispatch_id}).first()


def asked_of(connection: Connection, dispatch_id: str) -> Sequence[Row[Any]]:
    """What people were asked for a dispatch itself: the escalations, with the turn and the state of whose they are."""
    return connection.execute(_asked_of, {"dispatch_id": dispatch_id}).all()


# Made once: to make one of these takes several times as long as to run it.
_of_dispatch = handoffs.c.dispatch_id == bindparam("dispatch_id")
_of_key = select(handoffs).where(handoffs.c.key == bindparam("key"))
_checking = select(handoffs).where(_of_dispatch, handoffs.c.state == HandoffState.CHECKING).limit(1)
_asked_of: Select[Any] = select(handoffs.c.turn, handoffs.c.state, handoffs.c.escalation_id).where(
    _of_dispatch, handoffs.c.turn.is_not(None), handoffs.c.escalation_id.is_not(None)
)


_IN_LISTS = [column for column in handoffs.c if column is not handoffs.c.document]


def list_handoffs(
    connection: Connection,
    limit: int,
    before: tuple[int, str] | None,
    *,
    dispatch: str | None = None,
    session: str | None = None,
    states: Sequence[str] = (),
    plan_status: str | None = None,
) -> tuple[list[Handoff], int, tuple[int, str] | None]:
    """Newest first: (a page, how many there are in all, where the next page starts)."""
    chosen: list[ColumnElement[bool]] = [handoffs.c.state.in_(states)] if states else []
    wanted = {"dispatch_id": dispatch, "session_id": session, "plan_status": plan_status}
    chosen += [handoffs.c[name] == value for name, value in wanted.items() if value is not None]
    page = rows.newest(connection, handoffs.c.created_at, limit, before, chosen, _IN_LISTS)
    return [_view(row, None) for row in page.rows], page.total, page.next


def document_of(row: Row[Any]) -> dict[str, Any] | None:
    return None if row.document is None else typed.decode(row.document, dict[str, Any])


def view(row: Row[Any]) -> Handoff:
    return _view(row, document_of(row))


def _view(row: Row[Any], document: dict[str, Any] | None) -> Handoff:
    return Handoff(
        id=row.id,
        dispatch_id=row.dispatch_id,
        session_id=row.session_id,
        agent_id=row.agent_id,
        turn=row.turn,
        source=row.source,
        event=row.event,
        content_hash=row.content_hash,
        state=HandoffState(row.state),
        plan_status=None if row.plan_status is None else PlanStatus(row.plan_status),
        verdict=typed.decode(row.verdict, HandoffVerdict),
        checks=typed.decode(row.checks, list[Check]),
        refused_by=row.refused_by,
        refusal=None if row.refusal is None else typed.decode(row.refusal, Refusal),
        told=row.told,
        applied=typed.decode(row.applied, Applied),
        summary=row.summary,
        escalation_id=row.escalation_id,
        created_at=clock.rfc3339(row.created_at),
        concluded_at=clock.told(row.concluded_at),
        document=document,
    )


# ---- writing --------------------------------------------------------------------------------------------------------


def change(tx: Transaction, id: str, **values: Any) -> Row[Any]:
    """Write columns of one handoff, lists and objects as JSON; the row as it is then."""
    encoded = {
        name: value if value is None or isinstance(value, str | int) else msgspec.json.encode(value).decode()
        for name, value in values.items()
    }
    return tx.connection.execute(_change, {"its_id": id, **encoded}).first() or get(tx.connection, id)


_change = update(handoffs).where(handoffs.c.id == bindparam("its_id")).returning(handoffs)
