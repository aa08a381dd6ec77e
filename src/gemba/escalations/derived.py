"""What is derived from the texts of escalations: their keys and bands, and the index that search uses.

A database whose derived data another version of the program made, or none, has them made anew when it is opened, once
and in one transaction. Called by `app.py`. Groups stay as they were: they are what an operator saw.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, func, insert, select, update

from gemba.escalations import search
from gemba.escalations.escalation import Channel
from gemba.escalations.precedents import form_of, likes
from gemba.escalations.rules import rules
from gemba.escalations.store import escalations
from gemba.store.database import Database, Transaction
from gemba.store.schema import counters

# One more whenever the normal form of `likeness.py` or the words of `search.py` change.
VERSION = 2

_NAME = "escalations.derived"
_LOCK = 0x64657269  # "deri"
_BATCH = 200


def refresh(database: Database) -> None:
    with database.read() as connection:
        if _made_by(connection) == VERSION:
            return
    with database.transaction() as tx:
        if not database.is_sqlite:
            tx.connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
        if _made_by(tx.connection) != VERSION:
            _make_keys(tx)
            _make_index(tx)
            tx.put(counters, [{"name": _NAME, "value": VERSION}])


def _made_by(connection: Connection) -> int | None:
    found: int | None = connection.execute(select(counters.c.value).where(counters.c.name == _NAME)).scalar()
    return found


def _make_keys(tx: Transaction) -> None:
    tx.connection.execute(delete(likes))
    known: set[str] = set()
    for rows in _batches(tx.connection, escalations.c.channel == Channel.TOOL_CALL):
        found: list[dict[str, Any]] = []
        for row in rows:
            form = form_of(row)
            key = form.key
            if key not in known:
                known.add(key)
                found += [{"band": band, "ref": row.id} for band in form.bands]
            tx.connection.execute(update(escalations).where(escalations.c.id == row.id).values(like_key=key))
            tx.connection.execute(update(rules).where(rules.c.source == row.id).values(like_key=key))
        if found:
            tx.connection.execute(insert(likes), found)


def _make_index(tx: Transaction) -> None:
    for rows in _batches(tx.connection, escalations.c.resolved):
        for row in rows:
            search.index(tx, row)


def _batches(connection: Connection, which: ColumnElement[bool]) -> Iterator[Sequence[Row[Any]]]:
    """All rows by their ids; never many at once, since each may be long."""
    query = select(escalations).where(which).order_by(escalations.c.id).limit(_BATCH)
    rows = connection.execute(query).all()
    while rows:
        yield rows
        rows = connection.execute(query.where(escalations.c.id > rows[-1].id)).all()
