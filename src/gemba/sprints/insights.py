"""How the floor does, day by day and in all: what was used, what was begun, what was asked, and how long that took.

What agents asked comes from `attention`, all kinds and types of a day together; what turns took from the kept sums of
days, and for epics and personas from the turns themselves (`costs`). A dispatch counts on the day on which it was made;
so does a session that was started without one. Called by the reads of the API.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, NamedTuple

import msgspec
from sqlalchemy import Column, Connection, func, select

from gemba import clock
from gemba.escalations.attention import Figures, read_asks, summarise
from gemba.handoff.dispatches import dispatches
from gemba.sessions.runs import runs
from gemba.sprints.burn_down import name_of
from gemba.sprints.costs import CostShares, read_spent, shares
from gemba.sprints.tables import sums
from gemba.sprints.usage_view import titles

MOST_ROWS: Final = 10  # of epics and of personas; the others are told together


class InsightsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The last `days` days, today included."""

    days: Annotated[int, msgspec.Meta(ge=1, le=366)] = 14


class InsightFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Times are in seconds, and null where nothing was seen or answered. A cost is null where no turn told one, and
    short of the whole where some did not: `unpriced` is how many."""

    tokens: int
    turns: int
    unpriced: int
    cost_usd_micros: int | None
    dispatched: int
    asked: int
    seen: int
    answered: int
    by_default: int
    to_see_p50: float | None
    to_see_p90: float | None
    to_answer_p50: float | None
    to_answer_p90: float | None
    blocked_minutes: float


class InsightDay(InsightFigures, frozen=True, kw_only=True):
    """One day (UTC)."""

    day: str


class Insights(msgspec.Struct, frozen=True, kw_only=True):
    """Every day of the range, the oldest first, also those on which nothing happened; all of it together; and who or
    what the cost was for."""

    days: list[InsightDay]
    total: InsightFigures
    epics: CostShares
    personas: CostShares
    as_of: int


class _Used(NamedTuple):
    tokens: int = 0
    turns: int = 0
    unpriced: int = 0
    micros: int = 0


def read_insights(
    connection: Connection, days: int, now: int, persona_names: Mapping[str, str], as_of: int
) -> Insights:
    """The last days up to this moment: a range of each table, found by its index."""
    last = now // clock.DAY
    first = last - days + 1
    since = first * clock.DAY
    asks = [ask._replace(agent_type="", kind="") for ask in read_asks(connection, since)]
    by_day, whole = summarise(asks, now=now, price=0, at_work=0)
    asked = {row.day: row for row in by_day}
    used = _used(connection, first)
    begun = _begun(connection, since)
    named = [(day, name_of(day)) for day in range(first, last + 1)]
    spent = read_spent(connection, first)
    by_epic = shares(((one.epic, one.amount) for one in spent), MOST_ROWS)
    by_persona = shares(((one.persona_id, one.amount) for one in spent), MOST_ROWS)
    in_all = _sum(used.get(name, _Used()) for _, name in named), sum(begun.get(day, 0) for day, _ in named)
    return Insights(
        days=[
            InsightDay(day=name, **_figures(used.get(name, _Used()), begun.get(day, 0), asked.get(name)))
            for day, name in named
        ],
        total=InsightFigures(**_figures(*in_all, whole)),
        epics=by_epic.titled(titles(connection, "epic", by_epic.keys)),
        personas=by_persona.titled(persona_names),
        as_of=as_of,
    )


def _figures(used: _Used, dispatched: int, told: Figures | None) -> dict[str, Any]:
    """Of a day, or of all; nothing is told of the asks of a day that has none."""
    return {
        "tokens": used.tokens,
        "turns": used.turns,
        "unpriced": used.unpriced,
        "cost_usd_micros": None if used.unpriced == used.turns else used.micros,
        "dispatched": dispatched,
        "asked": told.asked if told else 0,
        "seen": told.seen if told else 0,
        "answered": told.answered if told else 0,
        "by_default": told.by_default if told else 0,
        "to_see_p50": told.to_see_p50 if told else None,
        "to_see_p90": told.to_see_p90 if told else None,
        "to_answer_p50": told.to_answer_p50 if told else None,
        "to_answer_p90": told.to_answer_p90 if told else None,
        "blocked_minutes": told.blocked_minutes if told else 0.0,
    }


def _used(connection: Connection, first: int) -> dict[str, _Used]:
    columns = (sums.c.key, sums.c.tokens, sums.c.turns, sums.c.unpriced, sums.c.cost_usd_micros)
    query = select(*columns).where(sums.c.kind == "day", sums.c.key >= name_of(first))
    return {key: _Used(*figures) for key, *figures in connection.execute(query)}


def _sum(used: Iterable[_Used]) -> _Used:
    return _Used(*(sum(figures) for figures in zip(*used, strict=True)))


def _begun(connection: Connection, since: int) -> dict[int, int]:
    begun = _by_day(connection, dispatches.c.created_at, since)
    for day, many in _by_day(connection, runs.c.created_at, since, runs.c.dispatch_id.is_(None)).items():
        begun[day] = begun.get(day, 0) + many
    return begun


def _by_day(connection: Connection, at: Column[int], since: int, *conditions: Any) -> dict[int, int]:
    day = (at - at % clock.DAY).label("day")
    query = select(day, func.count()).where(at >= since, *conditions).group_by(day)
    return {int(moment) // clock.DAY: many for moment, many in connection.execute(query)}
