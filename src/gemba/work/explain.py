"""Why an item is not ready: each reason as a sentence with the ids that it is about.

`reasons` is pure; `explain` and `explain_all` read the facts for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, Row, select

from gemba import clock
from gemba.store.lists import among
from gemba.work.item import FINISHED, STARTABLE, Relation, State
from gemba.work.items import get, is_claimed
from gemba.work.tables import items, relations

_MOST_NAMED = 20  # blockers, in one reason


class Reason(msgspec.Struct, frozen=True):
    """`state`, `claimed`, `blocked` or `held`: a sentence, and the items that it names."""

    kind: str
    text: str
    items: list[str]


class Explanation(msgspec.Struct, frozen=True):
    """Whether an item is ready, and if not, all that keeps it from being so."""

    id: str
    title: str
    state: State
    ready: bool
    reasons: list[Reason]


class Blocker(NamedTuple):
    id: str
    title: str
    state: str


class Facts(NamedTuple):
    """What is known of one item: its ancestors with what blocks each, the nearest first."""

    state: State
    claimed_by: str | None
    claimed_until: int | None
    blockers: Sequence[Blocker]
    above: Sequence[tuple[str, Sequence[Blocker]]]


def reasons(facts: Facts) -> list[Reason]:
    found: list[Reason] = []
    if facts.state not in STARTABLE:
        over = " and is over" if facts.state in FINISHED else ""
        text = f"it is {facts.state}{over}; ready is what is {' or '.join(sorted(STARTABLE, reverse=True))}"
        found.append(Reason("state", text, []))
    if facts.claimed_by is not None:
        until = clock.rfc3339(facts.claimed_until or 0)
        found.append(Reason("claimed", f"{facts.claimed_by} has claimed it until {until}", []))
    if facts.blockers:
        found.append(
            Reason("blocked", f"it is blocked by {_named(facts.blockers)}", [one.id for one in facts.blockers])
        )
    for ancestor, blockers in facts.above:
        if blockers:
            text = f"it is part of {ancestor}, which is blocked by {_named(blockers)}"
            found.append(Reason("held", text, [ancestor, *(one.id for one in blockers)]))
    return found


def _named(blockers: Sequence[Blocker]) -> str:
    names = [f"{one.id} ({one.state}: {one.title})" for one in blockers[:_MOST_NAMED]]
    rest = len(blockers) - len(names)
    return ", ".join(names) + (f" and {rest} more" if rest else "")


def explain(connection: Connection, id: str, now: int) -> Explanation:
    return explain_all(connection, [get(connection, id)], now)[0]


def explain_all(connection: Connection, rows: Sequence[Row[Any]], now: int) -> list[Explanation]:
    """One explanation a row, in their order."""
    parents = parents_above(connection, rows)
    lines = {row.id: line_above(parents, row.id) for row in rows}
    blockers = blockers_of(connection, {row.id for row in rows} | {id for line in lines.values() for id in line})
    return [_explained(row, lines[row.id], blockers, now) for row in rows]


def _explained(row: Row[Any], line: list[str], blockers: dict[str, list[Blocker]], now: int) -> Explanation:
    claimed = is_claimed(row, now)
    facts = Facts(
        State(row.state),
        row.claimed_by if claimed else None,
        row.claimed_until if claimed else None,
        blockers.get(row.id, []),
        [(id, blockers[id]) for id in line if id in blockers],
    )
    found = reasons(facts)
    return Explanation(row.id, row.title, State(row.state), not found, found)


def parents_above(connection: Connection, rows: Iterable[Row[Any]]) -> dict[str, str | None]:
    """The parent of each of these and of all above them, a read a level."""
    found: dict[str, str | None] = {row.id: row.parent for row in rows}
    wave = {parent for parent in found.values() if parent is not None} - found.keys()
    while wave:
        level = connection.execute(select(items.c.id, items.c.parent).where(among(connection, items.c.id, wave)))
        found |= dict(level.all())
        wave = {parent for parent in (found.get(id) for id in wave) if parent is not None} - found.keys()
    return found


def line_above(parents: dict[str, str | None], id: str) -> list[str]:
    line: list[str] = []
    parent = parents.get(id)
    while parent is not None:
        line.append(parent)
        parent = parents.get(parent)
    return line


def blockers_of(connection: Connection, ids: Iterable[str]) -> dict[str, list[Blocker]]:
    query = (
        select(relations.c.target, items.c.id, items.c.title, items.c.state)
        .join(items, items.c.id == relations.c.source)
        .where(relations.c.kind == Relation.BLOCKS, ~items.c.finished, among(connection, relations.c.target, ids))
        .order_by(relations.c.target, items.c.created_at, items.c.id)
    )
    found: dict[str, list[Blocker]] = defaultdict(list)
    for target, *blocker in connection.execute(query):
        found[target].append(Blocker(*blocker))
    return dict(found)
