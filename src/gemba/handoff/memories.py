"""The memories table: what agents suggest to remember, what is remembered, as rows and as they are shown.

`suggest` is called where an envelope is accepted, in its transaction; `remembered` by whoever composes an envelope.
The same suggestion is there once, whatever became of it: `key` is unique. `kept_slug` is unique and there as long as a
memory is accepted, so that a slug names one. What a person decides is in `remembering`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

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
    select,
)

from gemba import clock, typed, wire
from gemba.event import Draft
from gemba.handoff.envelope import Memory
from gemba.handoff.memory import MOST_SUGGESTIONS, MemoryState, Suggestion, read_suggestions, warnings_about
from gemba.store import rows
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


# ---- rows ------------------------------------------------------------------------------------------------------------


def get(connection: Connection, id: str) -> Row[Any]:
    return rows.get(connection, memories, id, "memory")


def list_memories(
    connection: Connection, states: Sequence[str], class_: str | None, limit: int, before: tuple[int, str] | None
) -> tuple[list[MemoryView], int, tuple[int, str] | None]:
    """Newest first: (a page, how many there are in all, where the next page starts)."""
    chosen: list[ColumnElement[bool]] = [memories.c.state.in_(states)] if states else []
    if class_ is not None:
        chosen.append(memories.c.class_ == class_)
    page = rows.newest(connection, memories.c.created_at, limit, before, chosen)
    return [view(row) for row in page.rows], page.total, page.next


def suggested(connection: Connection) -> rows.Waiting:
    """How many wait for a person."""
    return rows.waiting(connection, memories.c.created_at, memories.c.state == MemoryState.SUGGESTED)


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
        decided_at=clock.told(row.decided_at),
        decided_by=row.decided_by,
        decision_reason=row.decision_reason,
    )


def _row(tx: Transaction, suggestion: Suggestion, source: str, surfaces: Sequence[str]) -> dict[str, Any]:
    return {
        "id": wire.new_event_id(),
        "state": MemoryState.SUGGESTED,
        **msgspec.structs.asdict(suggestion),
        "surfaces": encoded(surfaces),
        "source": source,
        "created_at": tx.now,
    }


def encoded(surfaces: Sequence[str]) -> str:
    """Surfaces as their column has them."""
    return msgspec.json.encode([storable(name) for name in surfaces]).decode()


def _surfaces(row: Row[Any]) -> list[str]:
    return typed.decode(row.surfaces, list[str])
