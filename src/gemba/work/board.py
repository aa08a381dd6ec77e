"""Reads the board that planning looks at: what is unfinished, what blocks what, which epics were finished lately.

Seven reads whatever there is, linear in what is unfinished. What other parts know, the caller gives: how many tokens
items took, and which escalations about them are open.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Column, Connection, Row, func, select

from gemba import typed
from gemba.store.lists import among
from gemba.work.item import FINISHED, Kind, Relation, State
from gemba.work.items import encoded
from gemba.work.signals import Board, Fact, Finished
from gemba.work.tables import changes, items, relations

MOST_FINISHED = 20  # epics
MOST_SUMMARY = 600  # characters of what an epic says of itself

_UNFINISHED = sorted(str(state) for state in State if state not in FINISHED)
_words = typed.decoder(tuple[str, ...])
_FACTS: list[Column[Any]] = [
    *(items.c.id, items.c.title, items.c.kind, items.c.state, items.c.parent, items.c.created_at, items.c.user_order),
    *(items.c.estimated_tokens, items.c.targets, items.c.labels, items.c.standing),
]

TokensOf = Callable[[Connection, Sequence[str]], Mapping[str, int]]


def read_board(connection: Connection, tokens_of: TokensOf, waiting: Iterable[str]) -> Board:
    """`waiting` names an item for each open escalation about it."""
    known = {row.id: _fact(row) for row in connection.execute(select(*_FACTS).where(items.c.state.in_(_UNFINISHED)))}
    epics = [one.id for one in known.values() if one.kind is Kind.EPIC]
    parts = select(*_FACTS).where(among(connection, items.c.parent, epics), items.c.finished)
    known |= {row.id: _fact(row) for row in connection.execute(parts)}
    done = _finished(connection, tokens_of)
    return Board(known, _blocks(connection), done, {}, Counter(waiting), _summaries(connection, epics))


def _summaries(connection: Connection, epics: Sequence[str]) -> dict[str, str]:
    """How the description of each begins, of those that have one."""
    beginning = func.substr(items.c.description, 1, MOST_SUMMARY)
    query = select(items.c.id, beginning).where(among(connection, items.c.id, epics), items.c.description != "")
    return dict(connection.execute(query).all())


def _blocks(connection: Connection) -> list[tuple[str, str]]:
    """Between items of which neither is finished."""
    first, second = items.alias(), items.alias()
    query = (
        select(relations.c.source, relations.c.target)
        .join(first, first.c.id == relations.c.source)
        .join(second, second.c.id == relations.c.target)
        .where(relations.c.kind == Relation.BLOCKS, ~first.c.finished, ~second.c.finished)
    )
    return [(source, target) for source, target in connection.execute(query)]


def _finished(connection: Connection, tokens_of: TokensOf) -> list[Finished]:
    """The epics that were done last, each with when the first of it was begun and what all of it took."""
    done = items.c.kind == Kind.EPIC, items.c.state == State.DONE, items.c.closed_at.is_not(None)
    query = select(items.c.id, items.c.title, items.c.closed_at).where(*done)
    epics = connection.execute(query.order_by(items.c.closed_at.desc(), items.c.id).limit(MOST_FINISHED)).all()
    members: dict[str, list[str]] = defaultdict(list, {row.id: [row.id] for row in epics})
    below = select(items.c.id, items.c.parent).where(among(connection, items.c.parent, [row.id for row in epics]))
    for id, parent in connection.execute(below):
        members[parent].append(id)
    everyone = [id for each in members.values() for id in each]
    began, used = begun(connection, everyone), tokens_of(connection, everyone)
    return [
        Finished(
            row.id,
            row.title,
            row.closed_at,
            min((began[id] for id in members[row.id] if id in began), default=None),
            sum(used.get(id, 0) for id in members[row.id]) or None,
        )
        for row in epics
    ]


def begun(connection: Connection, ids: Sequence[str]) -> dict[str, int]:
    """When each was first put in progress."""
    said = encoded({"state": State.IN_PROGRESS})[1:-1]
    query = select(changes.c.item_id, func.min(changes.c.at)).where(
        among(connection, changes.c.item_id, ids), changes.c.after.contains(said, autoescape=True)
    )
    return dict(connection.execute(query.group_by(changes.c.item_id)).all())


def _fact(row: Row[Any]) -> Fact:
    return Fact(
        id=row.id,
        title=row.title,
        kind=Kind(row.kind),
        state=State(row.state),
        parent=row.parent,
        created_at=row.created_at,
        user_order=row.user_order,
        tokens=row.estimated_tokens,
        targets=_words.decode(row.targets),
        labels=_words.decode(row.labels),
        is_ready=row.standing,
    )
