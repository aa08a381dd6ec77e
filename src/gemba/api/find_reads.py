"""One search over all nouns: work items, sessions, team runs, sprints, escalations, consults and personas, by
beginnings and parts of their ids and titles. Screens and actions are the page's own to find.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, case, func, select

from gemba import clock
from gemba.api.read import Read
from gemba.app import App
from gemba.escalations import search
from gemba.escalations.store import escalations
from gemba.personas.consults import consults
from gemba.personas.persona import Persona
from gemba.sessions.runs import runs as started
from gemba.sessions.store import sessions
from gemba.sprints.tables import sprints
from gemba.store.finding import Findable, find_rows, rows_named, words_of
from gemba.teams.tables import runs
from gemba.work.tables import items

_LONGEST_TITLE = 300  # of a text that stands for one


class Noun(StrEnum):
    """What can be found, in the order in which it is told."""

    ESCALATION = "escalation"
    ITEM = "item"
    SESSION = "session"
    TEAM = "team"
    CONSULT = "consult"
    SPRINT = "sprint"
    PERSONA = "persona"


class FindQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`q`: words, all of which must occur; `limit`: how many of each kind at most."""

    q: Annotated[str, msgspec.Meta(max_length=500)] = ""
    limit: Annotated[int, msgspec.Meta(ge=1, le=50)] = 8


class Found(msgspec.Struct, frozen=True):
    """One thing that was found. `detail` is the kind of an item, the type of a session's agent, who asked an
    escalation, who is asked in a consult, the epic of a team run, the role of a persona."""

    kind: Noun
    id: str
    title: str
    state: str
    detail: str | None
    at: str | None


class FoundList(msgspec.Struct, frozen=True):
    """By kind, the best fit first within each."""

    q: str
    found: list[Found]


def _beginning(text: ColumnElement[Any]) -> ColumnElement[str]:
    return func.substr(text, 1, _LONGEST_TITLE)


_ASKED = Findable(
    id=escalations.c.id,
    title=func.coalesce(escalations.c.title, _beginning(escalations.c.text)),
    state=escalations.c.state,
    at=escalations.c.opened_at,
    detail=escalations.c.session_id,
    beside=(escalations.c.session_id, escalations.c.bead_id),
)
_WORK = Findable(items.c.id, items.c.title, items.c.state, items.c.created_at, items.c.kind)
_SESSIONS = Findable(
    id=sessions.c.id,
    title=func.coalesce(
        select(started.c.title).where(started.c.session_id == sessions.c.id).scalar_subquery(),
        sessions.c.note,
        sessions.c.bead_id,
        "",
    ),
    state=sessions.c.lifecycle,
    at=sessions.c.last_frame_at,
    detail=sessions.c.agent_type,
    beside=(sessions.c.agent_type, sessions.c.bead_id),
)
_CONSULTS = Findable(
    id=consults.c.id,
    title=consults.c.skill_id,
    state=consults.c.status,
    at=consults.c.started_at,
    detail=consults.c.persona_id,
    # A question is typed by a person; what other skills are given is long, and about everything.
    beside=(
        consults.c.persona_id,
        consults.c.about,
        case((consults.c.skill_id == "ask", _beginning(consults.c.input)), else_=""),
    ),
)
_SPRINTS = Findable(sprints.c.id, sprints.c.title, sprints.c.state, sprints.c.created_at)


def _runs_of(workspace: str) -> Findable:
    return Findable(
        id=runs.c.id,
        title=_beginning(runs.c.text),
        state=runs.c.state,
        at=runs.c.created_at,
        detail=runs.c.epic_id,
        beside=(runs.c.epic_id,),
        only=(runs.c.workspace == workspace,),
    )


def find(app: App, query: FindQuery) -> FoundList:
    """Nothing for no words: what is recent the page knows itself."""
    q, limit = query.q, query.limit
    tables = {
        Noun.ITEM: _WORK,
        Noun.SESSION: _SESSIONS,
        Noun.TEAM: _runs_of(str(app.workspace.root)),
        Noun.CONSULT: _CONSULTS,
        Noun.SPRINT: _SPRINTS,
    }
    if not words_of(q):
        return FoundList(q, [])
    with app.database.read() as connection:
        found = _views(Noun.ESCALATION, _asked(connection, q, limit))
        for noun, what in tables.items():
            found += _views(noun, find_rows(connection, what, q, limit))
    return FoundList(q, [*found, *_personas(app.personas.by_id.values(), q, limit)])


def _asked(connection: Connection, q: str, limit: int) -> list[Row[Any]]:
    """What waits and what was settled lately, by its title; then what was settled ever, by any word of question or
    answer."""
    found = find_rows(connection, _ASKED, q, limit)
    if len(found) < limit and search.words_of(q):
        settled = escalations.c.id.in_(search.matching(connection, q))
        known = {row.id for row in found}
        found += [row for row in rows_named(connection, _ASKED, settled, limit) if row.id not in known]
    return found[:limit]


def _personas(known: Iterable[Persona], q: str, limit: int) -> list[Found]:
    words = [word.casefold() for word in words_of(q)]

    def fits(persona: Persona) -> bool:
        said = f"{persona.id}\n{persona.name}\n{persona.role}".casefold()
        return all(word in said for word in words)

    fitting = [persona for persona in known if fits(persona)][:limit]
    return [Found(Noun.PERSONA, persona.id, persona.name, persona.variety, persona.role, None) for persona in fitting]


def _views(noun: Noun, rows: Iterable[Row[Any]]) -> list[Found]:
    return [Found(noun, row.id, row.title, row.state, row.detail, clock.rfc3339(row.at)) for row in rows]


READS = (
    Read(
        "/api/find",
        find,
        FindQuery,
        FoundList,
        "Work, sessions, team runs, sprints, escalations, consults and personas by words of their ids and titles",
        cached=True,
    ),
)
