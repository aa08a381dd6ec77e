"""What a person decides about memories: accepted, perhaps edited, or rejected; and the way back from either.

Decisions are taken one after the other (`_alone`): of two operators who decide at once one wins and the other is told
what is allowed now, and a slug that was free is so until it is taken. Each is a row, an audit entry and an event. The
actions that the API mounts are here.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from sqlalchemy import Connection, Row, func, select, update

from gemba import wire
from gemba.action import Action, Nothing
from gemba.errors import Conflict, Invalid
from gemba.event import Draft
from gemba.handoff import audit
from gemba.handoff.memories import MemoryView, encoded, get, memories, view
from gemba.handoff.memory import LONGEST_BODY, MEMORY, Class, MemoryState, Type, check_slug, numbered
from gemba.store.database import Transaction
from gemba.text import storable

_LOCK = 0x6D656D6F  # "memo"

Surface = Annotated[str, msgspec.Meta(min_length=1, max_length=wire.MAX_ID)]


class AcceptMemory(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"class_": "class"}):
    """Remember it, as it was suggested or changed in what is given here."""

    slug: str | None = None
    type: Type | None = None
    class_: Class | None = None
    body: str | None = None
    surfaces: Annotated[list[Surface], msgspec.Meta(max_length=200)] | None = None


class RejectMemory(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Do not remember it, and do not offer it again. A reason for the record, if there is one."""

    reason: Annotated[str, msgspec.Meta(max_length=wire.MAX_NOTE)] = ""


def accept_memory(tx: Transaction, body: AcceptMemory, *, id: str) -> MemoryView:
    _alone(tx)
    row = get(tx.connection, id)
    MEMORY.after(MemoryState(row.state), "accepted")
    slug = _free_slug(tx.connection, row, body.slug)
    changes: dict[str, Any] = {"slug": slug, "kept_slug": slug}
    if body.type is not None:
        changes["type"] = body.type
    if body.class_ is not None:
        changes["class_"] = body.class_
    if body.body is not None:
        changes["body"] = _checked_body(body.body)
    if body.surfaces is not None:
        changes["surfaces"] = encoded(body.surfaces)
    moved = _move(tx, row, "accepted", "", changes)
    return tell_of(tx, "memory.accepted", view(row), moved)


def reject_memory(tx: Transaction, body: RejectMemory, *, id: str) -> MemoryView:
    _alone(tx)
    row = get(tx.connection, id)
    moved = _move(tx, row, "rejected", storable(body.reason).strip(), {})
    return tell_of(tx, "memory.rejected", view(row), moved)


def reopen_memory(tx: Transaction, _body: Nothing, *, id: str) -> MemoryView:
    """Take a decision back: it waits again, with what was changed in it, and nobody is given it meanwhile."""
    _alone(tx)
    row = get(tx.connection, id)
    moved = _move(tx, row, "reopened", "", {"kept_slug": None})
    return tell_of(tx, "memory.reopened", view(row), moved)


ACTIONS = (
    Action(
        "/api/memories/{id}/accept", accept_memory, AcceptMemory, MemoryView, "Remember this, as suggested or edited"
    ),
    Action(
        "/api/memories/{id}/reject", reject_memory, RejectMemory, MemoryView, "Do not remember this, nor offer it again"
    ),
    Action("/api/memories/{id}/reopen", reopen_memory, Nothing, MemoryView, "Take the decision back: it waits again"),
)


def _free_slug(connection: Connection, row: Row[Any], wanted: str | None) -> str:
    """A slug that a person chose is taken as it is or refused; one of an agent gets a number when it is in use."""
    if wanted is None:
        return numbered(row.slug, lambda slug: _of_slug(connection, slug) is not None)
    there = _of_slug(connection, check_slug(wanted))
    if there is not None:
        raise Conflict(
            f"slug is {wanted}: another memory has it; choose another name, or reopen and reject that one",
            code="slug_taken",
            pointer="/slug",
            found=wanted,
            memory=view(there),
        )
    return wanted


def _checked_body(words: str) -> str:
    body = storable(words).strip()
    if not 1 <= len(body) <= LONGEST_BODY:
        raise Invalid(
            f"body has {len(body):,} characters; allowed: 1 to {LONGEST_BODY:,}",
            code="invalid_value",
            pointer="/body",
            found=len(body),
            allowed=f"1 to {LONGEST_BODY:,} characters",
        )
    return body


def _move(tx: Transaction, row: Row[Any], event: str, reason: str, changes: dict[str, Any]) -> MemoryView:
    state = MEMORY.after(MemoryState(row.state), event)
    decided: dict[str, Any] = {"decided_at": tx.now, "decided_by": tx.actor, "decision_reason": reason}
    if event == "reopened":
        decided = dict.fromkeys(decided)
    statement = update(memories).where(memories.c.id == row.id, memories.c.state == row.state)
    tx.connection.execute(statement.values(state=state, **decided, **changes))
    return view(get(tx.connection, row.id))


def tell_of(tx: Transaction, name: str, before: MemoryView, moved: MemoryView) -> MemoryView:
    """What was decided, with what was suggested where that is something else, in the audit log; and an event."""
    old, new = msgspec.to_builtins(before), msgspec.to_builtins(moved)
    edited = [field for field in ("slug", "type", "class", "body", "surfaces") if old[field] != new[field]]
    audit.record(tx, name, moved.id, {**new, "suggested": {field: old[field] for field in edited}})
    said = {field: new[field] for field in ("state", "slug", "class", "source")}
    tx.emit(Draft(name, {**said, "by": tx.actor, "reason": moved.decision_reason, "edited": edited}, ref=moved.id))
    return moved


def _alone(tx: Transaction) -> None:
    """Wait until nobody else decides. SQLite has one writer anyway."""
    if tx.connection.dialect.name == "postgresql":
        tx.connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))


def _of_slug(connection: Connection, slug: str) -> Row[Any] | None:
    """The memory that a slug names."""
    return connection.execute(select(memories).where(memories.c.kept_slug == slug)).first()
