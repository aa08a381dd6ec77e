"""What hangs together with an item: its neighbours, the longest way of unfinished work through it, what it unblocks.

`longest_way` is pure. What is read is what can be reached from the item and no more, up to a number that is said.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, select

from gemba.store.lists import among
from gemba.work.item import BINDING, Relation, State
from gemba.work.items import RelationView, find_many, get, relations_of
from gemba.work.tables import relations

MOST_REACHED = 5_000

Edges = Mapping[str, Sequence[str]]


class Node(msgspec.Struct, frozen=True):
    """`weight` is what it is estimated to take in tokens; without an estimate 0."""

    id: str
    title: str
    kind: str
    state: State
    ready: bool
    weight: int


class Graph(msgspec.Struct, frozen=True, kw_only=True):
    """An item among the others.

    `critical_path` is the longest chain of unfinished items that wait for each other in which the item stands, the
    first to be done first. `blast_radius` is what waits for the item, near or far; `unblocks` is what of that would be
    ready if the item were finished now. `complete` is false where there is more than was looked at.
    """

    id: str
    neighbours: list[RelationView]
    nodes: list[Node]
    critical_path: list[str]
    critical_weight: int
    blast_radius: list[str]
    unblocks: list[str]
    complete: bool


def longest_way(edges: Edges, weights: Mapping[str, int], start: str) -> list[str]:
    """From `start` along the edges: the way with the most items, of those the heaviest. The edges have no circle."""
    best: dict[str, tuple[int, int, str | None]] = {}
    stack: list[tuple[str, bool]] = [(start, False)]
    while stack:
        id, done = stack.pop()
        if done:
            ways = ((best[after][0] + 1, best[after][1], after) for after in edges.get(id, ()))
            length, heavy, after = max(ways, key=lambda way: (way[0], way[1], way[2]), default=(1, 0, None))
            best[id] = (length, heavy + weights.get(id, 0), after)
        elif id not in best:
            stack.append((id, True))
            stack += [(after, False) for after in edges.get(id, ()) if after not in best]
    path: list[str] = []
    at: str | None = start
    while at is not None:
        path.append(at)
        at = best[at][2]
    return path


def graph_of(connection: Connection, id: str) -> Graph:
    row = get(connection, id)
    waits, whole_before = _reached(connection, id, forward=True)
    frees, whole_after = _reached(connection, id, forward=False)
    known = find_many(connection, {id, *waits, *frees})
    open_ids = {each for each, found in known.items() if not found.finished} | {id}
    before, after = _binding(waits, open_ids), _binding(frees, open_ids)
    weights = {each: found.estimated_tokens or 0 for each, found in known.items()}
    path = [*reversed(longest_way(before, weights, id)), *longest_way(after, weights, id)[1:]]
    neighbours = relations_of(connection, id)
    near = dict.fromkeys([id, *path, *(end for each in neighbours for end in (each.source, each.target))])
    shown = known | find_many(connection, [each for each in near if each not in known])
    # What waits, unfinished; a parent that only passes on what holds it waits for nothing itself.
    radius = [each for each in frees if each != id and each in open_ids]
    return Graph(
        id=id,
        neighbours=neighbours,
        nodes=[_node(shown[each]) for each in near],
        critical_path=path,
        critical_weight=sum(weights.get(each, 0) for each in path),
        blast_radius=radius,
        unblocks=[] if row.finished else _freed(connection, row, radius, known),
        complete=whole_before and whole_after,
    )


def _reached(connection: Connection, id: str, *, forward: bool) -> tuple[dict[str, list[tuple[str, str]]], bool]:
    """Each item that is reached with the steps onward from it; whether that is all. Forward is what it waits for.

    What waits for an item is found through `blocks` first: its own children do not wait for it, but those of an item
    that it blocks wait with that one.
    """
    here, there = (relations.c.target, relations.c.source) if forward else (relations.c.source, relations.c.target)
    steps: dict[str, list[tuple[str, str]]] = {id: []}
    wave, first = [id], not forward
    while wave and len(steps) < MOST_REACHED:
        kinds = (Relation.BLOCKS,) if first else BINDING
        query = select(here, relations.c.kind, there).where(relations.c.kind.in_(kinds), among(connection, here, wave))
        wave, first = [], False
        for at, kind, following in connection.execute(query):
            steps[at].append((kind, following))
            if following not in steps:
                steps[following] = []
                wave.append(following)
    return steps, not wave


def _binding(steps: Mapping[str, list[tuple[str, str]]], wanted: set[str]) -> Edges:
    """Who waits for whom among the unfinished, with what stands between them only as a parent passed over."""
    found: dict[str, list[str]] = defaultdict(list)
    for id in steps.keys() & wanted:
        seen: set[str] = set()
        passing = [id]
        while passing:
            for kind, following in steps[passing.pop()]:
                if following in seen:
                    continue
                seen.add(following)
                if kind == Relation.BLOCKS:
                    if following in wanted:
                        found[id].append(following)
                else:
                    passing.append(following)
    return found


def _freed(connection: Connection, row: Row[Any], radius: Iterable[str], known: Mapping[str, Row[Any]]) -> list[str]:
    """What only this item keeps from being ready: nothing else blocks it, or anything that it is part of."""
    direct = select(relations.c.target).where(relations.c.source == row.id, relations.c.kind == Relation.BLOCKS)
    lighter = {id for id in connection.execute(direct).scalars() if id in known and known[id].blockers == 1}
    return [id for id in radius if _would_stand(known[id], known, lighter)]


def _would_stand(row: Row[Any], known: Mapping[str, Row[Any]], lighter: set[str]) -> bool:
    if row.state not in ("unstarted", "staged") or row.standing:
        return False
    held, at = row.held, row.parent
    while at is not None and at in known:
        held -= at in lighter
        at = known[at].parent
    return bool(held == 0 and row.blockers - (row.id in lighter) == 0)


def _node(row: Row[Any]) -> Node:
    return Node(row.id, row.title, row.kind, State(row.state), row.standing, row.estimated_tokens or 0)
