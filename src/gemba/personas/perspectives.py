"""How something looks to personas: what is told of it when one is asked, and what was said of it so far.

A comment is a consult of the skill `perspective` about a work item, an escalation, a handoff, a session or a task of a
team. It proposes nothing and nothing waits for it. What it is about stands with the consult: an index finds it.
Slices above this one hand in how their things are told of (`things` of the surroundings).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from sqlalchemy import Connection, Row

from gemba import clock, typed
from gemba.escalations.store import escalations
from gemba.handoff import handoffs
from gemba.personas import consults
from gemba.personas.consult import ConsultStatus
from gemba.personas.file import Personas
from gemba.sessions.store import sessions
from gemba.skills.consult import perspective
from gemba.store import rows

_ABOUT = ("ref", "escalation_id", "item_id", "epic_id", "sprint_id", "walk_id")  # fields of inputs
_LONGEST = 20_000  # characters of a text


class Perspective(msgspec.Struct, frozen=True, kw_only=True):
    """What one persona said of something: its ground, its findings with what each rests on, and its one sentence."""

    consult_id: str
    persona_id: str
    persona_name: str
    status: ConsultStatus
    model: str | None
    started_at: str
    started_by: str
    ground: str | None
    findings: list[dict[str, Any]]
    summary: str | None
    error: str | None


class PerspectiveList(msgspec.Struct, frozen=True):
    """Newest first; `total` is how many there are in all."""

    ref: str
    perspectives: list[Perspective]
    total: int


def about(given: msgspec.Struct) -> str | None:
    """What a consult is about, where its input names one thing."""
    found = (getattr(given, name, None) for name in _ABOUT)
    return next((each for each in found if isinstance(each, str) and each), None)


Thing = dict[str, Any]
Things = Callable[[Connection, str], Thing | None]


def things_of(surroundings: Mapping[str, Any]) -> Things:
    """How things of slices above this one are told of; None where an id is of none of these."""
    found: Things = surroundings.get("things", lambda _connection, _ref: None)
    return found


def read_thing(connection: Connection, ref: str, things: Things) -> Thing | None:
    """An escalation, a handoff, a session or what `things` knows, as a persona is told of it; None where the id is of
    none. Items are `subjects`."""
    card = rows.find(connection, escalations, ref)
    if card is not None:
        names = ("id", "kind", "urgency", "state", "title", "text", "bead_id", "session_id", "reply_text")
        opened = clock.rfc3339(card.opened_at)
        return {"what": "escalation", **_texts(card._mapping, names), "opened_at": opened}
    handoff = rows.find(connection, handoffs.handoffs, ref)
    if handoff is not None:
        told = _texts(handoff._mapping, ("id", "dispatch_id", "session_id", "state", "plan_status", "refused_by"))
        return {"what": "handoff", **told, "envelope": handoffs.document_of(handoff)}
    session = rows.find(connection, sessions, ref)
    if session is not None:
        columns = ("id", "agent_type", "role", "lifecycle", "close_reason", "reported_state", "note", "bead_id")
        return {"what": "session", **_texts(session._mapping, columns)}
    other = things(connection, ref)
    return None if other is None else {"what": other["what"], **_texts(other, tuple(other))}


def _texts(row: Mapping[Any, Any], names: tuple[str, ...]) -> dict[str, Any]:
    found = {name: row[name] for name in names}
    return {name: value[:_LONGEST] if isinstance(value, str) else value for name, value in found.items() if value}


def list_perspectives(connection: Connection, personas: Personas, ref: str, limit: int) -> PerspectiveList:
    table = consults.consults
    mine = (table.c.about == ref, table.c.skill_id == perspective.SKILL.id)
    page = rows.newest(connection, table.c.started_at, limit, None, mine)
    return PerspectiveList(ref, [_view(row, personas) for row in page.rows], page.total)


def _view(row: Row[Any], personas: Personas) -> Perspective:
    lines = typed.decode(row.lines, list[dict[str, Any]])
    persona = personas.by_id.get(row.persona_id)
    return Perspective(
        consult_id=row.id,
        persona_id=row.persona_id,
        persona_name=row.persona_id if persona is None else persona.name,
        status=ConsultStatus(row.status),
        model=row.model,
        started_at=clock.rfc3339(row.started_at),
        started_by=row.started_by,
        ground=next((line["reasoning"] for line in lines if line["type"] == "strategy"), None),
        findings=[{"text": line["text"], "refs": line["refs"]} for line in lines if line["type"] == "finding"],
        summary=next((line["notes"] for line in lines if line["type"] == "summary"), None),
        error=row.error,
    )
