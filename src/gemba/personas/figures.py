"""What each persona was asked and what that took, in figures: read for whoever wants to see who is worth asking.

Three reads whatever there is. Tokens and dollars come from the reservations, which are settled once when a consult
ends; what still runs has none yet. Called by the reads of the API.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, case, func, select

from gemba import clock
from gemba.personas.consult import ConsultStatus
from gemba.personas.consults import applied, consults
from gemba.personas.persona import MICROS, Persona, Variety
from gemba.personas.reservations import SETTLED, reservations

_FAILED = (ConsultStatus.FAILED, ConsultStatus.TIMED_OUT)


class PersonaFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A persona's consults. One that no file names any more has no `name`. `failed` counts those that timed out too.
    `dollars` is what its budget was charged; of `unpriced` consults the client told no cost, and their cap was charged.
    """

    persona_id: str
    name: str | None
    role: str | None
    variety: Variety | None
    consults: int
    running: int
    failed: int
    applied: int
    last_activity_at: str | None
    tokens_in: int
    tokens_out: int
    dollars: float
    unpriced: int


def figures_of(connection: Connection, personas: Iterable[Persona], since: int | None = None) -> list[PersonaFigures]:
    """Of all personas in their order, also those that nobody asked; then of those that are gone. `since` leaves out
    consults that were started before."""
    asked = _asked(connection, since)
    took = _took(connection, since)
    done = _applied(connection, since)
    known = {persona.id: persona for persona in personas}
    gone = sorted(asked.keys() - known.keys())
    return [_figures(id, known.get(id), asked.get(id), took.get(id), done.get(id, 0)) for id in (*known, *gone)]


def _figures(id: str, persona: Persona | None, asked: Any, took: Any, done: int) -> PersonaFigures:
    return PersonaFigures(
        persona_id=id,
        name=None if persona is None else persona.name,
        role=None if persona is None else persona.role,
        variety=None if persona is None else persona.variety,
        consults=0 if asked is None else asked.many,
        running=0 if asked is None else int(asked.running),
        failed=0 if asked is None else int(asked.failed),
        applied=done,
        last_activity_at=None if asked is None else clock.rfc3339(asked.last),
        tokens_in=0 if took is None else int(took.tokens_in),
        tokens_out=0 if took is None else int(took.tokens_out),
        dollars=0.0 if took is None else int(took.micros) / MICROS,
        unpriced=0 if took is None else int(took.unpriced),
    )


def _asked(connection: Connection, since: int | None) -> dict[str, Any]:
    # What stands behind the long texts of a row is not read here: a database would have to walk through them.
    last = func.max(func.coalesce(consults.c.ended_at, consults.c.started_at))
    query = select(
        consults.c.persona_id,
        func.count().label("many"),
        _count(consults.c.status == ConsultStatus.RUNNING).label("running"),
        _count(consults.c.status.in_(_FAILED)).label("failed"),
        last.label("last"),
    ).group_by(consults.c.persona_id)
    if since is not None:
        query = query.where(consults.c.started_at >= since)
    return {row.persona_id: row for row in connection.execute(query)}


def _took(connection: Connection, since: int | None) -> dict[str, Any]:
    table = reservations.c
    used = func.coalesce(table.tokens_in, 0) + func.coalesce(table.tokens_out, 0) > 0
    query = (
        select(
            table.persona_id,
            func.sum(func.coalesce(table.tokens_in, 0)).label("tokens_in"),
            func.sum(func.coalesce(table.tokens_out, 0)).label("tokens_out"),
            func.sum(func.coalesce(table.settled_micros, 0)).label("micros"),
            _count(used & ~table.cost_known).label("unpriced"),
        )
        .where(table.state == SETTLED)
        .group_by(table.persona_id)
    )
    if since is not None:
        query = query.where(table.created_at >= since)
    return {row.persona_id: row for row in connection.execute(query)}


def _applied(connection: Connection, since: int | None) -> dict[str, int]:
    query = select(consults.c.persona_id, func.count()).join(applied, applied.c.consult_id == consults.c.id)
    if since is not None:
        query = query.where(consults.c.started_at >= since)
    return dict(connection.execute(query.group_by(consults.c.persona_id)).all())


def _count(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((condition, 1), else_=0))
