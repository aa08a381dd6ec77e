"""The bus of a team run: messages that are posted, read and acknowledged, and the state that they add up to.

A post takes the numbers of its messages from the run's row, in the transaction in which they are stored: any number of
writers, in any number of processes, leave no number twice and none out, and a writer that is killed leaves none. Who
posts has the run's row until it commits, as by `store.lock_run`: so the state of a task is merged by one at a time, and
who changes tasks in the same transaction locks the run before them.

What is sent to `all` is everybody's. Each recipient has a cursor, the last message that it has acknowledged, which only
moves forward. Called by the engine, and by the surfaces through `messaging.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, and_, bindparam, func, select, update

from gemba.errors import Conflict, Invalid
from gemba.event import Draft
from gemba.store.database import Transaction
from gemba.store.lists import as_parameter, within
from gemba.teams.bus_reads import RecipientStatus, decoded_state, goes_to
from gemba.teams.message import ALL, MOST_AT_ONCE, KnownState, Message, StateUpdate, checked, checked_name, merged_all
from gemba.teams.run import COORDINATOR, check_id
from gemba.teams.store import get_run, get_task, lock_run
from gemba.teams.tables import cursors, messages, runs, states, tasks

_MOST_TOLD = 10  # names of a kind in one event


# ---- posting ---------------------------------------------------------------------------------------------------------


def post(
    tx: Transaction,
    run_id: str,
    sender: str,
    type: str,  # noqa: A002 - as a message has it
    summary: str,
    data: dict[str, Any] | None = None,
    recipient: str = COORDINATOR,
) -> int:
    """Post one message; its number."""
    return post_many(tx, run_id, [checked(sender, type, summary, data, recipient)])[0]


def post_many(tx: Transaction, run_id: str, given: Sequence[Message], session_id: str | None = None) -> range:
    """Post messages, all or none; their numbers. `session_id` is the session that they come from, if they do."""
    if not 1 <= len(given) <= MOST_AT_ONCE:
        allowed = f"1 to {MOST_AT_ONCE}"
        raise Invalid(
            f"{len(given):,} messages at once; allowed: {allowed}",
            code="invalid_value",
            pointer="/messages",
            found=len(given),
            allowed=allowed,
        )
    last = _take_numbers(tx, run_id, len(given))
    numbers = range(last - len(given) + 1, last + 1)
    _keep_states(tx, run_id, list(zip(numbers, given, strict=True)))
    tx.insert_many(
        messages,
        [
            {
                "run_id": run_id,
                "id": number,
                "at": tx.now,
                "sender": each.sender,
                "recipient": each.recipient,
                "type": each.type,
                "known": each.known,
                "summary": each.summary,
                "data": msgspec.json.encode(each.data).decode(),
            }
            for number, each in zip(numbers, given, strict=True)
        ],
    )
    told = {
        "first": numbers[0],
        "last": last,
        "from": _some(each.sender for each in given),
        "to": _some(each.recipient for each in given),
        "types": _some(each.type for each in given),
    }
    tx.emit(Draft("team.message", told, session_id=session_id, ref=run_id))
    return numbers


def _some(names: Iterable[str]) -> list[str]:
    return sorted(set(names))[:_MOST_TOLD]


_count_up = (
    update(runs)
    .where(runs.c.id == bindparam("run"), runs.c.archived_at.is_(None))
    .values(messages=runs.c.messages + bindparam("many"), unwritten=True)
    .returning(runs.c.messages)
)


def _take_numbers(tx: Transaction, run_id: str, many: int) -> int:
    """The last of so many new numbers; its run is the caller's until the transaction ends."""
    last: int | None = tx.connection.execute(_count_up, {"run": check_id(run_id), "many": many}).scalar()
    if last is None:
        get_run(tx.connection, run_id)
        raise Conflict(f"{run_id} is archived: nothing more is said in it", code="archived", found=run_id)
    return last


def _keep_states(tx: Transaction, run_id: str, numbered: Sequence[tuple[int, Message]]) -> None:
    """Merge the updates among these into the states of their tasks. What is bound to a task wants one of the run's."""
    bound = {task_id for _, each in numbered if (task_id := each.bound_to) is not None}
    if not bound:
        return
    known = _states_of(tx.connection, run_id, sorted(bound))
    for task_id in sorted(bound.difference(known)):
        get_task(tx.connection, run_id, task_id)  # NotFound says which
    updates: dict[str, list[StateUpdate]] = {}
    latest: dict[str, int] = {}
    for number, each in numbered:
        if isinstance(each.about, StateUpdate):
            updates.setdefault(each.about.task_id, []).append(each.about)
            latest[each.about.task_id] = number
    rows = [
        {
            "run_id": run_id,
            "task_id": task_id,
            "state": msgspec.json.encode(merged_all(known[task_id], given)).decode(),
            "message_id": latest[task_id],
            "at": tx.now,
        }
        for task_id, given in updates.items()
    ]
    tx.put(states, rows)


@cache
def _states_query(dialect: str) -> Select[Any]:
    beside = and_(states.c.run_id == tasks.c.run_id, states.c.task_id == tasks.c.id)
    query = select(tasks.c.id, states.c.state).join_from(tasks, states, beside, isouter=True)
    return query.where(tasks.c.run_id == bindparam("run"), within(dialect, tasks.c.id, "tasks"))


def _states_of(connection: Connection, run_id: str, task_ids: Sequence[str]) -> dict[str, KnownState]:
    """By task of the run what is known of it; a task of which nothing is has an empty state."""
    dialect = connection.dialect.name
    given = {"run": run_id, "tasks": as_parameter(dialect, task_ids)}
    return {row.id: decoded_state(row.state) for row in connection.execute(_states_query(dialect), given)}


# ---- acknowledging ---------------------------------------------------------------------------------------------------


def acknowledge(tx: Transaction, run_id: str, recipient: str, up_to: int | None = None) -> RecipientStatus:
    """The recipient has read so far: everything, unless it is said. What it has acknowledged before stays so."""
    name = checked_name(recipient, "/recipient")
    if name == ALL:
        raise Invalid(f"{ALL} reads nothing", code="invalid_value", pointer="/recipient", found=ALL)
    last: int = lock_run(tx, run_id).messages
    if up_to is not None and not 0 <= up_to <= last:
        raise Invalid(
            f"up_to is {up_to}; allowed: 0 to {last}, the number of the last message",
            code="invalid_value",
            pointer="/up_to",
            found=up_to,
            allowed=f"0 to {last}",
        )
    mine = select(cursors.c.seen).where(cursors.c.run_id == run_id, cursors.c.recipient == name)
    before: int = tx.connection.execute(mine).scalar() or 0
    seen = max(before, last if up_to is None else up_to)
    tx.put(cursors, [{"run_id": run_id, "recipient": name, "seen": seen, "at": tx.now}])
    unread = select(func.count()).where(messages.c.run_id == run_id, messages.c.id > seen, goes_to(name))
    return RecipientStatus(name, tx.connection.execute(unread).scalar_one(), seen)
