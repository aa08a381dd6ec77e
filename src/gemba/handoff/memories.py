"""The memories table: what agents suggest to remember, what a person decided about it, and what is remembered.

`suggest` is called where an envelope is accepted, in its transaction; `remembered` by whoever composes an envelope.
The same suggestion is there once, whatever became of it: `key` is unique. `kept_slug` is unique and there as long as a
memory is accepted, so that a slug names one. Decisions are taken one after the other (`_alone`): of two operators who
decide at once one wins, and the other is told what is allowed now.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Annotated, Any

import msgspec
import structlog
from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Index,
    Row,
    Table,
    Text,
    func,
    select,
    tuple_,
    update,
)

from gemba import clock, wire
from gemba.action import Action, Nothing
from gemba.errors import Conflict, Invalid, NotFound
from gemba.event import Draft
from gemba.handoff import audit
from gemba.handoff.envelope import Memory
from gemba.handoff.memory import (
    MEMORY,
    MOST_SUGGESTIONS,
    Class,
    MemoryState,
    Suggestion,
    Type,
    check_slug,
    numbered,
    read_suggestions,
    warnings_about,
)
from gemba.store.database import Transaction
from gemba.store.schema import metadata
from gemba.text import storable

memories = Table(
    "memories",
    metadata,
    Column("id", Text, primary_key=True),
    Column("state", Text, nullable=False),
    Column("slug", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("class", Text, key="class_", nullable=False),
    Column("description", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("rationale", Text, nullable=False),
    Column("surfaces", Text, nullable=False),  # names, as JSON
    Column("source", Text, nullable=False),  # the handoff that it came with
    Column("created_at", BigInteger, nullable=False),
    Column("decided_at", BigInteger),
    Column("decided_by", Text),
    Column("decision_reason", Text),
    Column("key", Text, nullable=False),
    Column("kept_slug", Text),
    Index("memories_by_age", "created_at", "id"),
    Index("memories_by_state", "state", "created_at", "id"),
    Index("memories_by_class", "class_", "created_at", "id"),
    Index("memories_by_key", "key", unique=True),
    Index("memories_kept", "kept_slug", unique=True),
)

_LOCK = 0x6D656D6F  # "memo"

Surface = Annotated[str, msgspec.Meta(min_length=1, max_length=wire.MAX_ID)]

log = structlog.get_logger("gemba.memories")


class MemoryView(msgspec.Struct, frozen=True, kw_only=True, rename={"class_": "class"}):
    """A memory as the API, the page and the command line show it. `source` is the handoff that it came with."""

    id: str
    state: MemoryState
    slug: str
    type: str
    class_: str
    description: str
    body: str
    rationale: str
    surfaces: list[str]
    source: str
    warnings: list[str]
    created_at: str
    decided_at: str | None
    decided_by: str | None
    decision_reason: str | None


class Accept(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"class_": "class"}):
    """Remember it, as it was suggested or changed in what is given here."""

    slug: str | None = None
    type: Type | None = None
    class_: Class | None = None
    body: str | None = None
    surfaces: Annotated[list[Surface], msgspec.Meta(max_length=200)] | None = None


class Reject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Do not remember it, and do not offer it again. A reason for the record, if there is one."""

    reason: Annotated[str, msgspec.Meta(max_length=wire.MAX_NOTE)] = ""


# ---- what agents suggest, and what they get --------------------------------------------------------------------------


def suggest(tx: Transaction, document: dict[str, Any], *, source: str, surfaces: Sequence[str]) -> list[str]:
    """Offer to a person what an accepted envelope suggests; the ids of those that were never offered before."""
    found = {each.key: each for each in islice(read_suggestions(document), MOST_SUGGESTIONS + 1)}
    if len(found) > MOST_SUGGESTIONS:
        found.popitem()
        log.warning("an envelope suggests more memories than are offered", source=source, offered=MOST_SUGGESTIONS)
    rows = [_row(tx, each, source, surfaces) for each in found.values()]
    new = tx.insert_new(memories, rows, "key")
    offered = [row for row in rows if row["key"] in new]
    for row in offered:
        tx.emit(Draft("memory.suggested", {"slug": row["slug"], "source": source}, ref=row["id"]))
    return [row["id"] for row in offered]


def remembered(connection: Connection) -> list[Memory]:
    """What is accepted, the newest first; `envelope.memory_for` chooses what a turn gets of it."""
    accepted = select(memories).where(memories.c.state == MemoryState.ACCEPTED)
    rows = connection.execute(accepted.order_by(memories.c.created_at.desc(), memories.c.id.desc()))
    return [
        Memory(
            slug=row.slug,
            body=row.body,
            type=row.type,
            class_=row.class_,
            source=row.source,
            surfaces=tuple(_surfaces(row)),
        )
        for row in rows
    ]


# ---- what a person decides -------------------------------------------------------------------------------------------


def accept(tx: Transaction, body: Accept, *, id: str) -> MemoryView:
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
        changes["surfaces"] = _encoded(body.surfaces)
    return _move(tx, row, "accepted", "", changes)


def reject(tx: Transaction, body: Reject, *, id: str) -> MemoryView:
    _alone(tx)
    return _move(tx, get(tx.connection, id), "rejected", storable(body.reason).strip(), {})


def reopen(tx: Transaction, _body: Nothing, *, id: str) -> MemoryView:
    """Take a decision back: it waits again, with what was changed in it, and nobody is given it meanwhile."""
    _alone(tx)
    return _move(tx, get(tx.connection, id), "reopened", "", {"kept_slug": None})


ACTIONS = (
    Action("/api/memories/{id}/accept", accept, Accept, MemoryView, "Remember this, as suggested or edited"),
    Action("/api/memories/{id}/reject", reject, Reject, MemoryView, "Do not remember this, nor offer it again"),
    Action("/api/memories/{id}/reopen", reopen, Nothing, MemoryView, "Take the decision back: it waits again"),
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
    if not 1 <= len(body) <= wire.MAX_TEXT:
        raise Invalid(
            f"body has {len(body):,} characters; allowed: 1 to {wire.MAX_TEXT:,}",
            code="invalid_value",
            pointer="/body",
            found=len(body),
            allowed=wire.MAX_TEXT,
        )
    return body


def _move(tx: Transaction, row: Row[Any], event: str, reason: str, changes: dict[str, Any]) -> MemoryView:
    state = MEMORY.after(MemoryState(row.state), event)
    decided: dict[str, Any] = {"decided_at": tx.now, "decided_by": tx.actor, "decision_reason": reason}
    if event == "reopened":
        decided = dict.fromkeys(decided)
    statement = update(memories).where(memories.c.id == row.id, memories.c.state == row.state)
    tx.connection.execute(statement.values(state=state, **decided, **changes))
    moved = view(get(tx.connection, row.id))
    before, after = msgspec.to_builtins(view(row)), msgspec.to_builtins(moved)
    edited = [name for name in ("slug", "type", "class", "body", "surfaces") if before[name] != after[name]]
    audit.record(tx, f"memory.{event}", moved.id, {**after, "suggested": {name: before[name] for name in edited}})
    said = {"state": state, "slug": moved.slug, "class": moved.class_, "source": moved.source, "by": tx.actor}
    tx.emit(Draft(f"memory.{event}", {**said, "reason": reason, "edited": edited}, ref=moved.id))
    return moved


def _alone(tx: Transaction) -> None:
    """Wait until nobody else decides. SQLite has one writer anyway."""
    if tx.connection.dialect.name == "postgresql":
        tx.connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))


# ---- rows ------------------------------------------------------------------------------------------------------------


def get(connection: Connection, id: str) -> Row[Any]:
    row = connection.execute(select(memories).where(memories.c.id == id)).first()
    if row is None:
        raise NotFound(f"no memory has the id {id}", code="not_found", found=id)
    return row


def list_memories(
    connection: Connection, states: Sequence[str], class_: str | None, limit: int, before: tuple[int, str] | None
) -> tuple[list[MemoryView], int, tuple[int, str] | None]:
    """Newest first: (a page, how many there are in all, where the next page starts)."""
    chosen: list[ColumnElement[bool]] = [memories.c.state.in_(states)] if states else []
    if class_ is not None:
        chosen.append(memories.c.class_ == class_)
    total = connection.execute(select(func.count()).select_from(memories).where(*chosen)).scalar_one()
    key = (memories.c.created_at, memories.c.id)
    query = select(memories).where(*chosen).order_by(*(column.desc() for column in key)).limit(limit + 1)
    if before is not None:
        query = query.where(tuple_(*key) < before)
    rows = connection.execute(query).all()
    more = len(rows) > limit
    rows = rows[:limit]
    return [view(row) for row in rows], total, (rows[-1].created_at, rows[-1].id) if more else None


def view(row: Row[Any]) -> MemoryView:
    return MemoryView(
        id=row.id,
        state=MemoryState(row.state),
        slug=row.slug,
        type=row.type,
        class_=row.class_,
        description=row.description,
        body=row.body,
        rationale=row.rationale,
        surfaces=_surfaces(row),
        source=row.source,
        warnings=warnings_about(row.type, row.class_, row.body),
        created_at=clock.rfc3339(row.created_at),
        decided_at=None if row.decided_at is None else clock.rfc3339(row.decided_at),
        decided_by=row.decided_by,
        decision_reason=row.decision_reason,
    )


def _row(tx: Transaction, suggestion: Suggestion, source: str, surfaces: Sequence[str]) -> dict[str, Any]:
    return {
        "id": wire.new_event_id(),
        "state": MemoryState.SUGGESTED,
        **msgspec.structs.asdict(suggestion),
        "surfaces": _encoded(surfaces),
        "source": source,
        "created_at": tx.now,
    }


def _of_slug(connection: Connection, slug: str) -> Row[Any] | None:
    return connection.execute(select(memories).where(memories.c.kept_slug == slug)).first()


def _encoded(surfaces: Sequence[str]) -> str:
    return msgspec.json.encode([storable(name) for name in surfaces]).decode()


def _surfaces(row: Row[Any]) -> list[str]:
    return msgspec.json.decode(row.surfaces, type=list[str])
