"""Every change of a work item: what it was before and after, by whom, and what it follows from.

Written in the transaction of the change. A relation is a change of both its items: it is made at one, and the other
has an entry that names it. `extras` and long texts are kept whole, so that an undo gives back what was there.
"""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import Connection, Row, bindparam, insert, select, update

from gemba import clock, typed
from gemba.store import rows
from gemba.store.database import Transaction
from gemba.work.item import Cause
from gemba.work.items import encoded
from gemba.work.tables import changes, items

CREATED, CHANGED, RELATED, UNRELATED = "created", "changed", "related", "unrelated"
CLAIMED, RELEASED, UNDONE = "claimed", "released", "undone"
CAN_BE_UNDONE = (CHANGED, RELATED, UNRELATED)

_fields = typed.decoder(dict[str, Any])
_next_number = (
    update(items).where(items.c.id == bindparam("item")).values(changes=items.c.changes + 1).returning(items.c.changes)
)


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of an item's history. `of` is the item at which it was made, where that was another one."""

    number: int
    at: str
    kind: str
    actor: str
    cause: Cause
    before: dict[str, Any]
    after: dict[str, Any]
    of: str | None
    undone: bool


def cause_of(tx: Transaction) -> Cause:
    """What the transaction follows from; without a word on it, the person on whose behalf it is."""
    return tx.cause if isinstance(tx.cause, Cause) else Cause("person", tx.actor)


def walk_of(tx: Transaction) -> str | None:
    """The walk in which it was decided, where it was in one."""
    return tx.cause.id if isinstance(tx.cause, Cause) and tx.cause.kind == "walk" else None


def record(
    tx: Transaction,
    id: str,
    kind: str,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
    of: tuple[str, int] | None = None,
) -> int:
    """The entry's number in the history of the item."""
    number: int = tx.connection.execute(_next_number, {"item": id}).scalar_one()
    tx.connection.execute(insert(changes), [entry(tx, id, number, kind, before or {}, after or {}, of)])
    return number


def entry(
    tx: Transaction,
    id: str,
    number: int,
    kind: str,
    before: dict[str, Any],
    after: dict[str, Any],
    of: tuple[str, int] | None = None,
) -> dict[str, Any]:
    cause = cause_of(tx)
    return {
        "item_id": id,
        "number": number,
        "at": tx.now,
        "kind": kind,
        "actor": tx.actor,
        "cause": cause.kind,
        "cause_id": cause.id,
        "before": encoded(before),
        "after": encoded(after),
        "of_item": None if of is None else of[0],
        "of_number": None if of is None else of[1],
        "undone": False,
    }


def last_undoable(connection: Connection, id: str) -> Row[Any] | None:
    """The last change that is in effect: claims come and go by themselves, and an undo is not undone."""
    mine = select(changes).where(changes.c.item_id == id, ~changes.c.undone, changes.c.kind.in_(CAN_BE_UNDONE))
    return connection.execute(mine.order_by(changes.c.number.desc()).limit(1)).first()


def follows_from(connection: Connection, id: str, number: int, cause: Cause) -> bool:
    """Whether an entry of an item's history is of that cause; what changed nothing left none."""
    mine = (changes.c.item_id == id, changes.c.number == number)
    row = connection.execute(select(changes.c.cause, changes.c.cause_id).where(*mine)).first()
    return row is not None and (row.cause, row.cause_id) == (cause.kind, cause.id)


def mark_undone(tx: Transaction, row: Row[Any], other: str | None) -> None:
    """Also the entry of the other item, where it is a change of two."""
    mine = (changes.c.item_id == row.item_id, changes.c.number == row.number)
    tx.connection.execute(update(changes).where(*mine).values(undone=True))
    if other is not None:
        theirs = (
            changes.c.item_id == other,
            changes.c.of_item == row.item_id,
            changes.c.of_number == row.number,
        )
        tx.connection.execute(update(changes).where(*theirs).values(undone=True))


def list_changes(
    connection: Connection, id: str, limit: int, before: int | None
) -> tuple[list[Change], int, int | None]:
    """Newest first: (a page, how many there are in all, before which number the next page starts)."""
    page, total, following = rows.latest(connection, changes.c.item_id, id, limit, before)
    return [_view(row) for row in page], total, following


def fields(text: str) -> dict[str, Any]:
    return _fields.decode(text)


def _view(row: Row[Any]) -> Change:
    return Change(
        number=row.number,
        at=clock.rfc3339(row.at),
        kind=row.kind,
        actor=row.actor,
        cause=Cause(row.cause, row.cause_id),
        before=_shown(row.before),
        after=_shown(row.after),
        of=row.of_item,
        undone=row.undone,
    )


def _shown(text: str) -> dict[str, Any]:
    """The fields with their moments as everywhere else on the wire."""
    return {
        name: clock.rfc3339(value) if name.endswith("_at") and isinstance(value, int) else value
        for name, value in fields(text).items()
    }
