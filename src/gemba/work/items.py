"""Work items as rows, as they are shown, and in lists: newest first, by what is looked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, func, or_, select

from gemba import clock, typed
from gemba.store import rows
from gemba.store.database import Transaction
from gemba.store.lists import among
from gemba.work.item import Kind, Retro, State
from gemba.work.tables import items, relations

# What a list leaves out: nobody reads a hundred descriptions at once.
_LONG = frozenset({"description", "acceptance", "extras"})
COLUMNS = [column for column in items.c if column.name not in _LONG]
_LOCK = 0x776F726B  # "work"

_encode = msgspec.json.Encoder().encode
_words = typed.decoder(list[str])
_extras = typed.decoder(dict[str, Any])


class Ratified(msgspec.Struct, frozen=True):
    at: str
    by: str


class Claim(msgspec.Struct, frozen=True):
    """Whose it is, and until when unless it is extended."""

    owner: str
    claimed_at: str
    expires_at: str


class Offer(msgspec.Struct, frozen=True):
    """What may be done now, and is left to a person: to close an item whose children are all finished."""

    action: str
    item_id: str
    title: str


class WorkRow(msgspec.Struct, frozen=True, kw_only=True):
    """A work item as lists and events have it: without its long texts."""

    id: str
    title: str
    kind: Kind
    state: State
    priority: int
    parent: str | None
    labels: list[str]
    targets: list[str]
    concepts: list[str]
    estimated_tokens: int | None
    assignee: str | None
    user_order: int | None
    repository: str | None
    created_at: str
    created_by: str
    updated_at: str
    updated_by: str
    closed_at: str | None
    closed_by: str | None
    close_reason: str | None
    ratified: Ratified | None
    retro: Retro
    version: int
    ready: bool
    blockers: int  # unfinished items that block it
    held: int  # items above it that are blocked
    claim: Claim | None


class RelationView(msgspec.Struct, frozen=True):
    """`source` kind `target`, read as a sentence; the other item's title and state stand with it."""

    source: str
    kind: str
    target: str
    title: str
    state: State
    created_at: str
    created_by: str


class WorkItem(WorkRow, frozen=True, kw_only=True):
    """A work item in full. `changes` is the number of the last entry of its history."""

    changes: int
    description: str
    acceptance: str
    extras: dict[str, Any]
    relations: list[RelationView]
    offers: list[Offer] = []


class Sought(NamedTuple):
    """What a list is to have; none of a part stands for all."""

    states: Sequence[str] = ()
    kinds: Sequence[str] = ()
    label: str | None = None
    parent: str | None = None
    text: str | None = None
    assignee: str | None = None
    id: str | None = None  # what an id is, begins or ends with


# ---- rows ------------------------------------------------------------------------------------------------------------


def alone(tx: Transaction) -> None:
    """Wait until nobody else changes work: what blocks what is judged as a whole. SQLite has one writer anyway."""
    if tx.connection.dialect.name == "postgresql":
        tx.connection.execute(_take_lock)


_take_lock = select(func.pg_advisory_xact_lock(_LOCK))


def get(connection: Connection, id: str) -> Row[Any]:
    return rows.get(connection, items, id, "work item")


def find_many(connection: Connection, ids: Iterable[str]) -> dict[str, Row[Any]]:
    """Those of the ids that there are, without their long texts."""
    found = connection.execute(select(*COLUMNS).where(among(connection, items.c.id, ids)))
    return {row.id: row for row in found}


def is_claimed(row: Row[Any], now: int) -> bool:
    """A lease that has run out is none."""
    return row.claimed_until is not None and row.claimed_until > now


def relations_of(connection: Connection, id: str) -> list[RelationView]:
    """All that it has with others, the oldest first."""
    mine = select(relations).where(or_(relations.c.source == id, relations.c.target == id))
    found = connection.execute(mine.order_by(relations.c.created_at, relations.c.source, relations.c.target)).all()
    others = find_many(connection, {_other(row, id) for row in found})
    return [
        RelationView(
            row.source,
            row.kind,
            row.target,
            others[_other(row, id)].title,
            State(others[_other(row, id)].state),
            clock.rfc3339(row.created_at),
            row.created_by,
        )
        for row in found
    ]


def _other(row: Row[Any], id: str) -> str:
    other: str = row.target if row.source == id else row.source
    return other


def list_items(
    connection: Connection, sought: Sought, limit: int, before: tuple[int, str] | None, now: int
) -> tuple[list[WorkRow], int, tuple[int, str] | None]:
    """Newest first: (a page, how many there are in all, where the next page starts)."""
    page = rows.newest(connection, items.c.created_at, limit, before, conditions(sought), COLUMNS)
    return [view_row(row, now) for row in page.rows], page.total, page.next


def conditions(sought: Sought) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if sought.states:
        found.append(items.c.state.in_(sought.states))
    if sought.kinds:
        found.append(items.c.kind.in_(sought.kinds))
    if sought.label is not None:
        found.append(items.c.labels.contains(_encode(sought.label).decode(), autoescape=True))
    if sought.parent is not None:
        found.append(items.c.parent == sought.parent)
    if sought.assignee is not None:
        found.append(items.c.assignee == sought.assignee)
    if sought.text is not None:
        texts = (items.c.id, items.c.title, items.c.description)
        found.append(or_(*(column.icontains(sought.text, autoescape=True) for column in texts)))
    if sought.id is not None:
        ends = (items.c.id.startswith(sought.id, autoescape=True), items.c.id.endswith(sought.id, autoescape=True))
        found.append(or_(*ends))
    return found


# ---- views -----------------------------------------------------------------------------------------------------------


def view(connection: Connection, row: Row[Any], now: int, offers: Sequence[Offer] = ()) -> WorkItem:
    return WorkItem(
        **_short(row, now),
        changes=row.changes,
        description=row.description,
        acceptance=row.acceptance,
        extras=_extras.decode(row.extras),
        relations=relations_of(connection, row.id),
        offers=list(offers),
    )


def view_row(row: Row[Any], now: int) -> WorkRow:
    return WorkRow(**_short(row, now))


def _short(row: Row[Any], now: int) -> dict[str, Any]:
    claimed = is_claimed(row, now)
    return {
        "id": row.id,
        "title": row.title,
        "kind": Kind(row.kind),
        "state": State(row.state),
        "priority": row.priority,
        "parent": row.parent,
        "labels": _words.decode(row.labels),
        "targets": _words.decode(row.targets),
        "concepts": _words.decode(row.concepts),
        "estimated_tokens": row.estimated_tokens,
        "assignee": row.assignee,
        "user_order": row.user_order,
        "repository": row.repository,
        "created_at": clock.rfc3339(row.created_at),
        "created_by": row.created_by,
        "updated_at": clock.rfc3339(row.updated_at),
        "updated_by": row.updated_by,
        "closed_at": clock.told(row.closed_at),
        "closed_by": row.closed_by,
        "close_reason": row.close_reason,
        "ratified": None if row.ratified_at is None else Ratified(clock.rfc3339(row.ratified_at), row.ratified_by),
        "retro": Retro(row.retro),
        "version": row.version,
        "ready": row.standing and not claimed,
        "blockers": row.blockers,
        "held": row.held,
        "claim": Claim(row.claimed_by, clock.rfc3339(row.claimed_at), clock.rfc3339(row.claimed_until))
        if claimed
        else None,
    }


def encoded(value: Any) -> str:
    """Words, or an object, as their column has them."""
    return _encode(value).decode()
