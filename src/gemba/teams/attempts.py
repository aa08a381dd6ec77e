"""A task's attempts, a row each: the session and turn, what the gate said, how it ended. They are never written over.

Called where turns begin and end, and by the reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, bindparam, func, insert, select, update

from gemba import clock, typed
from gemba.handoff.snapshot import Snapshot
from gemba.store.database import Transaction
from gemba.teams.tables import attempts


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """As it is shown. `outcome` is what it came to: an event of the task, or `error`; none while it runs."""

    number: int
    version: int
    attempt: int
    session_id: str
    dispatch_id: str
    turn: int
    handoff_id: str | None
    outcome: str | None
    gate: dict[str, Any] | None
    checks: list[dict[str, Any]]
    review: dict[str, Any] | None
    trouble: str | None
    started_at: str
    ended_at: str | None


def count(connection: Connection, run_id: str, task_id: str) -> int:
    mine = (attempts.c.run_id == run_id, attempts.c.task_id == task_id)
    many: int = connection.execute(select(func.count()).select_from(attempts).where(*mine)).scalar_one()
    return many


def begin(
    tx: Transaction, task: Row[Any], *, session_id: str, dispatch_id: str, turn: int, before: Snapshot | None
) -> None:
    row = {
        "run_id": task.run_id,
        "task_id": task.id,
        "number": count(tx.connection, task.run_id, task.id) + 1,
        "version": task.version,
        "attempt": task.attempt,
        "fence": task.fence,
        "session_id": session_id,
        "dispatch_id": dispatch_id,
        "turn": turn,
        "before": None if before is None else msgspec.json.encode(before).decode(),
        "started_at": tx.now,
    }
    tx.connection.execute(insert(attempts), row)


BROUGHT_IN = frozenset({"passed", "passed_with_warnings", "accepted"})  # outcomes of work that is in the run's branch


def leave(tx: Transaction, task: Row[Any], outcome: str) -> None:
    """An attempt that nobody concluded is over, for what is said here."""
    last = latest(tx.connection, task.run_id, task.id)
    if last is not None and last.outcome is None:
        change_latest(tx, task, outcome=outcome, ended_at=tx.now)


def latest(connection: Connection, run_id: str, task_id: str) -> Row[Any] | None:
    return connection.execute(_latest, {"run_id": run_id, "task_id": task_id}).first()


# Made once: to make it takes longer than to run it, and a turn does so many times.
_latest = (
    select(attempts)
    .where(attempts.c.run_id == bindparam("run_id"), attempts.c.task_id == bindparam("task_id"))
    .order_by(attempts.c.number.desc())
    .limit(1)
)


def before_of(connection: Connection, run_id: str, task_id: str, dispatch_id: str) -> Snapshot | None:
    """The workspace as it was when a dispatch began."""
    mine = (attempts.c.run_id == run_id, attempts.c.task_id == task_id, attempts.c.dispatch_id == dispatch_id)
    first = select(attempts.c.before).where(*mine, attempts.c.before.is_not(None)).order_by(attempts.c.number)
    kept: str | None = connection.execute(first.limit(1)).scalar()
    return None if kept is None else typed.decode(kept, Snapshot)


def change_latest(tx: Transaction, task: Row[Any], **values: Any) -> None:
    """Lists and objects as JSON."""
    encoded = {name: _encoded(value) for name, value in values.items()}
    tx.connection.execute(_change_latest, {"its_run": task.run_id, "its_task": task.id, **encoded})


_others = attempts.alias()
_last = select(func.max(_others.c.number)).where(
    _others.c.run_id == bindparam("its_run"), _others.c.task_id == bindparam("its_task")
)
_change_latest = update(attempts).where(
    attempts.c.run_id == bindparam("its_run"),
    attempts.c.task_id == bindparam("its_task"),
    attempts.c.number == _last.scalar_subquery(),
)


def _encoded(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int) else msgspec.json.encode(value).decode()


def list_attempts(connection: Connection, run_id: str, task_id: str) -> list[Attempt]:
    """The newest first."""
    mine = select(attempts).where(attempts.c.run_id == run_id, attempts.c.task_id == task_id)
    return [_view(row) for row in connection.execute(mine.order_by(attempts.c.number.desc()))]


def sessions_of_task(connection: Connection, run_id: str, task_id: str) -> Sequence[str]:
    mine = (attempts.c.run_id == run_id, attempts.c.task_id == task_id)
    return connection.execute(select(attempts.c.session_id).where(*mine).distinct()).scalars().all()


def sessions_of(connection: Connection, run_id: str) -> Sequence[str]:
    mine = select(attempts.c.session_id).where(attempts.c.run_id == run_id).distinct()
    return connection.execute(mine).scalars().all()


def tasks_by_session(connection: Connection, run_id: str) -> dict[str, str]:
    """By every session of a run the task that it worked on last."""
    mine = select(attempts.c.session_id, attempts.c.task_id).where(attempts.c.run_id == run_id)
    return {row.session_id: row.task_id for row in connection.execute(mine.order_by(attempts.c.number))}


def _view(row: Row[Any]) -> Attempt:
    return Attempt(
        number=row.number,
        version=row.version,
        attempt=row.attempt,
        session_id=row.session_id,
        dispatch_id=row.dispatch_id,
        turn=row.turn,
        handoff_id=row.handoff_id,
        outcome=row.outcome,
        gate=None if row.gate is None else msgspec.json.decode(row.gate),
        checks=[] if row.checks is None else msgspec.json.decode(row.checks),
        review=None if row.review is None else msgspec.json.decode(row.review),
        trouble=row.trouble,
        started_at=clock.rfc3339(row.started_at),
        ended_at=clock.told(row.ended_at),
    )
