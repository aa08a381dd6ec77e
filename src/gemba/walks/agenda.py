"""The operator's hand on the agenda: added, pulled in, moved, taken off."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, delete

from gemba import wire
from gemba.action import Action, Nothing
from gemba.errors import Conflict
from gemba.store.database import Transaction
from gemba.text import storable
from gemba.walks import sources, store
from gemba.walks.tables import agenda
from gemba.walks.walk import UNDECIDED, AddToAgenda, ChangeAgendaItem, ItemStatus, WalkDetail


def add_to_agenda(tx: Transaction, body: AddToAgenda, *, id: str) -> WalkDetail:
    """What is there already is not added again."""
    walk = store.locked(tx, id)
    words = storable(body.topic or "").strip()
    if body.ref is not None:
        found = [sources.named(tx.connection, body.ref)]
    elif words:
        found = [sources.topic(words, wire.new_event_id(), tx.now)]
    else:
        found = sources.everything(tx.connection, walk.workspace, tx.now)
    if body.priority is not None:
        found = [one._replace(priority=body.priority) for one in found]
    added = store.add(tx, id, found)
    if added:
        store.tell_of_walk(tx, "walk.agenda_added", id, items=added)
    if body.ref is None and not words:
        _by_urgency(tx, id, set(added))
    known = store.items_of(tx.connection, id)
    if added and not any(row.status == ItemStatus.ACTIVE for row in known):
        store.take_up_next(tx, walk)
    return store.detail(tx.connection, id, tx.now)


def _by_urgency(tx: Transaction, id: str, added: set[str]) -> None:
    """What was pulled in takes its place by urgency among what is still queued; the others keep their order."""
    known = store.items_of(tx.connection, id)
    fresh = sorted((row for row in known if row.id in added), key=lambda row: (row.priority, row.since, row.ref))
    ordered: list[Row[Any]] = []
    for row in known:
        if row.id in added:
            continue
        while fresh and row.status == ItemStatus.QUEUED and fresh[0].priority < row.priority:
            ordered.append(fresh.pop(0))
        ordered.append(row)
    store.put_in_order(tx, [*ordered, *fresh])


def change_agenda_item(tx: Transaction, body: ChangeAgendaItem, *, id: str, item: str) -> WalkDetail:
    store.locked(tx, id)
    row = _undecided(tx, id, item)
    values: dict[str, Any] = {}
    if body.priority is not None:
        values["priority"] = body.priority
    if body.topic is not None:
        values["topic"] = storable(body.topic).strip() or row.topic
    if values:
        store.change_item(tx, item, **values)
    if body.place is not None:
        _move_to(tx, id, row, body.place)
    store.change(tx, id)
    store.tell_of_walk(tx, "walk.agenda_changed", id, item=item)
    return store.detail(tx.connection, id, tx.now)


def _move_to(tx: Transaction, id: str, row: Row[Any], place: int) -> None:
    """Among those that are not decided, the one at this place from the front."""
    known = store.items_of(tx.connection, id)
    others = [each for each in known if each.id != row.id]
    waiting = [index for index, each in enumerate(others) if each.status in UNDECIDED]
    at = waiting[place - 1] if place <= len(waiting) else len(others)
    mine = next(each for each in known if each.id == row.id)
    store.put_in_order(tx, [*others[:at], mine, *others[at:]])


def remove_from_agenda(tx: Transaction, _body: Nothing, *, id: str, item: str) -> WalkDetail:
    """It waits as it did; only this walk does not go through it."""
    walk = store.locked(tx, id)
    row = _undecided(tx, id, item)
    tx.connection.execute(delete(agenda).where(agenda.c.id == item))
    store.change(tx, id)
    store.tell_of_walk(tx, "walk.agenda_changed", id, item=item, removed=True)
    if row.status == ItemStatus.ACTIVE:
        store.take_up_next(tx, walk, row.place)
    return store.detail(tx.connection, id, tx.now)


def _undecided(tx: Transaction, walk_id: str, id: str) -> Row[Any]:
    row = store.item(tx.connection, walk_id, id)
    if row.status not in UNDECIDED:
        told = f"the item is {row.status}: it stays as it is; allowed: items that are not decided"
        raise Conflict(told, code="already_decided", found=str(row.status), item=store.view_item(row))
    return row


_AGENDA = "/api/walks/{id}/agenda"
ACTIONS = (
    Action(
        _AGENDA, add_to_agenda, AddToAgenda, WalkDetail, "Put something on the agenda, or pull in what came meanwhile"
    ),
    Action(
        f"{_AGENDA}/{{item}}",
        change_agenda_item,
        ChangeAgendaItem,
        WalkDetail,
        "Move an item of the agenda, or name it otherwise",
        method="PATCH",
    ),
    Action(
        f"{_AGENDA}/{{item}}",
        remove_from_agenda,
        Nothing,
        WalkDetail,
        "Take an item off the agenda; it waits as it did",
        method="DELETE",
    ),
)
