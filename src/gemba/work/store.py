"""Work items made and changed, each with its readiness, its history and its event in one transaction.

`create_item` and `change_item` are the verbs behind the API; `apply_values` is what every change of an item's own
fields ends in, also an undo. Who changes work waits for whoever does so already (`items.alone`), so that two changes
that are each fine cannot make a circle together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType
from sqlalchemy import Row, func, select, update

from gemba.action import Action
from gemba.errors import Conflict, Invalid
from gemba.event import Draft
from gemba.store.database import Transaction
from gemba.work import history, milestones
from gemba.work.item import (
    FINISHED,
    FIRST,
    LONGEST_REASON,
    LONGEST_TARGET,
    USUAL_PRIORITY,
    Kind,
    Order,
    Priority,
    Relation,
    Retro,
    State,
    Tokens,
    check_move,
    clean_extras,
    clean_text,
    clean_title,
    clean_word,
    clean_words,
    new_id,
)
from gemba.work.items import Offer, WorkItem, WorkRow, alone, encoded, get, view, view_row
from gemba.work.readiness import Turned, blocked_by, is_standing, settle, weight
from gemba.work.relations import NewRelation, check_end, drop_parent_row, put_parent_row, put_row, relate
from gemba.work.tables import LAST_PLACE, items

_ATTEMPTS = 20
_MOST_TOLD = 200  # items that a change made ready or not, in its event
_JSON = frozenset({"labels", "targets", "concepts", "extras"})
_CLOSED = ("closed_at", "closed_by", "close_reason")

# Called inside the transaction, before a state changes; one that raises holds it.
Guard = Callable[[Transaction, WorkRow, State], None]


class NewItem(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What an item is made of; only the title is needed."""

    title: str
    kind: Kind = Kind.TASK
    description: str = ""
    acceptance: str = ""
    state: State = State.UNSTARTED
    priority: Priority = USUAL_PRIORITY
    parent: str | None = None
    labels: list[str] = []
    targets: list[str] = []
    concepts: list[str] = []
    estimated_tokens: Tokens | None = None
    assignee: str | None = None
    user_order: Order | None = None
    repository: str | None = None
    retro: Retro = Retro.NONE
    extras: dict[str, Any] = {}


class CreateItem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A new item, with the relations that it has from the first."""

    item: NewItem
    relations: Annotated[list[NewRelation], msgspec.Meta(max_length=200)] = []


class ChangeItem(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What changes. With the `version` that it was decided on, a change that somebody made meanwhile is a conflict."""

    title: str | UnsetType = UNSET
    kind: Kind | UnsetType = UNSET
    description: str | UnsetType = UNSET
    acceptance: str | UnsetType = UNSET
    state: State | UnsetType = UNSET
    priority: Priority | UnsetType = UNSET
    parent: str | UnsetType | None = UNSET
    labels: list[str] | UnsetType = UNSET
    targets: list[str] | UnsetType = UNSET
    concepts: list[str] | UnsetType = UNSET
    estimated_tokens: Tokens | UnsetType | None = UNSET
    assignee: str | UnsetType | None = UNSET
    user_order: Order | UnsetType | None = UNSET
    repository: str | UnsetType | None = UNSET
    retro: Retro | UnsetType = UNSET
    ratified: bool | UnsetType = UNSET
    close_reason: str | UnsetType = UNSET
    extras: dict[str, Any] | UnsetType = UNSET
    version: Annotated[int, msgspec.Meta(ge=1)] | None = None


# ---- verbs -----------------------------------------------------------------------------------------------------------


def create_item(tx: Transaction, body: CreateItem) -> WorkItem:
    alone(tx)
    given = msgspec.structs.asdict(body.item)
    if body.item.state not in FIRST:
        allowed = sorted(FIRST)
        raise Invalid(
            f"/item/state is {body.item.state}: a new item cannot be; allowed: {', '.join(allowed)}",
            code="invalid_value",
            pointer="/item/state",
            found=str(body.item.state),
            allowed=allowed,
        )
    values = clean_values(given, "/item")
    held = 0
    if values["parent"] is not None:
        above = check_end(tx.connection, values["parent"], "/item/parent")
        held = weight(above.blockers, above.held)
    if body.item.kind is Kind.MILESTONE:
        values["title"] = milestones.new_title(tx, values["title"], "/item/title")
    id = _insert(tx, new_row(tx, values, held))
    if values["parent"] is not None:
        put_row(tx, values["parent"], Relation.PARENT_CHILD, id)  # nothing leads back from what is new
    history.record(tx, id, history.CREATED)
    for place, each in enumerate(body.relations):
        relate(tx, *each.ends(id, f"/relations/{place}"), at=id)
    row = get(tx.connection, id)
    tx.emit(Draft("item.created", told(tx, row), ref=id))
    return view(tx.connection, row, tx.now)


def change_item(tx: Transaction, body: ChangeItem, *, id: str) -> WorkItem:
    alone(tx)
    row = get(tx.connection, id)
    if body.version is not None and body.version != row.version:
        since = f"somebody changed the item since {body.version}; look at it and decide again"
        not_yet = f"there is no version {body.version} yet; look at it and decide again"
        raise Conflict(
            f"version is {row.version}: {since if body.version < row.version else not_yet}",
            code="version_conflict",
            pointer="/version",
            found=row.version,
            allowed="the version of the item as it is now",
            item=view(tx.connection, row, tx.now),
        )
    given = {name: value for name, value in msgspec.structs.asdict(body).items() if value is not UNSET}
    given.pop("version")
    values = _decided(tx, row, clean_values(given, ""))
    return apply_values(tx, row, values, history.CHANGED)


ACTIONS = (
    Action("/api/work-items", create_item, CreateItem, WorkItem, "Make a new work item", status=201),
    Action(
        "/api/work-items/{id}",
        change_item,
        ChangeItem,
        WorkItem,
        "Change what is named of a work item, and nothing else",
        method="PATCH",
    ),
)


# ---- what they do ----------------------------------------------------------------------------------------------------


def clean_values(given: dict[str, Any], pointer: str) -> dict[str, Any]:
    """What somebody wrote as it can be stored; an Invalid names the place of what cannot."""
    values = dict(given)
    for name, value in given.items():
        place = f"{pointer}/{name}"
        if name == "title":
            values[name] = clean_title(value, place)
        elif name in ("description", "acceptance"):
            values[name] = clean_text(value, place)
        elif name == "close_reason":
            values[name] = clean_text(value, place, LONGEST_REASON)
        elif name in ("labels", "concepts"):
            values[name] = clean_words(value, place)
        elif name == "targets":
            values[name] = clean_words(value, place, LONGEST_TARGET)
        elif name in ("assignee", "repository"):
            values[name] = clean_word(value, place) if value else None
        elif name == "parent":
            values[name] = value or None
        elif name == "extras":
            values[name] = clean_extras(value, place)
    return values


def new_row(tx: Transaction, values: dict[str, Any], held: int = 0, blockers: int = 0) -> dict[str, Any]:
    """A row of cleaned values, without its id."""
    state = State(values["state"])
    return {
        "created_at": tx.now,
        "created_by": tx.actor,
        "updated_at": tx.now,
        "updated_by": tx.actor,
        "closed_at": None,
        "closed_by": None,
        "close_reason": None,
        "ratified_at": None,
        "ratified_by": None,
        "version": 1,
        "claimed_by": None,
        "claimed_at": None,
        "claimed_until": None,
        "changes": 0,
        **stored(values),
        "place": place_of(values.get("user_order")),
        "finished": state in FINISHED,
        "blockers": blockers,
        "held": held,
        "standing": is_standing(state, blockers, held),
    }


def apply_values(tx: Transaction, row: Row[Any], values: dict[str, Any], kind: str) -> WorkItem:
    """Give an item's own columns other values: those that differ, with all that follows from them."""
    before = {name: value_of(row, name) for name in values}
    changed = [name for name in values if values[name] != before[name]]
    if not changed:
        return view(tx.connection, row, tx.now)
    columns = {name: values[name] for name in changed}
    touched: list[str] = []
    if "parent" in columns:
        _move_below(tx, row, columns["parent"])
        touched = [row.id]
    offers: list[Offer] = []
    if "state" in columns:
        target = State(columns["state"])
        for guard in tx.surroundings.get("transition_guards", ()):
            guard(tx, _with_both_tags(view_row(row, tx.now), columns), target)
        columns["finished"] = target in FINISHED
        touched = [row.id, *(blocked_by(tx.connection, [row.id]) if columns["finished"] != row.finished else ())]
        if columns["finished"]:
            columns |= {"claimed_by": None, "claimed_at": None, "claimed_until": None}
    if "user_order" in columns:
        columns["place"] = place_of(columns["user_order"])
    _update(tx, row, stored(columns))
    turned = settle(tx, touched)
    if columns.get("finished") and not row.finished:
        offers = _offers(tx, columns.get("parent", row.parent))
    history.record(tx, row.id, kind, {name: before[name] for name in changed}, {name: values[name] for name in changed})
    now = get(tx.connection, row.id)
    tx.emit(Draft("item.changed", told(tx, now, changed, turned, offers), ref=row.id))
    return view(tx.connection, now, tx.now, offers)


def _with_both_tags(item: WorkRow, columns: dict[str, Any]) -> WorkRow:
    """The item as a guard sees it: what it is about before a change and after it, so that the change hides neither."""
    tags = {
        name: [*getattr(item, name), *columns[name]] for name in ("labels", "concepts", "targets") if name in columns
    }
    return msgspec.structs.replace(item, **tags)


def told(
    tx: Transaction,
    row: Row[Any],
    changed: Sequence[str] = (),
    turned: Turned | None = None,
    offers: Sequence[Offer] = (),
) -> dict[str, Any]:
    """An event's payload: the item as lists show it, and what else a page has to draw anew."""
    turned = turned or Turned([], [])
    return {
        "item": view_row(row, tx.now),
        "fields": list(changed),
        "now_ready": turned.ready[:_MOST_TOLD],
        "now_unready": turned.unready[:_MOST_TOLD],
        "turned": len(turned.ready) + len(turned.unready),
        "offers": list(offers),
        "by": tx.actor,
        "cause": history.cause_of(tx),
    }


def value_of(row: Row[Any], name: str) -> Any:
    value = row._mapping[name]
    return msgspec.json.decode(value) if name in _JSON else value


def stored(values: dict[str, Any]) -> dict[str, Any]:
    return {name: encoded(value) if name in _JSON else value for name, value in values.items()}


def place_of(user_order: int | None) -> int:
    return LAST_PLACE if user_order is None else user_order


def _decided(tx: Transaction, row: Row[Any], values: dict[str, Any]) -> dict[str, Any]:
    """What was asked for as columns, with what the rules make of it."""
    if "title" in values or "kind" in values:
        title, kind = values.get("title", row.title), values.get("kind", row.kind)
        values["title"] = milestones.retitled(tx, row.title, row.kind, title, kind)
    if "ratified" in values:
        ratified = values.pop("ratified")
        if ratified != (row.ratified_at is not None):
            values |= {"ratified_at": tx.now if ratified else None, "ratified_by": tx.actor if ratified else None}
    state = State(values.get("state", row.state))
    if state != row.state:
        check_move(State(row.state), state)
        if state in FINISHED:
            values |= {"closed_at": tx.now, "closed_by": tx.actor, "close_reason": values.get("close_reason") or None}
        else:
            values |= dict.fromkeys(_CLOSED)
    elif "close_reason" in values and state not in FINISHED:
        raise Conflict(
            f"close_reason belongs to an item that is closed, and this one is {state}",
            code="not_closed",
            pointer="/close_reason",
            found=str(state),
            allowed=sorted(FINISHED),
        )
    return values


def _move_below(tx: Transaction, row: Row[Any], parent: str | None) -> None:
    if row.parent is not None:
        drop_parent_row(tx, row.parent, row.id)
    if parent is not None:
        check_end(tx.connection, parent, "/parent")
        put_parent_row(tx, parent, row.id)


def _insert(tx: Transaction, row: dict[str, Any]) -> str:
    prefix = milestones.prefix_of(tx)
    for attempt in range(_ATTEMPTS):
        taken = tx.insert_new(items, [{"id": new_id(prefix, attempt), **row}], "id")
        if taken:
            return str(taken.pop())
    raise AssertionError("no free id was found")


def _update(tx: Transaction, row: Row[Any], columns: dict[str, Any]) -> None:
    mine = update(items).where(items.c.id == row.id, items.c.version == row.version)
    changed = mine.values(**columns, version=row.version + 1, updated_at=tx.now, updated_by=tx.actor)
    if tx.connection.execute(changed).rowcount != 1:
        raise Conflict("somebody changed the item at this moment; look at it again", code="version_conflict")


def _offers(tx: Transaction, parent: str | None) -> list[Offer]:
    """What a person may want to close now: the parent of which this was the last unfinished child."""
    if parent is None:
        return []
    above = get(tx.connection, parent)
    unfinished = select(func.count()).select_from(items).where(items.c.parent == parent, ~items.c.finished)
    if above.finished or tx.connection.execute(unfinished).scalar_one():
        return []
    return [Offer("close", above.id, above.title)]
