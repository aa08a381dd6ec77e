"""Runs and tasks as rows, and their moves: each commits only where the state is what it was decided on, with its event.

Whoever changes what waits for what, or how many tasks have not ended, locks the run first and its tasks after it, in
graph order: so no two who do that wait for each other. Called by all that runs a team.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, Select, bindparam, select, update

from gemba import typed
from gemba.errors import Conflict, NotFound
from gemba.event import Draft
from gemba.store import rows
from gemba.store.database import Transaction
from gemba.store.lists import as_parameter, within
from gemba.teams.plan import TaskOptions
from gemba.teams.run import RUN, RunSettings, RunState, check_id
from gemba.teams.tables import edges, runs, tasks
from gemba.teams.task import Position, TaskState, WaitingFor, move
from gemba.text import storable

AT_WORK = (TaskState.CLAIMED, TaskState.RUNNING, TaskState.VERIFYING)

_options = typed.decoder(TaskOptions)
_settings = typed.decoder(RunSettings)
_strings = typed.decoder(list[str])


def json_of(value: object) -> str:
    """A value as a column keeps it."""
    return storable(msgspec.json.encode(value).decode())


def ref_of(run_id: str, task_id: str) -> str:
    """What events of a task, and what its turns took, are found under."""
    return f"{run_id}/{task_id}"


# ---- runs ------------------------------------------------------------------------------------------------------------


def get_run(connection: Connection, id: str) -> Row[Any]:
    return rows.get(connection, runs, check_id(id), "team run")


def lock_run(tx: Transaction, id: str) -> Row[Any]:
    return rows.get_locked(tx, runs, check_id(id), "team run")


def settings_of(run: Row[Any]) -> RunSettings:
    return _settings.decode(run.settings)


def move_run(tx: Transaction, run: Row[Any], event: str, **values: Any) -> Row[Any]:
    """A run that is locked goes on to its next state."""
    state = RUN.after(RunState(run.state), event)
    change_run(tx, run.id, state=state, **values)
    said = {"state": state, "by": tx.actor, "trouble": values.get("trouble")}
    tx.emit(Draft("team.changed", said, ref=run.id))
    return get_run(tx.connection, run.id)


def change_run(tx: Transaction, id: str, **values: Any) -> None:
    tx.connection.execute(update(runs).where(runs.c.id == id).values(unwritten=True, **values))


_touch = update(runs).where(runs.c.id == bindparam("its_id")).values(unwritten=True)
_fewer_unended = _touch.values(unended=runs.c.unended - bindparam("fewer")).returning(runs)


def touch_run(tx: Transaction, id: str) -> None:
    """Its row is the caller's until the transaction ends, and its folder is written anew."""
    tx.connection.execute(_touch, {"its_id": id})


def count_ended(tx: Transaction, id: str, many: int) -> Row[Any]:
    """So many of its tasks have ended; the run as it is then."""
    return tx.connection.execute(_fewer_unended, {"its_id": id, "fewer": many}).one()


# ---- tasks -----------------------------------------------------------------------------------------------------------


# Made once: to make one of these takes several times as long as to run it, and a turn runs each many times.
_task = select(tasks).where(tasks.c.run_id == bindparam("run_id"), tasks.c.id == bindparam("id"))
_task_locked = _task.with_for_update()
_change_task = (
    update(tasks).where(tasks.c.run_id == bindparam("its_run"), tasks.c.id == bindparam("its_id")).returning(tasks)
)
_move_task = _change_task.where(tasks.c.state == bindparam("its_state"), tasks.c.fence == bindparam("its_fence"))


@cache
def _tasks_among(dialect: str) -> Select[Any]:
    mine = (tasks.c.run_id == bindparam("run_id"), within(dialect, tasks.c.id, "ids"))
    return select(tasks).where(*mine).order_by(tasks.c.place)


def find_task(connection: Connection, run_id: str, id: str) -> Row[Any] | None:
    return connection.execute(_task, {"run_id": run_id, "id": id}).first()


def get_task(connection: Connection, run_id: str, id: str) -> Row[Any]:
    row = find_task(connection, run_id, id)
    if row is None:
        raise NotFound(f"{run_id} has no task {id[:60]}", code="unknown_task", found=id[:60])
    return row


def lock_task(tx: Transaction, run_id: str, id: str) -> Row[Any]:
    row = tx.connection.execute(_task_locked, {"run_id": run_id, "id": id}).first()
    return get_task(tx.connection, run_id, id) if row is None else row


def all_tasks(connection: Connection, run_id: str) -> Sequence[Row[Any]]:
    """In graph order."""
    return connection.execute(select(tasks).where(tasks.c.run_id == run_id).order_by(tasks.c.place)).all()


def tasks_among(connection: Connection, run_id: str, ids: Collection[str]) -> Sequence[Row[Any]]:
    """Those of these ids, in graph order."""
    dialect = connection.dialect.name
    given = {"run_id": run_id, "ids": as_parameter(dialect, sorted(ids))}
    return connection.execute(_tasks_among(dialect), given).all()


def lock_dependents(tx: Transaction, run_id: str, blocker: str) -> Sequence[Row[Any]]:
    """What waits for a task directly, in graph order."""
    behind = select(edges.c.task).where(edges.c.run_id == run_id, edges.c.blocker == blocker)
    found = select(tasks).where(tasks.c.run_id == run_id, tasks.c.id.in_(behind)).order_by(tasks.c.place)
    return tx.connection.execute(found.with_for_update()).all()


def blockers_of(row: Row[Any]) -> list[str]:
    return _strings.decode(row.blocked_by)


def words_of(row: Row[Any]) -> list[str]:
    """What its versions are to do otherwise, and what was said to it, oldest first."""
    return _strings.decode(row.words)


def options_of(row: Row[Any]) -> TaskOptions:
    return _options.decode(row.given)


def position_of(row: Row[Any]) -> Position:
    return Position(TaskState(row.state), None if row.waiting_for is None else WaitingFor(row.waiting_for))


def move_task(
    tx: Transaction, row: Row[Any], event: str, waiting_for: WaitingFor | None = None, **values: Any
) -> Row[Any]:
    """The task as it is then; a Conflict where it is not as it was read."""
    at = move(position_of(row), event, waiting_for)
    values = {"reason": None, **values, "state": at.state, "waiting_for": at.waiting_for, "changed_at": tx.now}
    as_read = {"its_run": row.run_id, "its_id": row.id, "its_state": row.state, "its_fence": row.fence}
    moved = tx.connection.execute(_move_task, {**as_read, **values}).first()
    if moved is None:
        found = get_task(tx.connection, row.run_id, row.id)
        raise Conflict(f"{row.id} is {found.state} meanwhile", code="changed_meanwhile", found=found.state)
    tell(tx, moved, event)
    return moved


def tell(tx: Transaction, row: Row[Any], event: str) -> None:
    said = {
        "run_id": row.run_id,
        "task_id": row.id,
        "event": event,
        "state": row.state,
        "waiting_for": row.waiting_for,
        "version": row.version,
        "attempt": row.attempt,
        "score": row.score,
        "reason": row.reason,
    }
    tx.emit(Draft("team.task_changed", said, row.session_id, ref_of(row.run_id, row.id)))


def change_task(tx: Transaction, row: Row[Any], **values: Any) -> Row[Any]:
    """Columns beside its state."""
    this = {"its_run": row.run_id, "its_id": row.id}
    return tx.connection.execute(_change_task, {**this, "changed_at": tx.now, **values}).one()


def is_held(row: Row[Any] | None, fence: int) -> bool:
    """Whether a claim of this number is still the one that works on a task."""
    return row is not None and row.fence == fence and row.state in AT_WORK
