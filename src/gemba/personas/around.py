"""What is around a thing that personas are asked about, from one state of the database: `triggers` makes signals of it.

The thing is a work item, an escalation, a handoff, a session or a team's task. All but the first may be about an item;
its epics, its parts and what is being worked on are read with it. Bounded: so many parts, so many others. Called by
`asking`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import Connection, Row, and_, func, or_, select

from gemba import typed
from gemba.errors import NotFound
from gemba.escalations.store import escalations
from gemba.handoff.dispatches import dispatches
from gemba.handoff.handoffs import handoffs
from gemba.personas import perspectives
from gemba.personas.triggers import MOST_REFS, WINDOW, Around, EpicMove, ItemSeen, SprintSeen, Touching
from gemba.sessions.store import sessions
from gemba.sprints import store as sprint_store
from gemba.store import rows
from gemba.store.lists import among
from gemba.work import history
from gemba.work.item import Kind, Relation, State
from gemba.work.readiness import ready_items
from gemba.work.tables import changes, items, relations

_MOST_PARTS: Final = 200  # of an item
_MOST_AT_WORK: Final = 500
_HIGHEST: Final = 20  # epics above each other
_MOST_CHANGES: Final = 200
_WHOLES: Final = (Kind.EPIC, Kind.MILESTONE)  # nobody works on these but by their parts

_words = typed.decoder(list[str])


def read_around(connection: Connection, ref: str, now: int, things: perspectives.Things) -> Around:
    """NotFound where nothing that can be spoken of has the id."""
    item = rows.find(connection, items, ref)
    thing = None if item is not None else perspectives.read_thing(connection, ref, things)
    if item is None:
        if thing is None:
            told = f"no work item, escalation, handoff, session or task of a team has the id {ref[:200]}"
            raise NotFound(told, code="not_found", pointer="/ref", found=ref[:200])
        about = thing.get("bead_id") or _item_of(connection, ref)
        item = None if about is None else rows.find(connection, items, about)
    unfinished = select(items.c.id).where(~items.c.finished, items.c.state.not_in((State.BACKLOG, State.DEFERRED)))
    first = unfinished.order_by(items.c.place, items.c.priority, items.c.created_at, items.c.id).limit(MOST_REFS)
    total = connection.execute(select(func.count()).select_from(unfinished.subquery())).scalar_one()
    return Around(
        ref=ref,
        thing=thing,
        item=None if item is None else _seen(connection, item),
        asked=[] if item is None else _asked(connection, item.id, ref),
        moves=[] if item is None else _moves(connection, item, now),
        sprint=_sprint(connection),
        ready=ready_items(connection, now, 1).total,
        unfinished=connection.execute(first).scalars().all(),
        unfinished_total=total,
        own=[] if item is None else _own(connection, item),
        at_work=[] if item is None else _at_work(connection, now),
    )


def _item_of(connection: Connection, ref: str) -> str | None:
    """The id of the item that an escalation, a session or a handoff is about."""
    for table in (escalations, sessions):
        row = rows.find(connection, table, ref)
        if row is not None:
            id: str | None = row.bead_id
            return id
    handoff = rows.find(connection, handoffs, ref)
    dispatch = None if handoff is None or handoff.dispatch_id is None else handoff.dispatch_id
    found = None if dispatch is None else rows.find(connection, dispatches, dispatch)
    return None if found is None else found.task_id


def _seen(connection: Connection, row: Row[Any]) -> ItemSeen:
    query = (
        select(relations.c.source)
        .join(items, items.c.id == relations.c.source)
        .where(relations.c.target == row.id, relations.c.kind == Relation.BLOCKS, ~items.c.finished)
        .order_by(relations.c.source)
    )
    return ItemSeen(
        id=row.id,
        title=row.title,
        kind=row.kind,
        state=row.state,
        priority=row.priority,
        created_at=row.created_at,
        labels=tuple(_words.decode(row.labels)),
        concepts=tuple(_words.decode(row.concepts)),
        targets=tuple(_words.decode(row.targets)),
        repository=row.repository,
        blocked_by=tuple(connection.execute(query.limit(MOST_REFS)).scalars()),
    )


def _asked(connection: Connection, item: str, ref: str) -> list[str]:
    mine = (escalations.c.bead_id == item, ~escalations.c.resolved, escalations.c.id != ref)
    query = select(escalations.c.id).where(*mine).order_by(escalations.c.rank, escalations.c.opened_at)
    return list(connection.execute(query.limit(MOST_REFS)).scalars())


def _moves(connection: Connection, item: Row[Any], now: int) -> list[EpicMove]:
    """How the epics that it belongs to, or is, changed their states lately; newest first."""
    epics = {row.id: row for row in _upwards(connection, item) if row.kind == Kind.EPIC}
    if not epics:
        return []
    lately = (among(connection, changes.c.item_id, list(epics)), changes.c.at > now - WINDOW, ~changes.c.undone)
    query = select(changes).where(*lately, changes.c.kind != history.CREATED)
    found = connection.execute(query.order_by(changes.c.at.desc(), changes.c.number.desc()).limit(_MOST_CHANGES))
    moves = []
    for row in found:
        before, after = history.fields(row.before).get("state"), history.fields(row.after).get("state")
        if before is not None and after is not None and before != after:
            moves.append(EpicMove(row.item_id, epics[row.item_id].title, before, after, row.at, row.actor))
    return moves


def _upwards(connection: Connection, item: Row[Any]) -> Iterator[Row[Any]]:
    at: Row[Any] | None = item
    for _ in range(_HIGHEST):
        if at is None:
            return
        yield at
        at = None if at.parent is None else rows.find(connection, items, at.parent)


def _sprint(connection: Connection) -> SprintSeen | None:
    row = sprint_store.find_running(connection)
    if row is None:
        return None
    cards = tuple(id for id in (row.stop_card, row.warn_card) if id is not None)
    return SprintSeen(row.id, row.title, row.level, row.tokens_used, row.token_budget, row.ends_at, cards)


def _own(connection: Connection, item: Row[Any]) -> list[Touching]:
    """The item, or what it is made of: a whole does not conflict with its own parts."""
    parts = select(items).where(items.c.parent == item.id, ~items.c.finished).order_by(items.c.created_at, items.c.id)
    found = connection.execute(parts.limit(_MOST_PARTS)).all()
    return [_touching(row) for row in found or (item,)]


def _at_work(connection: Connection, now: int) -> list[Touching]:
    claimed = and_(items.c.claimed_until > now, ~items.c.finished)
    query = select(items).where(or_(items.c.state == State.IN_PROGRESS, claimed), items.c.kind.not_in(_WHOLES))
    return [_touching(row) for row in connection.execute(query.order_by(items.c.id).limit(_MOST_AT_WORK))]


def _touching(row: Row[Any]) -> Touching:
    return Touching(row.id, row.repository, tuple(_words.decode(row.targets)))
