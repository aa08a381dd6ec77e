"""What is in a sprint: the items that were put into it, what each of them consists of, and how far that is.

An item with parts stands for its parts, so progress is counted in what is worked on: the items that have no parts of
their own. One that is in the sprint twice, by itself and as a part, counts once. Read in one query a level.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Column, Connection, Row, case, func, select

from gemba import clock
from gemba.sprints.burn_down import Piece
from gemba.sprints.tables import sprint_items, sums
from gemba.store.lists import among
from gemba.work.item import Kind, State
from gemba.work.items import is_claimed
from gemba.work.tables import items

MOST_PARTS = 20_000  # of a sprint; what is beyond is not counted

_FACTS: list[Column[Any]] = [
    *(items.c.id, items.c.title, items.c.kind, items.c.state, items.c.parent, items.c.finished, items.c.closed_at),
    *(items.c.created_at, items.c.estimated_tokens, items.c.standing, items.c.claimed_by, items.c.claimed_until),
]


class SprintItem(msgspec.Struct, frozen=True, kw_only=True):
    """An item of a sprint. `parts` are the items below it that are worked on, or itself where it has none; `tokens` is
    what it and its parts took so far, in every sprint."""

    id: str
    title: str
    kind: Kind
    state: State
    parts: int
    parts_finished: int
    tokens: int
    estimated_tokens: int | None
    ready: bool
    claimed_by: str | None
    added_at: str
    added_by: str


class Scope(NamedTuple):
    items: list[SprintItem]
    pieces: list[Piece]


def read_scope(connection: Connection, sprint_id: str, now: int) -> Scope:
    query = select(*_FACTS, sprint_items.c.added_at, sprint_items.c.added_by).join(
        sprint_items, sprint_items.c.item_id == items.c.id
    )
    found = connection.execute(query.where(sprint_items.c.sprint_id == sprint_id)).all()
    roots: list[Any] = sorted(found, key=lambda row: (row.added_at, row.id))
    known, parts = _below(connection, roots)
    pieces: dict[str, Piece] = {}
    taken = _taken(connection, known)
    shown = []
    for root in roots:
        whole = list(_whole(root.id, parts))
        leaves = [known[id] for id in whole if id not in parts]
        for leaf in leaves:
            piece = Piece(max(root.added_at, leaf.created_at), leaf.closed_at if leaf.finished else None)
            pieces[leaf.id] = min(piece, pieces.get(leaf.id, piece))
        shown.append(_view(root, leaves, sum(taken.get(id, 0) for id in whole), now))
    return Scope(shown, list(pieces.values()))


def count_items(connection: Connection, sprint_ids: Iterable[str]) -> dict[str, tuple[int, int]]:
    """How many items each sprint has, and how many of these are finished."""
    done = func.sum(case((items.c.finished, 1), else_=0))
    query = select(sprint_items.c.sprint_id, func.count(), done).join(items, items.c.id == sprint_items.c.item_id)
    query = query.where(among(connection, sprint_items.c.sprint_id, sprint_ids)).group_by(sprint_items.c.sprint_id)
    return {id: (many, int(finished or 0)) for id, many, finished in connection.execute(query)}


def _below(connection: Connection, roots: Sequence[Row[Any]]) -> tuple[dict[str, Row[Any]], dict[str, list[str]]]:
    """Every item that the roots consist of, and who the parts of each are."""
    known: dict[str, Row[Any]] = {row.id: row for row in roots}
    parts: dict[str, list[str]] = defaultdict(list)
    wave = list(known)
    asked = set(wave)
    while wave and len(known) < MOST_PARTS:
        level = select(*_FACTS).where(among(connection, items.c.parent, wave)).order_by(items.c.id).limit(MOST_PARTS)
        found = connection.execute(level).all()
        for row in found:
            parts[row.parent].append(row.id)
            known.setdefault(row.id, row)
        wave = [row.id for row in found if row.id not in asked]
        asked.update(wave)
    return known, dict(parts)


def _whole(root: str, parts: dict[str, list[str]]) -> Iterable[str]:
    """The root and all below it; there are no circles among parents."""
    waiting = [root]
    while waiting:
        id = waiting.pop()
        yield id
        waiting += parts.get(id, ())


def _taken(connection: Connection, ids: Iterable[str]) -> dict[str, int]:
    query = select(sums.c.key, sums.c.tokens).where(sums.c.kind == "task", among(connection, sums.c.key, ids))
    return dict(connection.execute(query).all())


def _view(row: Row[Any], leaves: Sequence[Row[Any]], tokens: int, now: int) -> SprintItem:
    claimed = is_claimed(row, now)
    return SprintItem(
        id=row.id,
        title=row.title,
        kind=Kind(row.kind),
        state=State(row.state),
        parts=len(leaves),
        parts_finished=sum(leaf.finished for leaf in leaves),
        tokens=tokens,
        estimated_tokens=row.estimated_tokens,
        ready=row.standing and not claimed,
        claimed_by=row.claimed_by if claimed else None,
        added_at=clock.rfc3339(row.added_at),
        added_by=row.added_by,
    )
