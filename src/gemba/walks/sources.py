"""What waits, from every place where something can: read for an agenda, and looked at again before it is decided.

Each kind of source has its query, bounded and on an index. A suspended task of a team whose card is open is there by
that card alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, or_, select

from gemba import clock
from gemba.errors import NotFound
from gemba.escalations.escalation import State, Urgency
from gemba.escalations.store import escalations
from gemba.handoff.memories import memories
from gemba.handoff.memory import MemoryState
from gemba.sessions.session import Lifecycle
from gemba.sessions.store import sessions
from gemba.store import rows
from gemba.teams.tables import runs as team_runs
from gemba.teams.tables import tasks as team_tasks
from gemba.teams.task import TaskState
from gemba.text import one_line
from gemba.walks.walk import LONGEST_LABEL, MOST_ITEMS, SourceKind
from gemba.work.item import FINISHED, Retro
from gemba.work.tables import items

RECENT = clock.DAY  # how long new and closed work, and a failed session, is news
SUSPENDED = (TaskState.WAITING, TaskState.PARTIAL_COMPLETION)
FAILED = (Lifecycle.FAILED, Lifecycle.LOST)

# The lower, the sooner: what stops an agent first, what only wants to be known last.
_PRIORITY = {
    SourceKind.TEAM_TASK: 1,
    SourceKind.SESSION: 3,
    SourceKind.FILED: 4,
    SourceKind.CLOSED: 5,
    SourceKind.MEMORY: 6,
    SourceKind.ITEM: 2,
    SourceKind.TOPIC: 2,
}
_OF_URGENCY = {Urgency.BLOCKING: 0, Urgency.ADVISORY: 2}


class Found(NamedTuple):
    """Something that waits."""

    kind: SourceKind
    ref: str
    worker: str | None
    topic: str
    priority: int
    since: int


def everything(connection: Connection, workspace: str, now: int) -> list[Found]:
    """All that waits, most urgent first and the oldest first within."""
    found = [
        *(_escalation(row) for row in connection.execute(_open_escalations())),
        *(_team_task(row) for row in connection.execute(_suspended_tasks(workspace))),
        *(_session(row) for row in connection.execute(_failed_sessions(workspace, now - RECENT))),
        *(_item(SourceKind.FILED, row) for row in connection.execute(_filed(now - RECENT))),
        *(_item(SourceKind.CLOSED, row) for row in connection.execute(_closed(now - RECENT))),
        *(_memory(row) for row in connection.execute(_suggested())),
    ]
    found.sort(key=lambda one: (one.priority, one.since, one.kind, one.ref))
    return found[:MOST_ITEMS]


def named(connection: Connection, ref: str) -> Found:
    """One thing by its id, whatever it is and whether it waits or not."""
    if (row := rows.find(connection, escalations, ref)) is not None:
        return _escalation(row)
    if (row := rows.find(connection, items, ref)) is not None:
        return _item(SourceKind.ITEM, row)
    if (row := rows.find(connection, sessions, ref)) is not None:
        return _session(row)
    if (row := rows.find(connection, memories, ref)) is not None:
        return _memory(row)
    run_id, _, task_id = ref.partition("/")
    query = select(team_tasks).where(team_tasks.c.run_id == run_id, team_tasks.c.id == task_id)
    if (row := connection.execute(query).first()) is not None:
        return _team_task(row)
    allowed = "the id of an escalation, a work item, a session or a memory, or run/task of a team"
    raise NotFound(f"nothing has the id {ref[:200]}; allowed: {allowed}", code="not_found", found=ref[:200])


def topic(words: str, id: str, now: int) -> Found:
    """What the operator wants to talk about."""
    return Found(SourceKind.TOPIC, id, None, words, _PRIORITY[SourceKind.TOPIC], now)


# ---- queries ---------------------------------------------------------------------------------------------------------


def _open_escalations() -> Any:
    order = (escalations.c.rank, escalations.c.opened_at, escalations.c.id)
    waiting = (~escalations.c.resolved, escalations.c.state != State.SNOOZED)
    return select(escalations).where(*waiting).order_by(*order).limit(MOST_ITEMS)


def _suspended_tasks(workspace: str) -> Any:
    asked_about = select(escalations.c.id).where(
        escalations.c.id == team_tasks.c.escalation_id, ~escalations.c.resolved
    )
    return (
        select(team_tasks)
        .join(team_runs, and_(team_runs.c.id == team_tasks.c.run_id, team_runs.c.workspace == workspace))
        .where(team_tasks.c.state.in_(SUSPENDED), ~asked_about.exists(), team_runs.c.ended_at.is_(None))
        .order_by(team_tasks.c.changed_at, team_tasks.c.id)
        .limit(MOST_ITEMS)
    )


def _failed_sessions(workspace: str, since: int) -> Any:
    mine = or_(sessions.c.workspace == workspace, sessions.c.workspace.is_(None))
    return (
        select(sessions)
        .where(sessions.c.last_frame_at >= since, sessions.c.lifecycle.in_(FAILED), mine)
        .order_by(sessions.c.last_frame_at, sessions.c.id)
        .limit(MOST_ITEMS)
    )


def _filed(since: int) -> Any:
    fresh = (items.c.created_at >= since, items.c.ratified_at.is_(None), ~items.c.finished)
    return select(items).where(*fresh).order_by(items.c.created_at, items.c.id).limit(MOST_ITEMS)


def _closed(since: int) -> Any:
    fresh = (items.c.closed_at >= since, items.c.retro == Retro.WANTED)
    return select(items).where(*fresh).order_by(items.c.closed_at, items.c.id).limit(MOST_ITEMS)


def _suggested() -> Any:
    waiting = select(memories).where(memories.c.state == MemoryState.SUGGESTED)
    return waiting.order_by(memories.c.created_at, memories.c.id).limit(MOST_ITEMS)


# ---- what each is called ---------------------------------------------------------------------------------------------


def _escalation(row: Any) -> Found:
    words = row.title or row.text
    return Found(
        SourceKind.ESCALATION,
        row.id,
        row.session_id or None,
        one_line(words, LONGEST_LABEL),
        _OF_URGENCY[Urgency(row.urgency)],
        row.opened_at,
    )


def _team_task(row: Any) -> Found:
    kind = SourceKind.TEAM_TASK
    words = one_line(f"{row.id}: {row.goal}", LONGEST_LABEL)
    return Found(kind, f"{row.run_id}/{row.id}", row.session_id or row.owner, words, _PRIORITY[kind], row.changed_at)


def _session(row: Any) -> Found:
    kind = SourceKind.SESSION
    why = f": {row.close_reason}" if row.close_reason else ""
    words = one_line(f"{row.id} {row.lifecycle}{why}", LONGEST_LABEL)
    return Found(kind, row.id, row.id, words, _PRIORITY[kind], row.last_frame_at)


def _item(kind: SourceKind, row: Any) -> Found:
    since = row.closed_at if kind is SourceKind.CLOSED and row.closed_at is not None else row.created_at
    by = row.closed_by if kind is SourceKind.CLOSED else row.created_by
    return Found(kind, row.id, by, one_line(f"{row.id}: {row.title}", LONGEST_LABEL), _PRIORITY[kind], since)


def _memory(row: Any) -> Found:
    kind = SourceKind.MEMORY
    words = one_line(f"Remember: {row.description}", LONGEST_LABEL)
    return Found(kind, row.id, None, words, _PRIORITY[kind], row.created_at)


# ---- settled elsewhere -----------------------------------------------------------------------------------------------


def settled(connection: Connection, places: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Which of these (kind, ref) wait no more, and what became of each, in words."""
    by_kind: dict[str, list[str]] = {}
    for kind, ref in places:
        by_kind.setdefault(kind, []).append(ref)
    found: dict[tuple[str, str], str] = {}
    for kind, refs in by_kind.items():
        look = _SETTLED.get(SourceKind(kind))
        if look is not None:
            found |= {(kind, ref): words for ref, words in look(connection, refs).items()}
    return found


def _settled_escalations(connection: Connection, refs: Sequence[str]) -> Mapping[str, str]:
    named = ("id", "state", "resolved", "reply_text", "resolved_as", "resolved_by")
    query = select(*(escalations.c[name] for name in named)).where(escalations.c.id.in_(refs))
    known = {row.id: row for row in connection.execute(query)}
    gone = {ref: "it is gone" for ref in refs if ref not in known}
    return gone | {id: _how_answered(row) for id, row in known.items() if row.resolved}


def _how_answered(row: Any) -> str:
    by = row.resolved_as or row.resolved_by
    said = f": {one_line(row.reply_text, 200)}" if row.reply_text else ""
    return f"{row.state} by {by}{said}" if by else f"{row.state}{said}"


def _settled_tasks(connection: Connection, refs: Sequence[str]) -> Mapping[str, str]:
    run_ids = sorted({ref.partition("/")[0] for ref in refs})
    query = select(team_tasks.c.run_id, team_tasks.c.id, team_tasks.c.state).where(team_tasks.c.run_id.in_(run_ids))
    states = {f"{row.run_id}/{row.id}": row.state for row in connection.execute(query)}
    return {ref: f"the task is {states.get(ref, 'gone')}" for ref in refs if states.get(ref) not in SUSPENDED}


def _settled_filed(connection: Connection, refs: Sequence[str]) -> Mapping[str, str]:
    columns = (items.c.id, items.c.state, items.c.ratified_by)
    known = {row.id: row for row in connection.execute(select(*columns).where(items.c.id.in_(refs)))}
    settled = {ref: "it is gone" for ref in refs if ref not in known}
    for id, row in known.items():
        if row.ratified_by is not None:
            settled[id] = f"ratified by {row.ratified_by}"
        elif row.state in FINISHED:
            settled[id] = f"it is {row.state}"
    return settled


def _settled_closed(connection: Connection, refs: Sequence[str]) -> Mapping[str, str]:
    query = select(items.c.id, items.c.retro).where(items.c.id.in_(refs))
    known = {row.id: row.retro for row in connection.execute(query)}
    return {ref: f"its retrospective is {known.get(ref, 'gone')}" for ref in refs if known.get(ref) != Retro.WANTED}


def _settled_memories(connection: Connection, refs: Sequence[str]) -> Mapping[str, str]:
    query = select(memories.c.id, memories.c.state, memories.c.decided_by).where(memories.c.id.in_(refs))
    known = {row.id: row for row in connection.execute(query)}
    gone = {ref: "it is gone" for ref in refs if ref not in known}
    decided = {id: row for id, row in known.items() if row.state != MemoryState.SUGGESTED}
    return gone | {id: f"{row.state} by {row.decided_by}" for id, row in decided.items()}


_SETTLED: Mapping[SourceKind, Callable[[Connection, Sequence[str]], Mapping[str, str]]] = {
    SourceKind.ESCALATION: _settled_escalations,
    SourceKind.TEAM_TASK: _settled_tasks,
    SourceKind.FILED: _settled_filed,
    SourceKind.CLOSED: _settled_closed,
    SourceKind.MEMORY: _settled_memories,
}
