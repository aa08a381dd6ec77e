"""Whether a new edge would close a circle: what waits for itself can never be ready, so it is refused, shown whole.

An item waits for what blocks it and for what its parent waits for. So a circle over `blocks` and `parent-child`
together (from target to source) is a deadlock, or a parent that lies in its own child. It is looked for from both ends
at once, wave by wave, and ends with the smaller of the two: what is new, or blocks nothing, costs two reads. A chain
that is longer than the waves are worth is walked by the database itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NoReturn

from sqlalchemy import Column, Connection, bindparam, func, select

from gemba.errors import Conflict
from gemba.store.lists import among
from gemba.work.item import BINDING, Relation
from gemba.work.tables import items, relations

_MOST_WAVES = 50
_MOST_SHOWN = 20  # items of a circle

Steps = dict[str, str]  # from where an item was reached; the first from itself


def refuse_circle(connection: Connection, source: str, kind: Relation, target: str) -> None:
    """Refuse the edge `source` kind `target` where `target` is already among what `source` waits for."""
    if source == target:
        raise Conflict(
            f"{source} cannot be {'its own parent' if kind is Relation.PARENT_CHILD else 'blocked by itself'}",
            code="cycle",
            found=[source, source],
        )
    path = path_between(connection, source, target)
    if path is not None:
        _refuse(connection, kind, path)


def path_between(connection: Connection, start: str, end: str) -> list[str] | None:
    """From an item along what it waits for to another one; None where there is no way."""
    ahead: Steps = {start: start}
    behind: Steps = {end: end}
    waves = {True: [start], False: [end]}
    for _ in range(_MOST_WAVES):
        forward = len(ahead) <= len(behind)
        seen, others = (ahead, behind) if forward else (behind, ahead)
        waves[forward] = _wave(connection, waves[forward], seen, forward=forward)
        met = next((id for id in waves[forward] if id in others), None)
        if met is not None:
            return [*reversed(_back(ahead, met)), *_back(behind, met)[1:]]
        if not waves[forward]:
            return None
    return _long_path(connection, start, end)


def ancestors(connection: Connection, id: str) -> list[str]:
    """The parent, its parent, and so on."""
    found: list[str] = []
    parent = connection.execute(_parent_of, {"id": id}).scalar()
    while parent is not None and parent not in found:
        found.append(parent)
        parent = connection.execute(_parent_of, {"id": parent}).scalar()
    return found


_parent_of = select(items.c.parent).where(items.c.id == bindparam("id"))


def _wave(connection: Connection, wave: Iterable[str], seen: Steps, *, forward: bool) -> list[str]:
    """What lies one step further, for the first time."""
    here, there = _direction(forward)
    query = select(here, there).where(relations.c.kind.in_(BINDING), among(connection, here, wave))
    new: list[str] = []
    for at, following in connection.execute(query):
        if following not in seen:
            seen[following] = at
            new.append(following)
    return new


def _direction(forward: bool) -> tuple[Column[str], Column[str]]:
    ends = (relations.c.target, relations.c.source)
    return ends if forward else (ends[1], ends[0])


def _long_path(connection: Connection, start: str, end: str) -> list[str] | None:
    reached = select(bindparam("start", start, unique=True).label("id")).cte("reached", recursive=True)
    onward = select(relations.c.source).join(reached, relations.c.target == reached.c.id)
    reached = reached.union(onward.where(relations.c.kind.in_(BINDING)))
    if not connection.execute(select(func.count()).select_from(reached).where(reached.c.id == end)).scalar():
        return None
    edges = select(relations.c.target, relations.c.source).join(reached, relations.c.target == reached.c.id)
    steps: Steps = {start: start}
    ways: dict[str, list[str]] = {}
    for at, following in connection.execute(edges.where(relations.c.kind.in_(BINDING))):
        ways.setdefault(at, []).append(following)
    wave = [start]
    while wave and end not in steps:
        onto = [(at, following) for at in wave for following in ways.get(at, ())]
        wave = []
        for at, following in onto:
            if following not in steps:
                steps[following] = at
                wave.append(following)
    return [*reversed(_back(steps, end))]


def _back(steps: Steps, id: str) -> list[str]:
    """From an item back to where the search began."""
    path = [id]
    while steps[path[-1]] != path[-1]:
        path.append(steps[path[-1]])
    return path


def _refuse(connection: Connection, kind: Relation, path: list[str]) -> NoReturn:
    """The path is from the new edge's source to its target; the edge itself leads back."""
    parents = dict(
        connection.execute(
            select(items.c.id, items.c.parent).where(among(connection, items.c.id, path[:_MOST_SHOWN]))
        ).all()
    )
    words: list[str] = []
    for at, following in pairwise(path[:_MOST_SHOWN]):
        words.append(f"{'is part of' if parents.get(at) == following else 'is blocked by'} {following}")
    if len(path) > _MOST_SHOWN:
        words.append(f"leads over {len(path) - _MOST_SHOWN - 1} more to {path[-1]}")
    closing = "would be part of" if kind is Relation.PARENT_CHILD else "would be blocked by"
    words.append(f"{closing} {path[0]}")
    raise Conflict(
        f"that is a circle, in which nothing could ever be ready: {path[0]} {', which '.join(words)}",
        code="cycle",
        found=[*path, path[0]],
        allowed="a relation that leads back to none of these",
    )
