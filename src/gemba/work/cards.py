"""Work items as cards in columns, a column for each state. Called for the board.

What is open stands in the order in which it should be done: what the operator ordered first, then by priority and age.
What is finished stands with the last change first. A card says what blocks it, and which of the items above it are
blocked; the titles of all that are named stand once beside the cards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Column, ColumnElement, Connection, Row, func, or_, select, tuple_

from gemba import clock
from gemba.store.lists import among
from gemba.work.explain import blockers_of, line_above, parents_above
from gemba.work.item import FINISHED, Kind, State
from gemba.work.items import COLUMNS, Claim, Sought, conditions, find_many, view_row
from gemba.work.readiness import unclaimed
from gemba.work.tables import items

MOST_NAMED = 20  # blockers on one card

Place = tuple[int | str, ...]  # of a card in its column: what the column is ordered by

_TO_BE_DONE: tuple[Column[Any], ...] = (items.c.place, items.c.priority, items.c.created_at, items.c.id)
_BY_LAST_CHANGE: tuple[Column[Any], ...] = (items.c.updated_at, items.c.id)


class WorkCard(msgspec.Struct, frozen=True, kw_only=True):
    """A work item as the board shows it. `blocked_by` names the first of its unfinished blockers, `held_by` the items
    above it that are blocked, the nearest first."""

    id: str
    title: str
    kind: Kind
    state: State
    priority: int
    parent: str | None
    labels: list[str]
    assignee: str | None
    estimated_tokens: int | None
    user_order: int | None
    created_at: str
    updated_at: str
    version: int
    ready: bool
    claim: Claim | None
    blockers: int
    blocked_by: list[str]
    held_by: list[str]


class Wanted(NamedTuple):
    """Which cards: what is sought, of that what is ready or blocked, of that these."""

    sought: Sought
    is_ready: bool = False
    is_blocked: bool = False
    ids: Sequence[str] | None = None


class Lane(NamedTuple):
    """The rows of one column, and where the next page of it starts."""

    rows: Sequence[Row[Any]]
    next: Place | None


def counts(connection: Connection, wanted: Wanted, now: int) -> dict[str, int]:
    """How many there are in each state; those that `ids` leaves out count too."""
    query = select(items.c.state, func.count()).where(*_chosen(wanted, now)).group_by(items.c.state)
    return dict(connection.execute(query).all())


def lane(connection: Connection, wanted: Wanted, state: State, limit: int, after: Place | None, now: int) -> Lane:
    chosen = [items.c.state == state, *_chosen(wanted, now)]
    if wanted.ids is not None:
        chosen.append(among(connection, items.c.id, wanted.ids))
    finished = state in FINISHED
    key = _BY_LAST_CHANGE if finished else _TO_BE_DONE
    if after is not None:
        chosen.append(tuple_(*key) < after if finished else tuple_(*key) > after)
    order = (column.desc() if finished else column.asc() for column in key)
    found = connection.execute(select(*COLUMNS).where(*chosen).order_by(*order).limit(limit + 1)).all()
    rows = found[:limit]
    return Lane(rows, tuple(rows[-1]._mapping[column] for column in key) if len(found) > limit else None)


def cards_of(connection: Connection, rows: Sequence[Row[Any]], now: int) -> tuple[dict[str, WorkCard], dict[str, str]]:
    """The rows as cards, by id; and the titles of all that these name."""
    held = [row for row in rows if row.held]
    parents = parents_above(connection, held)
    lines = {row.id: line_above(parents, row.id) for row in held}
    above = {id for line in lines.values() for id in line}
    blockers = blockers_of(connection, {row.id for row in rows if row.blockers} | above)
    named = {id: [one.id for one in found[:MOST_NAMED]] for id, found in blockers.items()}
    names = {one.id: one.title for found in blockers.values() for one in found[:MOST_NAMED]}
    names |= _titles(connection, ({row.parent for row in rows if row.parent is not None} | above) - names.keys())
    return {row.id: _card(row, named, [id for id in lines.get(row.id, ()) if id in named], now) for row in rows}, names


def _chosen(wanted: Wanted, now: int) -> list[ColumnElement[bool]]:
    found = conditions(wanted.sought)
    if wanted.is_ready:
        found += [items.c.standing, unclaimed(now)]
    if wanted.is_blocked:
        found += [~items.c.finished, or_(items.c.blockers > 0, items.c.held > 0)]
    return found


def _titles(connection: Connection, ids: Iterable[str]) -> dict[str, str]:
    return {id: row.title for id, row in find_many(connection, ids).items()}


def _card(row: Row[Any], named: Mapping[str, list[str]], held_by: list[str], now: int) -> WorkCard:
    shown = view_row(row, now)
    return WorkCard(
        id=shown.id,
        title=shown.title,
        kind=shown.kind,
        state=shown.state,
        priority=shown.priority,
        parent=shown.parent,
        labels=shown.labels,
        assignee=shown.assignee,
        estimated_tokens=shown.estimated_tokens,
        user_order=shown.user_order,
        created_at=clock.rfc3339(row.created_at),
        updated_at=clock.rfc3339(row.updated_at),
        version=shown.version,
        ready=shown.ready,
        claim=shown.claim,
        blockers=shown.blockers,
        blocked_by=named.get(row.id, []),
        held_by=held_by,
    )
