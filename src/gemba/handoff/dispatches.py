"""The dispatches table: each piece of work that was given to an agent, how far it got, and how it is found.

A dispatch keeps the envelope that its agent was given, the folder as it was then, what its gate checks, and its plan
status. A move is written only where what it was decided on still stands: of two for one dispatch one wins, and the
other is told. After the commit the envelope lies on disk, where a hook finds it without a server. Called by the
actions that dispatch, and by whatever takes an envelope that comes back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import BigInteger, Column, Connection, Index, Integer, Row, Table, Text, bindparam, insert, select
from sqlalchemy import update as update_of

from gemba import clock, typed, wire
from gemba.errors import Conflict, Invalid
from gemba.event import Draft
from gemba.handoff import envelope_files, status
from gemba.handoff.check import GatePolicy
from gemba.handoff.envelope import Assignment, InputEnvelope, Memory, as_given, compose, new_metadata, render
from gemba.handoff.sections import Section
from gemba.handoff.snapshot import Snapshot
from gemba.handoff.status import PlanStatus, Progress
from gemba.store import events, rows
from gemba.store.database import Transaction
from gemba.store.schema import metadata
from gemba.text import storable

dispatches = Table(
    "dispatches",
    metadata,
    Column("id", Text, primary_key=True),
    Column("origin", Text, nullable=False),  # the home that has its files, and the machine that has its folder
    Column("agent_id", Text, nullable=False),
    Column("session_id", Text),  # that spoke last; not known before the agent's client speaks
    Column("role", Text),
    Column("task_id", Text),
    Column("provider", Text, nullable=False),
    Column("folder", Text, nullable=False),
    Column("goal", Text, nullable=False),
    Column("envelope", Text, nullable=False),
    Column("snapshot", Text, nullable=False),
    Column("since_event", BigInteger, nullable=False),  # the last event before it: what is done for it comes after
    Column("policy", Text, nullable=False),
    Column("status", Text),
    Column("in_progress", Integer, nullable=False),
    Column("turn", Integer, nullable=False),
    Column("repairs", Text, nullable=False),  # the codes of each refusal of this turn, as JSON
    Column("accepted_id", Text),
    Column("completed_at", BigInteger),
    Column("created_at", BigInteger, nullable=False),
    Column("changed_at", BigInteger, nullable=False),
    Index("dispatches_by_age", "created_at", "id"),
    Index("dispatches_by_session", "session_id", "created_at", "id"),
    Index("dispatches_by_origin", "origin", "completed_at", "id"),
)

LARGEST_ENVELOPE = 16 * 1024 * 1024  # bytes that a hook reads of one

_LARGE = (dispatches.c.envelope, dispatches.c.snapshot)
_IN_LISTS = [column for column in dispatches.c if column not in _LARGE]


class Dispatch(msgspec.Struct, frozen=True):
    """A dispatch as the API, the page and the command line show it; in a list, without its envelope."""

    id: str
    agent_id: str
    session_id: str | None
    role: str | None
    task_id: str | None
    provider: str
    folder: str
    goal: str
    policy: GatePolicy
    status: PlanStatus | None
    in_progress: int
    turn: int
    repairs: list[list[str]]
    accepted_id: str | None
    completed_at: str | None
    created_at: str
    changed_at: str
    envelope: InputEnvelope | None


# ---- making one ------------------------------------------------------------------------------------------------------


def create(
    tx: Transaction,
    assignment: Assignment,
    *,
    session_id: str | None,
    provider: str,
    task_id: str | None,
    folder: str,
    policy: GatePolicy,
    snapshot: Snapshot,
    sections: Sequence[Section] = (),
    facts: Mapping[str, Any] | None = None,
    memory: Iterable[Memory] = (),
    with_logs: bool = False,
    team: Mapping[str, Any] | None = None,
) -> Dispatch:
    """Give work to an agent: its ids are new, and its files are there once this is committed."""
    ids = new_metadata(session_id or "", provider, task_id)
    envelope = compose(assignment, ids, sections=sections, facts=facts, memory=memory, with_logs=with_logs, team=team)
    given = storable(json.dumps(as_given(envelope), ensure_ascii=False))
    _check_size(given, render(envelope))
    row = {
        "id": ids.dispatch_id,
        "origin": tx.surroundings.get("origin", ""),
        "agent_id": ids.agent_id,
        "session_id": session_id,
        "role": assignment.role,
        "task_id": task_id,
        "provider": provider,
        "folder": folder,
        "goal": storable(assignment.goal),
        "envelope": given,
        "snapshot": msgspec.json.encode(snapshot).decode(),
        "since_event": events.last_id(tx.connection),
        "policy": msgspec.json.encode(policy).decode(),
        "in_progress": 0,
        "turn": 1,
        "repairs": "[]",
        "created_at": tx.now,
        "changed_at": tx.now,
    }
    tx.connection.execute(insert(dispatches), row)
    made = get(tx.connection, ids.dispatch_id)
    said = {"agent_id": made.agent_id, "role": made.role, "task_id": made.task_id, "turn": made.turn}
    tx.emit(Draft("dispatch.created", said, session_id, made.id))
    _lay_down(tx, made)
    return view(made)


def _check_size(given: str, told: str) -> None:
    """Whether a hook will read both files: it takes no more than these."""
    for what, text, most in (("envelope", given, LARGEST_ENVELOPE), ("briefing", told, wire.MAX_TEXT)):
        size = len(text.encode())
        if size > most:
            words = f"the {what} would take {size:,} bytes; allowed: {most:,}. Long texts belong in files that it names"
            raise Invalid(words, code=f"{what}_too_large", found=size, allowed=most)


# ---- reading ---------------------------------------------------------------------------------------------------------


def find(connection: Connection, id: str) -> Row[Any] | None:
    return rows.find(connection, dispatches, id)


def get(connection: Connection, id: str) -> Row[Any]:
    return rows.get(connection, dispatches, id, "dispatch")


def find_locked(tx: Transaction, id: str) -> Row[Any] | None:
    return rows.find_locked(tx, dispatches, id)


def get_locked(tx: Transaction, id: str) -> Row[Any]:
    return rows.get_locked(tx, dispatches, id, "dispatch")


def list_dispatches(
    connection: Connection, limit: int, before: tuple[int, str] | None, *, session: str | None = None
) -> tuple[list[Dispatch], int, tuple[int, str] | None]:
    """Newest first: (a page, how many there are in all, where the next page starts)."""
    chosen = () if session is None else (dispatches.c.session_id == session,)
    page = rows.newest(connection, dispatches.c.created_at, limit, before, chosen, _IN_LISTS)
    return [_view(row, None) for row in page.rows], page.total, page.next


def progress_of(row: Row[Any]) -> Progress:
    return Progress(None if row.status is None else PlanStatus(row.status), row.in_progress)


def envelope_of(row: Row[Any]) -> dict[str, Any]:
    """The input envelope as it was given: what a verdict takes."""
    given: dict[str, Any] = json.loads(row.envelope)
    return given


def snapshot_of(row: Row[Any]) -> Snapshot:
    return typed.decode(row.snapshot, Snapshot)


def policy_of(row: Row[Any]) -> GatePolicy:
    return typed.decode(row.policy, GatePolicy)


def repairs_of(row: Row[Any]) -> list[list[str]]:
    """The codes of each refusal of this turn, in their order."""
    return typed.decode(row.repairs, list[list[str]])


def view(row: Row[Any]) -> Dispatch:
    return _view(row, typed.convert(envelope_of(row), InputEnvelope))


def _view(row: Row[Any], envelope: InputEnvelope | None) -> Dispatch:
    return Dispatch(
        id=row.id,
        agent_id=row.agent_id,
        session_id=row.session_id,
        role=row.role,
        task_id=row.task_id,
        provider=row.provider,
        folder=row.folder,
        goal=row.goal,
        policy=policy_of(row),
        status=None if row.status is None else PlanStatus(row.status),
        in_progress=row.in_progress,
        turn=row.turn,
        repairs=repairs_of(row),
        accepted_id=row.accepted_id,
        completed_at=clock.told(row.completed_at),
        created_at=clock.rfc3339(row.created_at),
        changed_at=clock.rfc3339(row.changed_at),
        envelope=envelope,
    )


# ---- moving ----------------------------------------------------------------------------------------------------------


def save(tx: Transaction, row: Row[Any], progress: Progress, **changes: Any) -> Row[Any]:
    """Write where a dispatch stands now, and other columns with it; `repairs` is given as lists of codes. The row as it
    is then."""
    if "repairs" in changes:
        changes["repairs"] = msgspec.json.encode(changes["repairs"]).decode()
    return _write(tx, row, {"status": progress.status, "in_progress": progress.in_progress, **changes})


def start_turn(tx: Transaction, row: Row[Any], *, by_person: bool, reason: str = "") -> None:
    """The runtime starts its next turn: after an answer, a grant, a gate's retry, a revise."""
    progress = status.start_turn(progress_of(row), by_person=by_person)
    moved = {"status": progress.status, "in_progress": progress.in_progress}
    _write(tx, row, {**moved, "turn": row.turn + 1, "repairs": "[]", "completed_at": None}, reason)
    _lay_down(tx, row)


# Made once: to make it takes several times as long as to run it.
_move = (
    update_of(dispatches)
    .where(
        dispatches.c.id == bindparam("its_id"),
        dispatches.c.status.is_not_distinct_from(bindparam("was")),
        dispatches.c.in_progress == bindparam("was_in_progress"),
        dispatches.c.turn == bindparam("was_in"),
    )
    .returning(dispatches)
)


def _write(tx: Transaction, row: Row[Any], values: dict[str, Any], reason: str = "") -> Row[Any]:
    as_read = {"was": row.status, "was_in_progress": row.in_progress, "was_in": row.turn}
    given = {"its_id": row.id, **as_read, "changed_at": tx.now, **values}
    if (written := tx.connection.execute(_move, given).first()) is None:
        found = get(tx.connection, row.id)
        raise Conflict(
            f"the dispatch is {found.status or 'without a status'} in its turn {found.turn} meanwhile",
            code="changed_meanwhile",
            found=found.status,
        )
    said = {"id": row.id, "status": values["status"], "turn": values.get("turn", row.turn)}
    if reason:
        said["reason"] = reason
    tx.emit(Draft("dispatch.moved", said, values.get("session_id", row.session_id), row.id))
    return written


# ---- its files -------------------------------------------------------------------------------------------------------


def _lay_down(tx: Transaction, row: Row[Any]) -> None:
    """Have its files written once all of this is committed, where this home is the one that has them."""
    home = tx.surroundings.get("home")
    if isinstance(home, Path) and row.origin == tx.surroundings.get("origin", ""):
        tx.committed.append(partial(envelope_files.write, home, row.id, envelope_of(row)))


def lay_down_missing(connection: Connection, home: Path, origin: str) -> int:
    """Write the files of what is not complete that a crash kept from being written; how many dispatches those were."""
    unfinished = select(dispatches.c.id).where(dispatches.c.origin == origin, dispatches.c.completed_at.is_(None))
    missing = [id for id in connection.execute(unfinished).scalars() if not envelope_files.are_there(home, id)]
    for id in missing:
        lay_down(connection, home, id)
    return sum(envelope_files.are_there(home, id) for id in missing)


def lay_down(connection: Connection, home: Path, id: str) -> None:
    """Write the files of one dispatch, if they are not there: whoever made it may not have come to that yet."""
    if not envelope_files.are_there(home, id):
        envelope_files.write(home, id, envelope_of(get(connection, id)))
