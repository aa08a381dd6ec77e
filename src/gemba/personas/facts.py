"""The facts behind a prompt, read in one place and from one state of the database: what `providers` make text of.

Files are the operator's own; no more of one is read than a prompt has room for. Called by whoever begins a consult.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Connection, func, select

from gemba import clock
from gemba.config import Workspace
from gemba.escalations.assumptions import assumptions
from gemba.escalations.store import escalations
from gemba.handoff.contract_view import list_sections
from gemba.handoff.sections import Section
from gemba.personas import phases
from gemba.personas.providers import MOST_DECISIONS, MOST_LISTED, Decided, Facts, Named, Waiting
from gemba.sessions.session import Lifecycle
from gemba.sessions.store import sessions
from gemba.work.item import State
from gemba.work.readiness import ready_items
from gemba.work.tables import items

READMES = ("README.md", "README.rst", "README.txt", "README")
PROJECT_VALUES, WORKSPACE_VALUES = "project_values.md", "workspace_values.md"
_MOST_BYTES = 16_384  # of a file
_BY_STATE = select(items.c.state, func.count().label("many")).group_by(items.c.state)


def read_facts(
    connection: Connection,
    workspace: Workspace,
    sections: Sequence[Section],
    now: int,
    sprint: Mapping[str, Any] | None = None,
) -> Facts:
    """Everything at once; `sprint` is what is told of one."""
    running, running_total = _running(connection)
    waiting, waiting_total = _waiting(connection)
    ready = ready_items(connection, now, MOST_LISTED)
    return Facts(
        readme=_readme(workspace.root),
        sections=[(each.name, _as_text(each.value)) for each in list_sections(connection, sections) if each.value],
        phase=str(phases.current(connection)),
        counts=_counts(connection),
        ready=[Named(item.id, item.title) for item in ready.rows],
        ready_total=ready.total,
        running=running,
        running_total=running_total,
        decisions=_decisions(connection),
        sprint=sprint,
        escalations=waiting,
        escalations_total=waiting_total,
    )


def read_values(workspace: Workspace) -> tuple[str, str]:
    """What the project and this workspace hold to, as `.gemba/` says it; empty where it says nothing."""
    return _head(workspace.folder / PROJECT_VALUES), _head(workspace.folder / WORKSPACE_VALUES)


def _as_text(value: dict[str, Any]) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=1).decode()


def _readme(root: Path) -> str:
    return next((text for name in READMES if (text := _head(root / name))), "")


def _head(path: Path) -> str:
    """The beginning of a file, to the end of a line; nothing where it cannot be read."""
    try:
        if not path.is_file():  # a pipe would keep its reader waiting
            return ""
        with path.open("rb") as file:
            raw = file.read(_MOST_BYTES + 1)
    except OSError:
        return ""
    if len(raw) > _MOST_BYTES:
        raw = raw[:_MOST_BYTES].rpartition(b"\n")[0]
    return raw.decode("utf-8", "replace")


def _counts(connection: Connection) -> dict[str, int]:
    """Work items by state, in the order in which work goes."""
    found = {row.state: row.many for row in connection.execute(_BY_STATE)}
    return {state: found[state] for state in State if state in found}


def _running(connection: Connection) -> tuple[list[Named], int]:
    alive = sessions.c.lifecycle == Lifecycle.RUNNING
    rows = connection.execute(select(sessions).where(alive).order_by(sessions.c.id).limit(MOST_LISTED))
    found = [Named(row.id, " ".join(filter(None, (row.reported_state, row.bead_id, row.note)))) for row in rows]
    return found, connection.execute(select(func.count()).select_from(sessions).where(alive)).scalar_one()


def _decisions(connection: Connection) -> list[Decided]:
    """The operator's answers, and what agents decided alone, newest first."""
    answered = select(escalations).where(escalations.c.resolved, escalations.c.outcome == "answered")
    answered = answered.order_by(escalations.c.changed_at.desc(), escalations.c.id.desc()).limit(MOST_DECISIONS)
    taken = (
        select(assumptions).order_by(assumptions.c.recorded_at.desc(), assumptions.c.id.desc()).limit(MOST_DECISIONS)
    )
    found = [
        (row.changed_at, row.title or row.text, row.action or row.reply_text, row.resolved_as or row.resolved_by, row)
        for row in connection.execute(answered)
    ]
    told = [(at, Decided(_day(at), asked, said or "", by or "", _reason(row))) for at, asked, said, by, row in found]
    for row in connection.execute(taken):
        over = f"; overturned: {row.overturned_text}" if row.overturned_text else ""
        told.append((row.recorded_at, Decided(_day(row.recorded_at), row.text, row.chose + over, row.session_id)))
    told.sort(key=lambda pair: pair[0], reverse=True)
    return [decided for _, decided in told[:MOST_DECISIONS]]


def _reason(row: Any) -> str:
    """Of an action its text says why; any other answer is its own words."""
    return (row.reply_text or "") if row.action else ""


def _day(moment: int) -> str:
    return clock.rfc3339(moment)[:10]


def _waiting(connection: Connection) -> tuple[list[Waiting], int]:
    unresolved = ~escalations.c.resolved
    query = select(escalations).where(unresolved).order_by(escalations.c.opened_at, escalations.c.id)
    found = [
        Waiting(row.id, row.kind, row.urgency, clock.rfc3339(row.opened_at), row.title or row.text, row.bead_id)
        for row in connection.execute(query.limit(MOST_LISTED))
    ]
    return found, connection.execute(select(func.count()).select_from(escalations).where(unresolved)).scalar_one()
