"""How the floor does, day by day: what was used, what was begun, what was asked, and how long that took.

What agents asked comes from `attention`, all kinds and types of a day together. A dispatch counts on the day on which
it was made; so does a session that was started without one.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from sqlalchemy import Column, Connection, func, select

from gemba import clock
from gemba.escalations.attention import read_asks, summarise
from gemba.handoff.dispatches import dispatches
from gemba.sessions.runs import runs
from gemba.sprints.burn_down import name_of
from gemba.sprints.tables import sums


class InsightsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The last `days` days, today included."""

    days: Annotated[int, msgspec.Meta(ge=1, le=366)] = 14


class InsightDay(msgspec.Struct, frozen=True, kw_only=True):
    """One day (UTC). Times are in seconds, and null where nothing was answered."""

    day: str
    tokens: int
    turns: int
    dispatched: int
    asked: int
    answered: int
    to_answer_p50: float | None
    to_answer_p90: float | None
    blocked_minutes: float


class Insights(msgspec.Struct, frozen=True):
    """Every day of the range, the oldest first, also those on which nothing happened."""

    days: list[InsightDay]
    as_of: int


def read_days(connection: Connection, days: int, now: int) -> list[InsightDay]:
    last = now // clock.DAY
    first = last - days + 1
    since = first * clock.DAY
    asks = [ask._replace(agent_type="", kind="") for ask in read_asks(connection, since)]
    asked, _ = summarise(asks, now=now, price=0, at_work=0)
    by_day = {row.day: row for row in asked}
    used = select(sums.c.key, sums.c.tokens, sums.c.turns).where(sums.c.kind == "day", sums.c.key >= name_of(first))
    usage = {key: (tokens, turns) for key, tokens, turns in connection.execute(used)}
    begun = _by_day(connection, dispatches.c.created_at, since)
    for day, many in _by_day(connection, runs.c.created_at, since, runs.c.dispatch_id.is_(None)).items():
        begun[day] = begun.get(day, 0) + many
    return [
        InsightDay(
            day=name,
            tokens=usage.get(name, (0, 0))[0],
            turns=usage.get(name, (0, 0))[1],
            dispatched=begun.get(day, 0),
            asked=told.asked if (told := by_day.get(name)) else 0,
            answered=told.answered if told else 0,
            to_answer_p50=told.to_answer_p50 if told else None,
            to_answer_p90=told.to_answer_p90 if told else None,
            blocked_minutes=told.blocked_minutes if told else 0.0,
        )
        for day, name in ((day, name_of(day)) for day in range(first, last + 1))
    ]


def _by_day(connection: Connection, at: Column[int], since: int, *conditions: Any) -> dict[int, int]:
    day = (at - at % clock.DAY).label("day")
    query = select(day, func.count()).where(at >= since, *conditions).group_by(day)
    return {int(moment) // clock.DAY: many for moment, many in connection.execute(query)}
