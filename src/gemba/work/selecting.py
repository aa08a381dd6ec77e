"""Reads what `selection` decides on: what is ready, what is running, and what each session did so far.

A fixed number of reads, each by an index, and one for every level of what items are part of. Sessions are described by
the caller, who knows them; here are only their items.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Column, Connection, Row, and_, case, func, or_, select

from gemba import typed
from gemba.store.lists import among
from gemba.work.item import Kind, Relation, State
from gemba.work.items import find_many, is_claimed
from gemba.work.selection import Candidate, Field, Gate, Running, Worker
from gemba.work.tables import items, relations

MOST_READY = 1_000  # considered: the first in the usual order
MOST_RUNNING = 1_000

_words = typed.decoder(tuple[str, ...])
_FACTS: list[Column[Any]] = [
    *(items.c.id, items.c.title, items.c.kind, items.c.state, items.c.priority, items.c.parent, items.c.user_order),
    *(items.c.targets, items.c.concepts, items.c.labels, items.c.estimated_tokens, items.c.assignee),
    *(items.c.repository, items.c.created_at, items.c.claimed_by, items.c.claimed_until),
]


class AtWork(NamedTuple):
    """A session that lives: what it says it works on, and the folder that it works in."""

    id: str
    item: str | None = None
    folder: str | None = None
    is_coach: bool = False


class Named(msgspec.Struct, frozen=True):
    """What an item is called where only its id is told."""

    id: str
    title: str
    kind: Kind
    priority: int


class Ground(NamedTuple):
    """What is there to choose from, whether that is all, and by session what is known of it."""

    field: Field
    more: bool
    workers: dict[str, Worker]
    names: dict[str, Named]


def read_ground(
    connection: Connection, sessions: Sequence[AtWork], now: int, held: Sequence[Gate] = (), most: int = MOST_READY
) -> Ground:
    """`held`: why nothing is begun at this moment, whatever it is. Of what is ready the first `most` are considered."""
    ready = _ready(connection, most)
    page, more = ready[:most], len(ready) > most
    had = _had(connection, sessions)
    epics = _epics(connection, [*page, *had.values()])
    running = _running(connection, sessions, now)
    field = Field(_candidates(connection, page, epics, now), running, now, held)
    workers = {one.id: _worker(one, had, epics) for one in sessions}
    return Ground(
        field, more, workers, {row.id: Named(row.id, row.title, Kind(row.kind), row.priority) for row in page}
    )


def _ready(connection: Connection, most: int) -> list[Row[Any]]:
    """All that nothing but a claim keeps from being ready."""
    usual = (items.c.place, items.c.priority, items.c.created_at, items.c.id)
    return list(connection.execute(select(*_FACTS).where(items.c.standing).order_by(*usual).limit(most + 1)))


def _candidates(
    connection: Connection, rows: Iterable[Row[Any]], epics: Mapping[str, str], now: int
) -> list[Candidate]:
    found = list(rows)
    ids = [row.id for row in found]
    waiting, parts = _waiting(connection, ids), _parts(connection, ids)
    return [
        Candidate(
            id=row.id,
            state=State(row.state),
            kind=Kind(row.kind),
            user_order=row.user_order,
            priority=row.priority,
            created_at=row.created_at,
            targets=_words.decode(row.targets),
            concepts=_words.decode(row.concepts),
            labels=_words.decode(row.labels),
            epic=epics.get(row.id),
            tokens=row.estimated_tokens,
            waiting=waiting.get(row.id, (0, 0))[0],
            only=waiting.get(row.id, (0, 0))[1],
            parts=parts.get(row.id, 0),
            owner=row.claimed_by if is_claimed(row, now) else None,
            assignee=row.assignee,
            repository=row.repository,
        )
        for row in found
    ]


def _waiting(connection: Connection, ids: Sequence[str]) -> dict[str, tuple[int, int]]:
    """How many unfinished items each of these blocks, and of how many it is the only blocker."""
    only = func.sum(case((items.c.blockers == 1, 1), else_=0))
    query = (
        select(relations.c.source, func.count(), only)
        .join(items, items.c.id == relations.c.target)
        .where(relations.c.kind == Relation.BLOCKS, ~items.c.finished, among(connection, relations.c.source, ids))
        .group_by(relations.c.source)
    )
    return {id: (many, int(alone)) for id, many, alone in connection.execute(query)}


def _parts(connection: Connection, ids: Sequence[str]) -> dict[str, int]:
    query = select(items.c.parent, func.count()).where(among(connection, items.c.parent, ids), ~items.c.finished)
    return dict(connection.execute(query.group_by(items.c.parent)).all())


def _running(connection: Connection, sessions: Sequence[AtWork], now: int) -> list[Running]:
    """What is in progress, what somebody has claimed, and what a session says it works on and has not handed in."""
    said = {one.item: one for one in reversed(sessions) if one.item is not None}
    living = {one.id: one for one in sessions}
    begun = items.c.state.in_((State.UNSTARTED, State.STAGED, State.IN_PROGRESS))
    mine = or_(
        items.c.state == State.IN_PROGRESS,
        and_(items.c.claimed_until > now, begun),
        and_(among(connection, items.c.id, said), begun),
    )
    rows = connection.execute(select(*_FACTS).where(mine).order_by(items.c.id).limit(MOST_RUNNING))
    return [_run(row, said, living, now) for row in rows]


def _run(row: Row[Any], said: Mapping[str, AtWork], living: Mapping[str, AtWork], now: int) -> Running:
    owner: str | None = row.claimed_by if is_claimed(row, now) else said[row.id].id if row.id in said else None
    folder = living[owner].folder if owner is not None and owner in living else None
    return Running(row.id, owner, _words.decode(row.targets), row.repository, folder)


def _had(connection: Connection, sessions: Sequence[AtWork]) -> dict[str, Row[Any]]:
    """What these sessions claimed and nobody has closed yet, and what each said last that it works on."""
    claimed = and_(items.c.claimed_until.is_not(None), among(connection, items.c.claimed_by, [s.id for s in sessions]))
    said = among(connection, items.c.id, [one.item for one in sessions if one.item is not None])
    found = connection.execute(select(*_FACTS).where(or_(claimed, said)))
    return {row.id: row for row in found}


def _worker(session: AtWork, had: Mapping[str, Row[Any]], epics: Mapping[str, str]) -> Worker:
    mine = [row for row in had.values() if row.claimed_by == session.id or row.id == session.item]
    return Worker(
        id=session.id,
        folder=session.folder,
        targets=tuple((row.repository, glob) for row in mine for glob in _words.decode(row.targets)),
        concepts=frozenset(concept for row in mine for concept in _words.decode(row.concepts)),
        epics=frozenset(epics[row.id] for row in mine if row.id in epics),
        is_coach=session.is_coach,
    )


def _epics(connection: Connection, rows: Iterable[Row[Any]]) -> dict[str, str]:
    """The nearest epic that each of these is part of, a read a level."""
    known: dict[str, tuple[str, str | None]] = {row.id: (row.kind, row.parent) for row in rows}
    asked = list(known)
    wave = {parent for _, parent in known.values() if parent is not None} - known.keys()
    while wave:
        level = {id: (row.kind, row.parent) for id, row in find_many(connection, wave).items()}
        known |= level
        wave = {parent for _, parent in level.values() if parent is not None} - known.keys()
    return {id: epic for id in asked if (epic := _epic_above(known, id)) is not None}


def _epic_above(known: Mapping[str, tuple[str, str | None]], id: str) -> str | None:
    at = known[id][1]
    while at is not None and at in known:
        kind, parent = known[at]
        if kind == Kind.EPIC:
            return at
        at = parent
    return None
