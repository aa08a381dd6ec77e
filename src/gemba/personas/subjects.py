"""The work items that a consult's input names, as the persona is told of them: as they are when the consult begins.

An id says nothing to whoever has not seen the board, so what it stands for goes into the prompt beside the input, with
what is part of it where the question is what remains. Bounded: so many items, and so much of their texts. Called by
whoever begins a consult.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import Connection, Row, select

from gemba import clock, typed
from gemba.store.lists import among
from gemba.work.item import Relation
from gemba.work.tables import items, relations

MOST: Final = 200  # items
LONGEST: Final = 600  # characters of a text, of few items; of many less
_ROOM: Final = 40_000  # characters of all texts together
_PARTS_OF: Final = "epic_id"  # the field whose item is told with its parts

_words = typed.decoder(list[str])


def subjects(connection: Connection, given: Mapping[str, Any], now: int) -> list[dict[str, Any]]:
    """The items that an input names, in its order; an id that no item has is left out."""
    named = list(dict.fromkeys(_named(given)))[:MOST]
    found = {row.id: row for row in connection.execute(select(items).where(among(connection, items.c.id, named)))}
    rows = [found[id] for id in named if id in found]
    whole = given.get(_PARTS_OF)
    if isinstance(whole, str) and whole in found:
        parts = select(items).where(items.c.parent == whole).order_by(items.c.created_at, items.c.id)
        rows += connection.execute(parts.limit(MOST - len(rows))).all()
    blocked_by = _blockers(connection, [row.id for row in rows])
    longest = min(LONGEST, _ROOM // max(1, len(rows)))
    return [_told(row, blocked_by.get(row.id, []), longest, now) for row in rows]


def _named(given: Mapping[str, Any]) -> list[str]:
    one = [given.get(name) for name in ("item_id", "ref", _PARTS_OF)]
    many = [each for name in ("item_ids", "refs") for each in given.get(name) or ()]
    return [each for each in (*one, *many) if isinstance(each, str)]


def _blockers(connection: Connection, ids: list[str]) -> dict[str, list[str]]:
    """By item what blocks it and is not finished."""
    query = (
        select(relations.c.source, relations.c.target)
        .join(items, items.c.id == relations.c.source)
        .where(relations.c.kind == Relation.BLOCKS, ~items.c.finished, among(connection, relations.c.target, ids))
        .order_by(relations.c.source)
    )
    found: dict[str, list[str]] = {}
    for source, target in connection.execute(query):
        found.setdefault(target, []).append(source)
    return found


def _told(row: Row[Any], blocked_by: list[str], longest: int, now: int) -> dict[str, Any]:
    """What there is to know; what says nothing is left out."""
    known = {
        "id": row.id,
        "title": row.title,
        "kind": row.kind,
        "state": row.state,
        "priority": row.priority,
        "parent": row.parent,
        "labels": _words.decode(row.labels),
        "targets": _words.decode(row.targets),
        "estimated_tokens": row.estimated_tokens,
        "assignee": row.assignee,
        "user_order": row.user_order,
        "age_days": max(0, (now - row.created_at) // clock.DAY),
        "blocked_by": blocked_by,
        "description": _head(row.description, longest),
        "acceptance": _head(row.acceptance, longest),
    }
    return {name: value for name, value in known.items() if value not in (None, "", [])}


def _head(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
