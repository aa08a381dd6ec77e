"""The verbs behind an item's relations. `parent-child` is carried out as a change of the child."""

from __future__ import annotations

from gemba.action import Action
from gemba.errors import Conflict, NotFound
from gemba.event import Draft
from gemba.store.database import Transaction
from gemba.work import history
from gemba.work.item import Relation
from gemba.work.items import WorkItem, alone, get, view
from gemba.work.readiness import Turned
from gemba.work.relations import Ends, NewRelation, check_end, relate, unrelate
from gemba.work.store import apply_values, told


class OldRelation(NewRelation, frozen=True, forbid_unknown_fields=True):
    """A relation that the item has and shall have no more."""


def add_relation(tx: Transaction, body: NewRelation, *, id: str) -> WorkItem:
    """Make a relation of the item with another one."""
    alone(tx)
    get(tx.connection, id)
    source, kind, target = ends = body.ends(id)
    if kind is Relation.PARENT_CHILD:
        child = check_end(tx.connection, target, "/target")
        if child.parent == source:
            raise Conflict(f"{source} {kind} {target} is there already", code="relation_exists", found=target)
        if child.parent is not None:
            raise Conflict(
                f"{target} is part of {child.parent}; take it out there first, or change its parent",
                code="has_parent",
                found=child.parent,
            )
        apply_values(tx, child, {"parent": source}, history.CHANGED)
    else:
        tell_both(tx, ends, relate(tx, *ends, at=id))
    return view(tx.connection, get(tx.connection, id), tx.now)


def remove_relation(tx: Transaction, body: OldRelation, *, id: str) -> WorkItem:
    """Take a relation of the item away."""
    alone(tx)
    get(tx.connection, id)
    source, kind, target = ends = body.ends(id)
    if kind is Relation.PARENT_CHILD:
        child = check_end(tx.connection, target, "/target")
        if child.parent != source:
            raise NotFound(f"there is no relation {source} {kind} {target}", code="not_found", found=target)
        apply_values(tx, child, {"parent": None}, history.CHANGED)
    else:
        tell_both(tx, ends, unrelate(tx, *ends, at=id))
    return view(tx.connection, get(tx.connection, id), tx.now)


def tell_both(tx: Transaction, ends: Ends, turned: Turned) -> None:
    """A relation is a change of both."""
    for id in dict.fromkeys((ends[2], ends[0])):
        tx.emit(Draft("item.changed", told(tx, get(tx.connection, id), ["relations"], turned), ref=id))


ACTIONS = (
    Action("/api/work-items/{id}/relations", add_relation, NewRelation, WorkItem, "Relate a work item to another"),
    Action(
        "/api/work-items/{id}/relations/remove",
        remove_relation,
        OldRelation,
        WorkItem,
        "Take a relation of a work item away",
    ),
)
