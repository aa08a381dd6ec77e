"""What can be read of consults, as a table."""

from __future__ import annotations

from typing import Annotated

import msgspec

from gemba.action import Nothing
from gemba.api.read import Limit, Read, last_event, open_cursor, seal_cursor, states_in
from gemba.app import App
from gemba.personas import consults as stored
from gemba.personas.consult import ConsultDetail, ConsultStatus, ConsultSummary
from gemba.personas.perspectives import PerspectiveList, list_perspectives
from gemba.work.items import get as get_item

Words = Annotated[str, msgspec.Meta(max_length=500)]


class ConsultQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`status` is a comma list."""

    status: str | None = None
    persona_id: Words | None = None
    skill_id: Words | None = None
    limit: Limit = 50
    cursor: str | None = None


class ConsultList(msgspec.Struct, frozen=True):
    """A page of consults, without their lines and prompts."""

    consults: list[ConsultSummary]
    total: int
    next_cursor: str | None
    as_of: int


class PerspectiveQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    limit: Limit = 50


class RefQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`ref` is the id of a work item, an escalation or a handoff."""

    ref: Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)]
    limit: Limit = 50


def consults(app: App, query: ConsultQuery) -> ConsultList:
    before = open_cursor(query.cursor, tuple[int, str])
    chosen = {"persona_id": query.persona_id, "skill_id": query.skill_id}
    statuses = states_in(query.status, ConsultStatus, "status")
    with app.database.read() as connection:
        as_of = last_event(connection)
        page, total, following = stored.list_consults(connection, query.limit, before, statuses=statuses, **chosen)
    return ConsultList(page, total, seal_cursor(following), as_of)


def consult(app: App, _query: Nothing, *, id: str) -> ConsultDetail:
    with app.database.read() as connection:
        return stored.detail(connection, stored.get(connection, id))


def perspectives(app: App, query: RefQuery) -> PerspectiveList:
    with app.database.read() as connection:
        return list_perspectives(connection, app.personas, query.ref, query.limit)


def item_perspectives(app: App, query: PerspectiveQuery, *, id: str) -> PerspectiveList:
    with app.database.read() as connection:
        get_item(connection, id)
        return list_perspectives(connection, app.personas, id, query.limit)


READS = (
    Read("/api/consults", consults, ConsultQuery, ConsultList, "What was asked of personas, newest first", cached=True),
    Read("/api/consults/{id}", consult, Nothing, ConsultDetail, "One consult: its prompt, its lines, what was applied"),
    Read("/api/perspectives", perspectives, RefQuery, PerspectiveList, "What personas said of one thing, newest first"),
    Read(
        "/api/work-items/{id}/perspectives",
        item_perspectives,
        PerspectiveQuery,
        PerspectiveList,
        "What personas said of a work item, newest first",
    ),
)
