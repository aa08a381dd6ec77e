"""What the turns of the last days took, by epic and by persona: the most costly, the others, and what is of none.

`shares` is pure. The turns are read once for both, by the moment at which they were taken in: a turn is never taken in
before its day, so those of the days that are wanted are among those that came in since the first of them. Called by
`insights`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec
from sqlalchemy import Connection, case, func, select

from gemba import clock
from gemba.sprints.tables import turns
from gemba.sprints.usage_view import UsageRow


class CostShares(msgspec.Struct, frozen=True, kw_only=True):
    """The most costly first, by dollars and then by tokens. `rest` is what `more` others took together, `none` what was
    of none; all of it adds up to the total of the days."""

    rows: list[UsageRow]
    more: int
    rest: UsageRow | None
    none: UsageRow | None

    @property
    def keys(self) -> list[str]:
        return [row.key for row in self.rows]

    def titled(self, titles: Mapping[str, str]) -> CostShares:
        named = [msgspec.structs.replace(row, title=titles.get(row.key)) for row in self.rows]
        return msgspec.structs.replace(self, rows=named)


class Amount(NamedTuple):
    """What some turns took together."""

    turns: int
    unpriced: int
    tokens_in: int
    tokens_out: int
    micros: int

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out

    def and_(self, other: Amount) -> Amount:
        return Amount(*(mine + its for mine, its in zip(self, other, strict=True)))


class Spent(NamedTuple):
    """What turns for one epic and one persona took, either of which may be none."""

    epic: str | None
    persona_id: str | None
    amount: Amount


def read_spent(connection: Connection, first_day: int) -> list[Spent]:
    """From a day on, which is counted from 1970."""
    query = (
        select(
            turns.c.epic,
            turns.c.persona_id,
            func.count(),
            func.sum(case((turns.c.cost_usd_micros.is_(None), 1), else_=0)),
            func.sum(turns.c.tokens_in),
            func.sum(turns.c.tokens_out),
            func.sum(func.coalesce(turns.c.cost_usd_micros, 0)),
        )
        .where(turns.c.at >= first_day * clock.DAY, turns.c.day >= first_day)
        .group_by(turns.c.epic, turns.c.persona_id)
    )
    # PostgreSQL gives sums of large numbers as decimals.
    return [Spent(epic, persona, Amount(*map(int, sums))) for epic, persona, *sums in connection.execute(query)]


def shares(spent: Iterable[tuple[str | None, Amount]], most: int) -> CostShares:
    """So many rows at most."""
    by_key: dict[str | None, Amount] = {}
    for key, amount in spent:
        known = by_key.get(key)
        by_key[key] = amount if known is None else known.and_(amount)
    none = by_key.pop(None, None)
    ordered = sorted(by_key.items(), key=lambda one: (-one[1].micros, -one[1].tokens, one[0] or ""))
    rest: Amount | None = None
    for _, amount in ordered[most:]:
        rest = amount if rest is None else rest.and_(amount)
    return CostShares(
        rows=[_row(key or "", amount) for key, amount in ordered[:most]],
        more=len(ordered[most:]),
        rest=None if rest is None else _row("", rest),
        none=None if none is None else _row("", none),
    )


def _row(key: str, amount: Amount) -> UsageRow:
    return UsageRow(
        key=key,
        title=None,
        turns=amount.turns,
        unpriced=amount.unpriced,
        tokens=amount.tokens,
        tokens_in=amount.tokens_in,
        tokens_out=amount.tokens_out,
        cost_usd_micros=None if amount.unpriced == amount.turns else amount.micros,
    )
