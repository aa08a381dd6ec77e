"""Sums of usage as they are shown: the largest first, days the newest first. Read from the kept sums alone."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import msgspec
from sqlalchemy import Connection, Row, func, select, tuple_

from gemba import clock
from gemba.sprints.burn_down import name_of
from gemba.sprints.tables import sprints, sums
from gemba.store.lists import among
from gemba.work.items import find_many

By = Literal["session", "task", "epic", "sprint", "persona", "day"]


class UsageRow(msgspec.Struct, frozen=True, kw_only=True):
    """What the turns of one session, task, epic, sprint, persona or day took. A cost is null where no turn told one,
    and short of the whole where some did not: `unpriced` is how many."""

    key: str
    title: str | None
    turns: int
    unpriced: int
    tokens: int
    tokens_in: int
    tokens_out: int
    cost_usd_micros: int | None


class Page(NamedTuple):
    rows: list[UsageRow]
    total: int  # of all pages
    next: tuple[int, str] | None


def list_usage(connection: Connection, by: By, limit: int, before: tuple[int, str] | None) -> Page:
    mine = sums.c.kind == by
    total: int = connection.execute(select(func.count()).select_from(sums).where(mine)).scalar_one()
    query = select(sums).where(mine)
    if by == "day":
        query = query.order_by(sums.c.key.desc())
        if before is not None:
            query = query.where(sums.c.key < before[1])
    else:
        query = query.order_by(sums.c.tokens.desc(), sums.c.key.desc())
        if before is not None:
            query = query.where(tuple_(sums.c.tokens, sums.c.key) < before)
    found = connection.execute(query.limit(limit + 1)).all()
    page = found[:limit]
    named = titles(connection, by, [row.key for row in page])
    following = (page[-1].tokens, page[-1].key) if len(found) > limit else None
    return Page([view(row, named.get(row.key)) for row in page], total, following)


def first_day(connection: Connection) -> str | None:
    """Since when usage is counted: the day of the first turn that told."""
    day: str | None = connection.execute(select(func.min(sums.c.key)).where(sums.c.kind == "day")).scalar()
    return day


class DayTokens(msgspec.Struct, frozen=True):
    """What one day (UTC) took."""

    day: str
    tokens: int


def last_days(connection: Connection, days: int, now: int) -> list[DayTokens]:
    """Today and the days before it, the oldest first, also those on which nothing was used."""
    last = now // clock.DAY
    names = [name_of(day) for day in range(last - days + 1, last + 1)]
    query = select(sums.c.key, sums.c.tokens).where(sums.c.kind == "day", sums.c.key >= names[0])
    used: dict[str, int] = dict(connection.execute(query).all())
    return [DayTokens(name, used.get(name, 0)) for name in names]


def find_usage(connection: Connection, by: By, key: str) -> UsageRow | None:
    row = connection.execute(select(sums).where(sums.c.kind == by, sums.c.key == key)).first()
    return None if row is None else view(row, titles(connection, by, [key]).get(key))


def view(row: Row[Any], title: str | None) -> UsageRow:
    return UsageRow(
        key=row.key,
        title=title,
        turns=row.turns,
        unpriced=row.unpriced,
        tokens=row.tokens,
        tokens_in=row.tokens_in,
        tokens_out=row.tokens_out,
        cost_usd_micros=None if row.unpriced == row.turns else row.cost_usd_micros,
    )


def titles(connection: Connection, by: By, keys: list[str]) -> dict[str, str]:
    """What things are called that have a title."""
    if by in ("task", "epic"):
        return {id: row.title for id, row in find_many(connection, keys).items()}
    if by == "sprint":
        query = select(sprints.c.id, sprints.c.title).where(among(connection, sprints.c.id, keys))
        return dict(connection.execute(query).all())
    return {}
