"""Many items and relations at once, for whoever imports: inserted in bulk, each as ready as it is with all of them.

The caller has checked what it brings: ids that are free, ends that are there, values that `clean_values` made.
`circles` says which of the relations that bind would close a circle, so that an import can leave those out by name
before anything is written. One event tells of the whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from gemba.event import Draft
from gemba.store.database import Transaction
from gemba.work import history, milestones
from gemba.work.item import BINDING, FINISHED, Kind, Relation, State
from gemba.work.items import alone
from gemba.work.readiness import Turned, of_new, read_above, settle
from gemba.work.relations import Ends
from gemba.work.store import new_row, stored
from gemba.work.tables import changes, items, relations

_MOST_TOLD = 200


class Given(NamedTuple):
    """An item from elsewhere: its id, its cleaned values, and what it says of itself beside them (created_at, …)."""

    id: str
    values: dict[str, Any]
    own: dict[str, Any]


def insert_many(tx: Transaction, given: Sequence[Given], edges: Sequence[Ends] = ()) -> Turned:
    """Insert new items and new relations; a parent stands in the item's values and gets its relation here."""
    alone(tx)
    edges = list(dict.fromkeys(edges))
    standing = _standing(tx, given, edges)
    new = [
        {"id": one.id, **new_row(tx, one.values, held, blockers), **stored(one.own), "changes": 1}
        for one, (blockers, held) in zip(given, standing.values(), strict=True)
    ]
    if new:
        tx.insert_many(items, new)
        entry = history.entry(tx, "", 1, history.CREATED, {}, {})
        tx.insert_many(changes, [{**entry, "item_id": one.id} for one in given])
        milestones.move_past(tx, (one.values["title"] for one in given if one.values["kind"] == Kind.MILESTONE))
    children = [(one.values["parent"], Relation.PARENT_CHILD, one.id) for one in given if one.values["parent"]]
    _insert_relations(tx, [*children, *edges])
    ids = [one.id for one in given]
    turned = settle(tx, [target for _, kind, target in edges if kind is Relation.BLOCKS and target not in standing])
    told = {"created": ids[:_MOST_TOLD], "items": len(ids), "relations": len(edges), "by": tx.actor}
    tx.emit(Draft("item.imported", {**told, "cause": history.cause_of(tx)}))
    return turned


def _standing(tx: Transaction, given: Sequence[Given], edges: Iterable[Ends]) -> dict[str, tuple[int, int]]:
    """Of the new items, in their order; what is there already and turns by them is settled afterwards."""
    parents = {one.id: one.values["parent"] for one in given}
    finished = {one.id: State(one.values["state"]) in FINISHED for one in given}
    blocks = [(source, target) for source, kind, target in edges if kind is Relation.BLOCKS]
    around = {source for source, _ in blocks} | {parent for parent in parents.values() if parent}
    return of_new(parents, finished, blocks, read_above(tx.connection, around - parents.keys()))


def _insert_relations(tx: Transaction, edges: Iterable[Ends]) -> None:
    made = {"created_at": tx.now, "created_by": tx.actor}
    rows = [{"source": source, "kind": kind, "target": target, **made} for source, kind, target in dict.fromkeys(edges)]
    tx.insert_many(relations, rows)


def circles(edges: Sequence[Ends]) -> list[Ends]:
    """Those of the edges that bind and, taken in their order, would close a circle with the ones before.

    Linear where there is none: only what lies on a circle is looked at one by one.
    """
    binding = [edge for edge in edges if edge[1] in BINDING]
    suspects = _on_circles(binding)
    waits: dict[str, set[str]] = defaultdict(set)
    closing: list[Ends] = []
    for edge in binding:
        source, _, target = edge
        if source == target or (source in suspects and target in suspects and _reaches(waits, source, target)):
            closing.append(edge)
        else:
            waits[target].add(source)
    return closing


def _on_circles(edges: Sequence[Ends]) -> set[str]:
    """What is left when all that waits for nothing, and all that nothing waits for, is taken away again and again."""
    left = {end for source, _, target in edges for end in (source, target)}
    for here, there in ((0, 2), (2, 0)):
        onward: dict[str, list[str]] = defaultdict(list)
        waiting: dict[str, int] = defaultdict(int)
        for edge in edges:
            first, second = str(edge[here]), str(edge[there])
            if first in left and second in left:
                onward[first].append(second)
                waiting[second] += 1
        free = [id for id in left if not waiting[id]]
        while free:
            id = free.pop()
            left.discard(id)
            for following in onward[id]:
                waiting[following] -= 1
                if not waiting[following]:
                    free.append(following)
    return left


def _reaches(waits: dict[str, set[str]], start: str, end: str) -> bool:
    seen, stack = {start}, [start]
    while stack:
        for following in waits.get(stack.pop(), ()):
            if following == end:
                return True
            if following not in seen:
                seen.add(following)
                stack.append(following)
    return False
