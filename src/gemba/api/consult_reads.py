"""What can be read of consults, as a table."""

from __future__ import annotations

from typing import Annotated

import msgspec

from gemba.action import Nothing
from gemba.api.read import Limit, Read, last_event, open_cursor, seal_cursor, states_in
from gemba.app import App
from gemba.personas import consults as stored
from gemba.personas.consult import ConsultDetail, ConsultStatus, ConsultSummary

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


READS = (
    Read("/api/consults", consults, ConsultQuery, ConsultList, "What was asked of personas, newest first", cached=True),
    Read("/api/consults/{id}", consult, Nothing, ConsultDetail, "One consult: its prompt, its lines, what was applied"),
)
