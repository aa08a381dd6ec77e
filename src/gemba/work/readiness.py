"""Which items are ready, kept with each item in the transaction of whatever changes it, and read from an index.

An item stands ready when its state is unstarted or staged and no unfinished item blocks it or what it is part of. How
many block it (`blockers`) and how many of its ancestors are blocked (`held`) are numbers in its row; `of_new` says with
what new items begin, and `settle` alone changes them. It takes the items whose own facts changed (state, blockers,
parent) and goes down from those alone whose weight on their children changed, so a change costs what it touches and not
what there is.

A claim is not among these facts: it ends by itself, so whoever reads looks at the clock.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, and_, func, or_, select, tuple_, update

from gemba.store.database import Transaction
from gemba.store.lists import among
from gemba.work.item import STARTABLE, Relation, State
from gemba.work.items import COLUMNS, WorkRow, view_row
from gemba.work.tables import items, relations

MOST_COUNTED = 1_000  # ready items; that there are more is said, not how many

_MOST_AT_ONCE = 20_000

Place = tuple[int, int, int, str]


class Turned(msgspec.Struct, frozen=True):
    """The items that a change made ready, or kept from being so (claims aside)."""

    ready: list[str]
    unready: list[str]


class ReadyPage(NamedTuple):
    rows: list[WorkRow]
    total: int
    more: bool  # there are more than `total`
    next: Place | None


def is_standing(state: str, blockers: int, held: int) -> bool:
    return State(state) in STARTABLE and not blockers and not held


def weight(blockers: int, held: int) -> int:
    """What an item adds to the `held` of its children."""
    return held + (blockers > 0)


class Above(NamedTuple):
    """What readiness depends on of an item that others wait for, or are part of."""

    finished: bool
    blockers: int
    held: int


def of_new(
    parents: Mapping[str, str | None],
    finished: Mapping[str, bool],
    blocks: Iterable[tuple[str, str]],
    there: Mapping[str, Above],
) -> dict[str, tuple[int, int]]:
    """How many block each of many new items, and how many of its ancestors are blocked. Pure.

    `parents` and `finished` are of the new ones; `blocks` has each pair of what blocks and what is blocked once;
    `there` are the items around them.
    """
    blockers = dict.fromkeys(parents, 0)
    for source, target in blocks:
        if target in blockers:
            over = finished[source] if source in finished else there[source].finished
            blockers[target] += not over
    held: dict[str, int] = {}
    for id in parents:
        line: list[str] = []
        at: str | None = id
        while at is not None and at in parents and at not in held:
            line.append(at)
            at = parents[at]
        below = 0 if at is None else weight(blockers[at], held[at]) if at in held else weight(*there[at][1:])
        for one in reversed(line):
            held[one] = below
            below = weight(blockers[one], below)
    return {id: (blockers[id], held[id]) for id in parents}


def read_above(connection: Connection, ids: Iterable[str]) -> dict[str, Above]:
    asked = select(items.c.id, items.c.finished, items.c.blockers, items.c.held)
    return {id: Above(*rest) for id, *rest in connection.execute(asked.where(among(connection, items.c.id, ids)))}


def settle(tx: Transaction, touched: Iterable[str]) -> Turned:
    """Bring readiness up to date, from the items that are touched downwards."""
    connection = tx.connection
    turned: dict[str, bool] = {}
    wave, first = list(dict.fromkeys(touched)), True
    while wave:
        following: list[str] = []
        for start in range(0, len(wave), _MOST_AT_ONCE):
            part = wave[start : start + _MOST_AT_ONCE]
            blocking = _count_blockers(connection, part) if first else None
            following += _settle_part(tx, _facts(connection, part), blocking, turned)
        wave, first = _children(connection, following), False
    return Turned([id for id, up in turned.items() if up], [id for id, up in turned.items() if not up])


def _settle_part(
    tx: Transaction, facts: Iterable[Row[*tuple[Any, ...]]], blocking: dict[str, int] | None, turned: dict[str, bool]
) -> list[str]:
    """Write what is not as it should be; the items whose children have to be looked at."""
    wanted: dict[tuple[int, int, bool], list[str]] = defaultdict(list)
    heavier_or_lighter: list[str] = []
    for row in facts:
        blockers = row.blockers if blocking is None else blocking.get(row.id, 0)
        held = 0 if row.above_blockers is None else weight(row.above_blockers, row.above_held)
        standing = is_standing(row.state, blockers, held)
        if (blockers, held, standing) == (row.blockers, row.held, row.standing):
            continue
        wanted[blockers, held, standing].append(row.id)
        if weight(blockers, held) != weight(row.blockers, row.held):
            heavier_or_lighter.append(row.id)
        if standing != row.standing and turned.pop(row.id, standing) == standing:
            turned[row.id] = standing
    for (blockers, held, standing), ids in wanted.items():
        chosen = update(items).where(among(tx.connection, items.c.id, ids))
        tx.connection.execute(chosen.values(blockers=blockers, held=held, standing=standing))
    return heavier_or_lighter


_above = items.alias("above")
_looked_at = select(
    items.c.id,
    items.c.state,
    items.c.blockers,
    items.c.held,
    items.c.standing,
    _above.c.blockers.label("above_blockers"),
    _above.c.held.label("above_held"),
).select_from(items.outerjoin(_above, _above.c.id == items.c.parent))


def _facts(connection: Connection, ids: list[str]) -> Sequence[Row[*tuple[Any, ...]]]:
    return connection.execute(_looked_at.where(among(connection, items.c.id, ids))).all()


def _count_blockers(connection: Connection, ids: list[str]) -> dict[str, int]:
    counted = (
        select(relations.c.target, func.count())
        .join(items, items.c.id == relations.c.source)
        .where(relations.c.kind == Relation.BLOCKS, ~items.c.finished, among(connection, relations.c.target, ids))
        .group_by(relations.c.target)
    )
    return dict(connection.execute(counted).all())


def _children(connection: Connection, ids: list[str]) -> list[str]:
    if not ids:
        return []
    return list(connection.execute(select(items.c.id).where(among(connection, items.c.parent, ids))).scalars())


def blocked_by(connection: Connection, ids: Iterable[str]) -> list[str]:
    """What these items block."""
    chosen = (relations.c.kind == Relation.BLOCKS, among(connection, relations.c.source, ids))
    return list(connection.execute(select(relations.c.target).where(*chosen).distinct()).scalars())


# ---- reading ---------------------------------------------------------------------------------------------------------


def ready_items(
    connection: Connection, now: int, limit: int, after: Place | None = None, chosen: Iterable[ColumnElement[bool]] = ()
) -> ReadyPage:
    """What is ready: what the operator ordered first, then by priority and age."""
    ready = and_(items.c.standing, unclaimed(now), *chosen)
    total, more = _counted(connection, ready)
    key = (items.c.place, items.c.priority, items.c.created_at, items.c.id)
    query = select(*COLUMNS).where(ready).order_by(*key).limit(limit + 1)
    if after is not None:
        query = query.where(tuple_(*key) > after)
    found = connection.execute(query).all()
    page = found[:limit]
    last = page[-1] if len(found) > limit else None
    return ReadyPage(
        [view_row(row, now) for row in page],
        total,
        more,
        None if last is None else (last.place, last.priority, last.created_at, last.id),
    )


def count_ready(connection: Connection, now: int) -> tuple[int, bool]:
    """How many are ready, and whether there are more than that."""
    return _counted(connection, and_(items.c.standing, unclaimed(now)))


def _counted(connection: Connection, ready: ColumnElement[bool]) -> tuple[int, bool]:
    counted = select(items.c.id).where(ready).limit(MOST_COUNTED + 1).subquery()
    total: int = connection.execute(select(func.count()).select_from(counted)).scalar_one()
    return min(total, MOST_COUNTED), total > MOST_COUNTED


def unready_items(connection: Connection, now: int, limit: int) -> list[Row[Any]]:
    """Unfinished items that are not ready, the newest first."""
    waiting = and_(~items.c.finished, or_(~items.c.standing, ~unclaimed(now)))
    newest = (items.c.created_at.desc(), items.c.id.desc())
    return list(connection.execute(select(*COLUMNS).where(waiting).order_by(*newest).limit(limit)))


def unclaimed(now: int) -> ColumnElement[bool]:
    return or_(items.c.claimed_until.is_(None), items.c.claimed_until <= now)
