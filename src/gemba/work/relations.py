"""What items are to each other: relations made and taken away, with what that does to readiness.

A relation is a sentence, `source` kind `target`. What binds (`blocks`, `parent-child`) is refused where it would close
a circle, or where an item would wait for what it is a part of, which is finished after its parts. `parent-child` is
the child's `parent`, and changes with it.
"""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, delete, insert, or_, select

from gemba.action import Id
from gemba.errors import Conflict, Invalid, NotFound
from gemba.store import rows
from gemba.store.database import Transaction
from gemba.work import history
from gemba.work.item import Relation
from gemba.work.reach import ancestors, refuse_circle
from gemba.work.readiness import Turned, settle
from gemba.work.tables import items, relations

Ends = tuple[str, Relation, str]


class NewRelation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the item is to another: the source of what has a `target`, the target of what has a `source`."""

    kind: Relation
    target: Id | None = None
    source: Id | None = None

    def ends(self, id: str, pointer: str = "") -> Ends:
        if (self.target is None) == (self.source is None):
            raise Invalid(
                f"{pointer or 'the body'}: exactly one of target and source is given",
                code="invalid_value",
                pointer=pointer or "/target",
                allowed="target, of what this item is the source of; or source, of what it is the target of",
            )
        return (id, self.kind, self.target) if self.target is not None else (str(self.source), self.kind, id)


def relate(
    tx: Transaction, source: str, kind: Relation, target: str, *, at: str, kind_of_change: str = history.RELATED
) -> Turned:
    """Make a relation, `at` one of its items. Not for parent-child, which is a change of the child."""
    check_end(tx.connection, target if at == source else source, "/target" if at == source else "/source")
    _refuse_again(tx.connection, source, kind, target)
    if kind is Relation.BLOCKS:
        refuse_circle(tx.connection, source, kind, target)
        if source in ancestors(tx.connection, target):
            raise _waits_for_its_whole(source, target)
    elif source == target:
        raise Conflict(f"{source} cannot have a relation with itself", code="self_relation", found=source)
    put_row(tx, source, kind, target)
    _record(tx, kind_of_change, {}, _sentence(source, kind, target), at)
    return settle(tx, [target]) if kind is Relation.BLOCKS else Turned([], [])


def unrelate(
    tx: Transaction, source: str, kind: Relation, target: str, *, at: str, kind_of_change: str = history.UNRELATED
) -> Turned:
    if not tx.connection.execute(_delete(source, kind, target)).rowcount:
        raise NotFound(f"there is no relation {source} {kind} {target}", code="not_found", found=f"{kind} {target}")
    _record(tx, kind_of_change, _sentence(source, kind, target), {}, at)
    return settle(tx, [target]) if kind is Relation.BLOCKS else Turned([], [])


def check_end(connection: Connection, id: str, pointer: str) -> Row[Any]:
    """The item at the other end, which has to be there."""
    row = rows.find(connection, items, id)
    if row is None:
        raise Invalid(
            f"{pointer}: no work item has the id {id[:80]}",
            code="unknown_item",
            pointer=pointer,
            found=id[:80],
            allowed="the id of a work item",
        )
    return row


# ---- the parent ------------------------------------------------------------------------------------------------------


def put_parent_row(tx: Transaction, parent: str, child: str) -> None:
    """The row beside the child's `parent`; refused where that would be a circle."""
    refuse_circle(tx.connection, parent, Relation.PARENT_CHILD, child)
    _refuse_wait_for_whole(tx.connection, parent, child)
    put_row(tx, parent, Relation.PARENT_CHILD, child)


def drop_parent_row(tx: Transaction, parent: str, child: str) -> None:
    tx.connection.execute(_delete(parent, Relation.PARENT_CHILD, child))


def put_row(tx: Transaction, source: str, kind: Relation, target: str) -> None:
    row = {"source": source, "kind": kind, "target": target, "created_at": tx.now, "created_by": tx.actor}
    tx.connection.execute(insert(relations), [row])


def _refuse_wait_for_whole(connection: Connection, parent: str, child: str) -> None:
    """What the new ancestors block must not lie in what is moved below them."""
    above = [parent, *ancestors(connection, parent)]
    blocked = select(relations.c.source, relations.c.target).where(
        relations.c.kind == Relation.BLOCKS, relations.c.source.in_(above)
    )
    for source, target in connection.execute(blocked):
        if target == child or child in ancestors(connection, target):
            raise _waits_for_its_whole(source, target)


def _waits_for_its_whole(source: str, target: str) -> Conflict:
    return Conflict(
        f"{target} would be blocked by {source}, of which it is a part: the whole is finished after its parts",
        code="blocked_by_ancestor",
        found=[source, target],
        allowed="a blocker that the item is no part of",
    )


# ---- rows ------------------------------------------------------------------------------------------------------------


def _refuse_again(connection: Connection, source: str, kind: Relation, target: str) -> None:
    same: ColumnElement[bool] = (relations.c.source == source) & (relations.c.target == target)
    if kind is Relation.RELATES_TO:  # which goes both ways
        same = or_(same, (relations.c.source == target) & (relations.c.target == source))
    if connection.execute(select(relations.c.kind).where(relations.c.kind == kind, same)).first() is not None:
        raise Conflict(f"{source} {kind} {target} is there already", code="relation_exists", found=f"{kind} {target}")


def _delete(source: str, kind: Relation, target: str) -> Any:
    mine = (relations.c.source == source, relations.c.kind == kind, relations.c.target == target)
    return delete(relations).where(*mine)


def _sentence(source: str, kind: Relation, target: str) -> dict[str, Any]:
    return {"relation": {"source": source, "kind": str(kind), "target": target}}


def _record(tx: Transaction, kind: str, before: dict[str, Any], after: dict[str, Any], at: str) -> None:
    relation = (after or before)["relation"]
    number = history.record(tx, at, kind, before, after)
    for other in {relation["source"], relation["target"]} - {at}:
        history.record(tx, other, kind, before, after, of=(at, number))
