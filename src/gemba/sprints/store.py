"""Sprints as rows, as they are shown, in lists, and their history.

A change is written only where the row is as it was read: of two that change one sprint at once one wins, and the other
is told. Its entry in the history and its event are written with it. Called by the verbs of `planning` and by `burning`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, insert, select, update

from gemba import clock, typed
from gemba.errors import Conflict
from gemba.sprints.burn_down import BurnDown, burn_down
from gemba.sprints.scope import SprintItem, count_items, read_scope
from gemba.sprints.sprint import Level, SprintState, Thresholds
from gemba.sprints.tables import sprint_changes, sprint_days, sprints
from gemba.store import rows
from gemba.store.database import Transaction
from gemba.work.history import cause_of
from gemba.work.item import FINISHED, Cause

SLOT = "running"  # what every sprint that runs has as its slot

_fields = typed.decoder(dict[str, Any])
_running = select(sprints).where(sprints.c.slot == SLOT)


class Sprint(msgspec.Struct, frozen=True, kw_only=True):
    """A sprint as lists and events have it. `level` is the highest threshold that it has passed; one that is `held` has
    passed its stop and runs, so that nothing new is begun."""

    id: str
    title: str
    goal: str
    state: SprintState
    token_budget: int
    tokens_used: int
    burn_thresholds: Thresholds
    level: Level
    held: bool
    item_count: int
    finished_count: int
    created_at: str
    created_by: str
    updated_at: str
    updated_by: str
    started_at: str | None
    ends_at: str | None
    closed_at: str | None
    closed_by: str | None
    close_reason: str | None
    version: int


class SprintDetail(Sprint, frozen=True, kw_only=True):
    """A sprint with what is in it, and its burn-down."""

    items: list[SprintItem]
    burn_down: BurnDown


class SprintChange(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of a sprint's history."""

    number: int
    at: str
    kind: str
    actor: str
    cause: Cause
    before: dict[str, Any]
    after: dict[str, Any]


# ---- reading ---------------------------------------------------------------------------------------------------------


def get(connection: Connection, id: str) -> Row[Any]:
    return rows.get(connection, sprints, id, "sprint")


def get_locked(tx: Transaction, id: str) -> Row[Any]:
    return rows.get_locked(tx, sprints, id, "sprint")


def find_running(connection: Connection) -> Row[Any] | None:
    return connection.execute(_running).first()


def list_sprints(
    connection: Connection, states: Sequence[str], limit: int, before: tuple[int, str] | None
) -> tuple[list[Sprint], int, tuple[int, str] | None]:
    """Newest first: (a page, how many there are in all, where the next page starts)."""
    chosen = [sprints.c.state.in_(states)] if states else []
    page = rows.newest(connection, sprints.c.created_at, limit, before, chosen)
    counts = count_items(connection, [row.id for row in page.rows])
    return [Sprint(**_short(row, counts.get(row.id, (0, 0)))) for row in page.rows], page.total, page.next


def view(connection: Connection, row: Row[Any]) -> Sprint:
    return Sprint(**_short(row, count_items(connection, [row.id]).get(row.id, (0, 0))))


def detail(connection: Connection, row: Row[Any], now: int) -> SprintDetail:
    scope = read_scope(connection, row.id, now)
    finished = sum(item.state in FINISHED for item in scope.items)
    by_day = select(sprint_days.c.day, sprint_days.c.tokens).where(sprint_days.c.sprint_id == row.id)
    used: dict[int, int] = dict(connection.execute(by_day).all())
    until = now if row.closed_at is None else row.closed_at
    burnt = burn_down(row.started_at, until, row.ends_at, row.token_budget, used, scope.pieces)
    return SprintDetail(**_short(row, (len(scope.items), finished)), items=scope.items, burn_down=burnt)


def thresholds_of(row: Row[Any]) -> Thresholds:
    return Thresholds(row.inform, row.warn, row.stop)


def is_held(row: Row[Any]) -> bool:
    return bool(row.state == SprintState.RUNNING and row.level == Level.STOP)


def _short(row: Row[Any], counts: tuple[int, int]) -> dict[str, Any]:
    return {
        "id": row.id,
        "title": row.title,
        "goal": row.goal,
        "state": SprintState(row.state),
        "token_budget": row.token_budget,
        "tokens_used": row.tokens_used,
        "burn_thresholds": thresholds_of(row),
        "level": Level(row.level),
        "held": is_held(row),
        "item_count": counts[0],
        "finished_count": counts[1],
        "created_at": clock.rfc3339(row.created_at),
        "created_by": row.created_by,
        "updated_at": clock.rfc3339(row.updated_at),
        "updated_by": row.updated_by,
        "started_at": clock.told(row.started_at),
        "ends_at": clock.told(row.ends_at),
        "closed_at": clock.told(row.closed_at),
        "closed_by": row.closed_by,
        "close_reason": row.close_reason,
        "version": row.version,
    }


# ---- changing --------------------------------------------------------------------------------------------------------


def change(tx: Transaction, row: Row[Any], **values: Any) -> Row[Any]:
    """Somebody's change: a new version of the sprint."""
    decided = {**values, "version": row.version + 1, "updated_at": tx.now, "updated_by": tx.actor}
    mine = update(sprints).where(sprints.c.id == row.id, sprints.c.version == row.version, sprints.c.state == row.state)
    if tx.connection.execute(mine.values(decided)).rowcount != 1:
        raise Conflict(
            f"somebody changed the sprint {row.id} at this moment; look at it again", code="version_conflict"
        )
    return get(tx.connection, row.id)


def told(tx: Transaction, row: Row[Any], fields: Sequence[str] = ()) -> dict[str, Any]:
    """An event's payload: the sprint as lists show it, and what changed of it."""
    shown = view(tx.connection, row)
    return {"sprint": shown, "fields": list(fields), "by": tx.actor, "cause": cause_of(tx)}


def record(tx: Transaction, id: str, kind: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    """An entry in the history of the sprint."""
    counted = update(sprints).where(sprints.c.id == id).values(changes=sprints.c.changes + 1)
    number: int = tx.connection.execute(counted.returning(sprints.c.changes)).scalar_one()
    cause = cause_of(tx)
    entry = {
        "sprint_id": id,
        "number": number,
        "at": tx.now,
        "kind": kind,
        "actor": tx.actor,
        "cause": cause.kind,
        "cause_id": cause.id,
        "before": msgspec.json.encode(before).decode(),
        "after": msgspec.json.encode(after).decode(),
    }
    tx.connection.execute(insert(sprint_changes), entry)


def list_changes(
    connection: Connection, id: str, limit: int, before: int | None
) -> tuple[list[SprintChange], int, int | None]:
    """Newest first: (a page, how many there are in all, before which number the next page starts)."""
    page, total, following = rows.latest(connection, sprint_changes.c.sprint_id, id, limit, before)
    return [_entry(row) for row in page], total, following


def _entry(row: Row[Any]) -> SprintChange:
    return SprintChange(
        number=row.number,
        at=clock.rfc3339(row.at),
        kind=row.kind,
        actor=row.actor,
        cause=Cause(row.cause, row.cause_id),
        before=_fields.decode(row.before),
        after=_fields.decode(row.after),
    )
