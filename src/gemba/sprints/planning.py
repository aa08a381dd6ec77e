"""Sprints made and changed, as actions: planned, given items and a budget, started, closed.

Each change stands with its history, its entry in the audit log and its event in one transaction; an action that is
repeated under its confirm id is done once. Of two that start a sprint at the same time one does: the database has room
for one that runs. Called by the API and, without a server, by the command line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType
from sqlalchemy import Row, delete, insert, select, update

from gemba import clock
from gemba.action import Action, Id
from gemba.errors import Conflict, Invalid
from gemba.event import Draft
from gemba.handoff import audit
from gemba.sprints import burning, store
from gemba.sprints.sprint import (
    LONGEST_GOAL,
    MACHINE,
    MOST_ITEMS,
    USUAL,
    Level,
    SprintState,
    Thresholds,
    Tokens,
)
from gemba.sprints.store import SLOT, SprintDetail, detail, get, get_locked, thresholds_of, told
from gemba.sprints.tables import sprint_items, sprints
from gemba.store.database import Transaction
from gemba.store.schema import counters
from gemba.work.item import LONGEST_REASON, clean_text, clean_title
from gemba.work.items import find_many

Ids = Annotated[list[Id], msgspec.Meta(max_length=MOST_ITEMS)]
Moment = Annotated[str, msgspec.Meta(max_length=64, description="a moment, as RFC 3339")]


class NewSprint(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a sprint is to be: what it is called, how many tokens it may take, and what is in it."""

    title: str
    token_budget: Tokens
    goal: str = ""
    burn_thresholds: Thresholds = USUAL
    ends_at: Moment | None = None
    item_ids: Ids = []


class ChangeSprint(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What changes. With the `version` that it was decided on, a change that somebody made meanwhile is a conflict."""

    title: str | UnsetType = UNSET
    goal: str | UnsetType = UNSET
    token_budget: Tokens | UnsetType = UNSET
    burn_thresholds: Thresholds | UnsetType = UNSET
    ends_at: Moment | UnsetType | None = UNSET
    version: Annotated[int, msgspec.Meta(ge=1)] | None = None


class SprintItems(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Work items by their ids."""

    item_ids: Annotated[list[Id], msgspec.Meta(min_length=1, max_length=MOST_ITEMS)]


class StartSprint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """It begins now; `ends_at` says until when, if that was not said before."""

    ends_at: Moment | None = None


class CloseSprint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """It is over, and why."""

    reason: str = ""


# ---- verbs -----------------------------------------------------------------------------------------------------------


def create_sprint(tx: Transaction, body: NewSprint) -> SprintDetail:
    body.burn_thresholds.check("/burn_thresholds")
    row = {
        "id": _next_id(tx),
        "title": clean_title(body.title, "/title"),
        "goal": clean_text(body.goal, "/goal", LONGEST_GOAL),
        "state": SprintState.PLANNED,
        "slot": None,
        "token_budget": body.token_budget,
        **msgspec.structs.asdict(body.burn_thresholds),
        "tokens_used": 0,
        "level": Level.NONE,
        "passes": 0,
        "created_at": tx.now,
        "created_by": tx.actor,
        "updated_at": tx.now,
        "updated_by": tx.actor,
        "ends_at": _moment(body.ends_at, "/ends_at", after=tx.now),
        "version": 1,
        "changes": 0,
    }
    tx.connection.execute(insert(sprints), row)
    added = _add(tx, row["id"], body.item_ids)
    store.record(tx, row["id"], "created", {}, {"token_budget": body.token_budget, "item_ids": added})
    made = get(tx.connection, row["id"])
    return _tell(tx, made, Draft("sprint.created", told(tx, made), ref=made.id))


def change_sprint(tx: Transaction, body: ChangeSprint, *, id: str) -> SprintDetail:
    row = _open(tx, id)
    if body.version is not None and body.version != row.version:
        raise Conflict(
            f"version is {row.version}: somebody changed the sprint since {body.version}; look at it and decide again",
            code="version_conflict",
            pointer="/version",
            found=row.version,
            allowed="the version of the sprint as it is now",
        )
    values = _cleaned(tx, row, body)
    changed = {name: value for name, value in values.items() if value != getattr(row, name)}
    if not changed:
        return detail(tx.connection, row, tx.now)
    before = {name: getattr(row, name) for name in changed}
    store.record(tx, id, "changed", _shown(before), _shown(changed))
    row = burning.settle(tx, store.change(tx, row, **changed))
    return _tell(tx, row, Draft("sprint.changed", told(tx, row, sorted(changed)), ref=id))


def add_items(tx: Transaction, body: SprintItems, *, id: str) -> SprintDetail:
    """What is in it already stays in it."""
    row = _open(tx, id)
    added = _add(tx, id, body.item_ids)
    if not added:
        return detail(tx.connection, row, tx.now)
    store.record(tx, id, "added", {}, {"item_ids": added})
    row = store.change(tx, row)
    return _tell(tx, row, Draft("sprint.changed", told(tx, row, ["items"]), ref=id))


def remove_items(tx: Transaction, body: SprintItems, *, id: str) -> SprintDetail:
    """What is not in it is no fault: it is as it should be."""
    row = _open(tx, id)
    gone = (sprint_items.c.sprint_id == id, sprint_items.c.item_id.in_(body.item_ids))
    removed = tx.connection.execute(delete(sprint_items).where(*gone).returning(sprint_items.c.item_id)).scalars().all()
    if not removed:
        return detail(tx.connection, row, tx.now)
    store.record(tx, id, "removed", {"item_ids": sorted(removed)}, {})
    row = store.change(tx, row)
    return _tell(tx, row, Draft("sprint.changed", told(tx, row, ["items"]), ref=id))


def start_sprint(tx: Transaction, body: StartSprint, *, id: str) -> SprintDetail:
    row = get_locked(tx, id)
    state = MACHINE.after(SprintState(row.state), "started")
    ends_at = _moment(body.ends_at, "/ends_at", after=tx.now) or row.ends_at
    if ends_at is not None and ends_at <= tx.now:
        raise _ends_before(clock.rfc3339(ends_at), "/ends_at", tx.now)
    _take_slot(tx, id)
    row = store.change(tx, row, state=state, started_at=tx.now, ends_at=ends_at)
    store.record(tx, id, "started", {"state": SprintState.PLANNED}, {"state": state})
    return _tell(tx, row, Draft("sprint.started", told(tx, row), ref=id))


def close_sprint(tx: Transaction, body: CloseSprint, *, id: str) -> SprintDetail:
    """What is not finished stays what it is, and can go into the next one."""
    row = get_locked(tx, id)
    state = MACHINE.after(SprintState(row.state), "closed")
    why = f"{id} is closed"
    cards = {**burning.take_back(tx, row, Level.WARN, why), **burning.take_back(tx, row, Level.STOP, why)}
    reason = clean_text(body.reason, "/reason", LONGEST_REASON).strip() or None
    closed = {"closed_at": tx.now, "closed_by": tx.actor, "close_reason": reason}
    before = row.state
    row = store.change(tx, row, state=state, slot=None, **closed, **cards)
    store.record(tx, id, "closed", {"state": before}, {"state": state, "close_reason": reason})
    return _tell(tx, row, Draft("sprint.closed", told(tx, row), ref=id))


ACTIONS = (
    Action("/api/sprints", create_sprint, NewSprint, SprintDetail, "Plan a sprint", status=201),
    Action(
        "/api/sprints/{id}",
        change_sprint,
        ChangeSprint,
        SprintDetail,
        "Change what is named of a sprint, and nothing else",
        method="PATCH",
    ),
    Action("/api/sprints/{id}/items", add_items, SprintItems, SprintDetail, "Put work items into a sprint"),
    Action("/api/sprints/{id}/items/remove", remove_items, SprintItems, SprintDetail, "Take items out of a sprint"),
    Action("/api/sprints/{id}/start", start_sprint, StartSprint, SprintDetail, "Start a sprint"),
    Action("/api/sprints/{id}/close", close_sprint, CloseSprint, SprintDetail, "Say that a sprint is over"),
)


# ---- what they do ----------------------------------------------------------------------------------------------------


def _next_id(tx: Transaction) -> str:
    """Counted up and never given twice; the counter stays locked until the commit."""
    tx.add(counters, [{"name": "sprints", "value": 1}])
    number: int = tx.connection.execute(select(counters.c.value).where(counters.c.name == "sprints")).scalar_one()
    return f"sprint-{number}"


def _open(tx: Transaction, id: str) -> Row[Any]:
    row = get_locked(tx, id)
    if row.state == SprintState.CLOSED:
        raise Conflict(
            f"{id} is closed: nothing of it changes any more",
            code="sprint_closed",
            found=row.state,
            allowed=[str(SprintState.PLANNED), str(SprintState.RUNNING)],
        )
    return row


def _cleaned(tx: Transaction, row: Row[Any], body: ChangeSprint) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if body.title is not UNSET:
        values["title"] = clean_title(body.title, "/title")
    if body.goal is not UNSET:
        values["goal"] = clean_text(body.goal, "/goal", LONGEST_GOAL)
    if body.token_budget is not UNSET:
        values["token_budget"] = body.token_budget
    if body.burn_thresholds is not UNSET:
        body.burn_thresholds.check("/burn_thresholds")
        values |= msgspec.structs.asdict(body.burn_thresholds)
    if body.ends_at is not UNSET:
        values["ends_at"] = _moment(body.ends_at, "/ends_at", after=row.started_at or tx.now)
    return values


def _add(tx: Transaction, id: str, item_ids: Sequence[str]) -> list[str]:
    """Those that were not in it before, in their order."""
    wanted = list(dict.fromkeys(item_ids))
    known = find_many(tx.connection, wanted)
    for place, item_id in enumerate(item_ids):
        if item_id not in known:
            raise Invalid(
                f"/item_ids/{place} is {item_id[:80]!r}; allowed: the id of a work item that there is",
                code="unknown_item",
                pointer=f"/item_ids/{place}",
                found=item_id[:80],
            )
    mine = select(sprint_items.c.item_id).where(sprint_items.c.sprint_id == id)
    there = set(tx.connection.execute(mine).scalars())
    new = [item_id for item_id in wanted if item_id not in there]
    if len(there) + len(new) > MOST_ITEMS:
        raise Invalid(
            f"/item_ids: the sprint would have {len(there) + len(new):,} items; allowed: up to {MOST_ITEMS:,}",
            code="too_many_items",
            pointer="/item_ids",
            found=len(there) + len(new),
            allowed=MOST_ITEMS,
        )
    if new:
        about = {"sprint_id": id, "added_at": tx.now, "added_by": tx.actor}
        tx.connection.execute(insert(sprint_items), [{"item_id": item_id, **about} for item_id in new])
    return new


def _take_slot(tx: Transaction, id: str) -> None:
    """One runs at a time: of two that are started at once the second finds it taken."""
    tx.add(counters, [{"name": "sprints", "value": 0}])  # whoever starts one waits here for whoever does so already
    running = store.find_running(tx.connection)
    if running is not None:
        raise Conflict(
            f"{running.id} ({running.title}) runs; allowed: one at a time. Close it first",
            code="sprint_running",
            found=running.id,
        )
    tx.connection.execute(update(sprints).where(sprints.c.id == id).values(slot=SLOT))


def _moment(text: str | None, pointer: str, *, after: int) -> int | None:
    if text is None:
        return None
    found = clock.parse(text)
    if found is None:
        allowed = "a moment with its zone, as RFC 3339: 2026-03-01T18:00:00Z"
        words = f"{pointer} is {text[:40]!r}; allowed: {allowed}"
        raise Invalid(words, code="invalid_value", pointer=pointer, found=text[:40], allowed=allowed)
    if found <= after:
        raise _ends_before(text, pointer, after)
    return found


def _ends_before(text: str, pointer: str, after: int) -> Invalid:
    allowed = f"later than {clock.rfc3339(after)}"
    return Invalid(
        f"{pointer} is {text[:40]!r}; allowed: {allowed}",
        code="ends_before_it_starts",
        pointer=pointer,
        found=text[:40],
        allowed=allowed,
    )


def _shown(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: clock.rfc3339(value) if name.endswith("_at") and isinstance(value, int) else value
        for name, value in values.items()
    }


def _tell(tx: Transaction, row: Row[Any], draft: Draft) -> SprintDetail:
    """The event, and the same for the audit log."""
    tx.emit(draft)
    thresholds = msgspec.to_builtins(thresholds_of(row))
    kept = {"state": row.state, "token_budget": row.token_budget, "tokens_used": row.tokens_used}
    fields = draft.payload["fields"]
    audit.record(tx, draft.name, row.id, {**kept, "burn_thresholds": thresholds, "fields": fields})
    return detail(tx.connection, row, tx.now)
