"""The last change of an item taken back, as a change of its own.

What is undone is the last change that is in effect, so that undoing again and again walks back; claims are left as
they are. A change that no longer applies (somebody changed the same since by another way, or going back would close a
circle) is refused, and so is the making of an item.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from sqlalchemy import Row

from gemba.action import Action
from gemba.errors import Conflict, GembaError
from gemba.store.database import Transaction
from gemba.work import history
from gemba.work.item import Cause, Relation, State
from gemba.work.items import WorkItem, alone, get, view
from gemba.work.relating import tell_both
from gemba.work.relations import check_end, relate, unrelate
from gemba.work.store import ChangeItem, apply_values, change_item, value_of


class UndoChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """With the `number` of the change that is meant, one that came after it is not taken back in its place."""

    number: Annotated[int, msgspec.Meta(ge=1)] | None = None


def undo_change(tx: Transaction, body: UndoChange, *, id: str) -> WorkItem:
    """Take back the last change of an item."""
    alone(tx)
    row = get(tx.connection, id)
    last = history.last_undoable(tx.connection, id)
    if last is None:
        raise Conflict(
            f"nothing of {id} is left to undo: it is as it was made; it can be cancelled instead",
            code="nothing_to_undo",
            found=id,
        )
    if body.number is not None and body.number != last.number:
        raise Conflict(
            f"the last change of {id} is {last.number}, not {body.number}: {last.actor} changed it since; look again",
            code="changed_since",
            pointer="/number",
            found=last.number,
            allowed="the number of the last change that is in effect",
            item=view(tx.connection, row, tx.now),
        )
    if last.of_item is not None:
        relation = (history.fields(last.after) or history.fields(last.before)).get("relation")
        what = f" ({relation['source']} {relation['kind']} {relation['target']})" if relation else ""
        raise Conflict(
            f"the last change of {id}{what} was made at {last.of_item}: undo it there",
            code="made_elsewhere",
            found=last.of_item,
        )
    before, after = history.fields(last.before), history.fields(last.after)
    try:
        other = _undo_relation(tx, last, before, after) if "relation" in (before | after) else None
        if other is None:
            _undo_fields(tx, row, before, after)
    except GembaError as error:
        raise Conflict(
            f"the last change of {id} can no longer be undone: {error.message}",
            code="no_longer_applies",
            found=error.found,
            item=view(tx.connection, get(tx.connection, id), tx.now),
        ) from None
    history.mark_undone(tx, last, other)
    return view(tx.connection, get(tx.connection, id), tx.now)


def take_back(tx: Transaction, id: str, number: int, cause: Cause, *, made: bool, reason: str) -> None:
    """Undo what one cause did to an item: one that was made is cancelled, since nothing that was made is unmade; one
    that was changed gets back what it had, unless somebody changed it since."""
    if made:
        change_item(tx, ChangeItem(state=State.CANCELLED, close_reason=reason), id=id)
    elif history.follows_from(tx.connection, id, number, cause):  # else it changed nothing
        undo_change(tx, UndoChange(number), id=id)


ACTIONS = (
    Action("/api/work-items/{id}/undo", undo_change, UndoChange, WorkItem, "Take back the last change of a work item"),
)


def _undo_fields(tx: Transaction, row: Row[Any], before: dict[str, Any], after: dict[str, Any]) -> None:
    for name, value in after.items():
        if value_of(row, name) != value:
            raise Conflict(f"{name} is not what that change made it", code="changed_since", found=name)
    if before.get("parent") is not None:
        check_end(tx.connection, before["parent"], "/parent")
    apply_values(tx, row, before, history.UNDONE)


def _undo_relation(tx: Transaction, last: Row[Any], before: dict[str, Any], after: dict[str, Any]) -> str:
    """The relation is there again, or gone; the item that it is with."""
    relation = (after or before)["relation"]
    ends = (relation["source"], Relation(relation["kind"]), relation["target"])
    verb = unrelate if after else relate
    tell_both(tx, ends, verb(tx, *ends, at=last.item_id, kind_of_change=history.UNDONE))
    other: str = ends[2] if ends[0] == last.item_id else ends[0]
    return other
