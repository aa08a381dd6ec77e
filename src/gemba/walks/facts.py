"""What an item is framed from, read from one state of the database; a source that is gone is framed as gone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Row, select

from gemba.errors import NotFound
from gemba.escalations.inbox import get_escalation
from gemba.handoff.approval import RequestState
from gemba.handoff.approvals import approvals
from gemba.handoff.approvals import view as view_approval
from gemba.handoff.memories import memories
from gemba.sessions import runs
from gemba.sessions.store import sessions
from gemba.store import rows
from gemba.teams import store as teams
from gemba.teams.tables import tasks as team_tasks
from gemba.teams.task import events_from
from gemba.walks import framing
from gemba.walks.framing import ItemFacts, MemoryFacts, SessionFacts, TaskFacts
from gemba.walks.walk import Framing, SourceKind
from gemba.work.tables import items

_EVENTS = {"retry": "retried", "accept": "accepted", "skip": "skipped"}


def frame(connection: Connection, kind: SourceKind, ref: str, topic: str, origin: str) -> Framing:
    """What is said of an item now."""
    try:
        return _READ[kind](connection, ref, topic, origin)
    except NotFound as error:
        return Framing(f"{topic}: {error.message}", "There is nothing to decide any more.", [])


def _escalation(connection: Connection, ref: str, _topic: str, origin: str) -> Framing:
    asked = select(approvals).where(approvals.c.escalation_id == ref, approvals.c.state == RequestState.PENDING)
    found = connection.execute(asked.order_by(approvals.c.position, approvals.c.created_at))
    return framing.frame_escalation(
        get_escalation(connection, ref, origin=origin), [view_approval(row) for row in found]
    )


def _item(how: Callable[[ItemFacts], Framing]) -> Callable[[Connection, str, str, str], Framing]:
    def read(connection: Connection, ref: str, _topic: str, _origin: str) -> Framing:
        row = rows.get(connection, items, ref, "work item")
        return how(ItemFacts(*(row._mapping[name] for name in ItemFacts._fields)))

    return read


def _task(connection: Connection, ref: str, _topic: str, _origin: str) -> Framing:
    row = _task_row(connection, ref)
    allowed = events_from(teams.position_of(row))
    can = [verb for verb, event in _EVENTS.items() if event in allowed]
    return framing.frame_task(TaskFacts(row.run_id, row.id, row.goal, row.owner, row.state, row.reason, can))


def _task_row(connection: Connection, ref: str) -> Row[Any]:
    run_id, _, task_id = ref.partition("/")
    query = select(team_tasks).where(team_tasks.c.run_id == run_id, team_tasks.c.id == task_id)
    row = connection.execute(query).first()
    if row is None:
        raise NotFound(f"no task has the id {ref}", code="not_found", found=ref)
    return row


def _session(connection: Connection, ref: str, _topic: str, _origin: str) -> Framing:
    row = rows.get(connection, sessions, ref, "session")
    run = runs.find(connection, ref)
    return framing.frame_session(
        SessionFacts(
            row.id,
            row.agent_type,
            row.lifecycle,
            (run.trouble if run is not None else None) or row.close_reason,
            None if run is None else run.agent_type,
            "" if run is None else run.task,
            "" if run is None else run.title,
        )
    )


def _memory(connection: Connection, ref: str, _topic: str, _origin: str) -> Framing:
    row = rows.get(connection, memories, ref, "memory")
    return framing.frame_memory(MemoryFacts(*(row._mapping[name] for name in MemoryFacts._fields)))


def _topic(_connection: Connection, _ref: str, topic: str, _origin: str) -> Framing:
    return framing.frame_topic(topic)


_READ: dict[SourceKind, Callable[[Connection, str, str, str], Framing]] = {
    SourceKind.ESCALATION: _escalation,
    SourceKind.TEAM_TASK: _task,
    SourceKind.SESSION: _session,
    SourceKind.FILED: _item(framing.frame_filed),
    SourceKind.CLOSED: _item(framing.frame_closed),
    SourceKind.ITEM: _item(framing.frame_item),
    SourceKind.MEMORY: _memory,
    SourceKind.TOPIC: _topic,
}
