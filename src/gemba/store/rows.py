"""Rows by their id, and pages of them, newest first: what every table of things with an id has in common.

Called by the modules that own a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Column, ColumnElement, Connection, Row, Select, Table, bindparam, func, select, tuple_

from gemba.errors import NotFound
from gemba.store.database import Transaction

Place = tuple[int, str]  # of a row in a list: its time and its id


class Waiting(NamedTuple):
    """How many rows wait for something, and the one that has done so longest."""

    many: int
    at: int | None = None
    id: str | None = None


class Page(NamedTuple):
    rows: Sequence[Row[Any]]
    total: int  # of all pages
    next: Place | None  # before which the next page starts


# To make a statement takes longer than to run one as small as these.


@cache
def _by_id(table: Table) -> Select[Any]:
    return select(table).where(table.c.id == bindparam("id"))


@cache
def _by_id_locked(table: Table) -> Select[Any]:
    return _by_id(table).with_for_update()


def find(connection: Connection, table: Table, id: str) -> Row[Any] | None:
    return connection.execute(_by_id(table), {"id": id}).first()


def get(connection: Connection, table: Table, id: str, noun: str) -> Row[Any]:
    row = find(connection, table, id)
    if row is None:
        raise NotFound(f"no {noun} has the id {id}", code="not_found", found=id)
    return row


def find_locked(tx: Transaction, table: Table, id: str) -> Row[Any] | None:
    """Read for a move: on PostgreSQL what others do to it at this moment is done, or waits."""
    return tx.connection.execute(_by_id_locked(table), {"id": id}).first()


def get_locked(tx: Transaction, table: Table, id: str, noun: str) -> Row[Any]:
    """The same of one that has to be there."""
    row = find_locked(tx, table, id)
    return get(tx.connection, table, id, noun) if row is None else row


def newest(
    connection: Connection,
    at: Column[int],
    limit: int,
    before: Place | None,
    chosen: Sequence[ColumnElement[bool]] = (),
    columns: Sequence[Column[Any]] = (),
) -> Page:
    """A page of the table that has the column `at`, with these columns of it or all."""
    table = at.table
    total = connection.execute(select(func.count()).select_from(table).where(*chosen)).scalar_one()
    key = (at, table.c.id)
    query = select(*(columns or table.c)).where(*chosen).order_by(*(column.desc() for column in key))
    if before is not None:
        query = query.where(tuple_(*key) < before)
    rows = connection.execute(query.limit(limit + 1)).all()
    page = rows[:limit]
    return Page(page, total, (page[-1]._mapping[at], page[-1].id) if len(rows) > limit else None)


def waiting(connection: Connection, at: Column[int], *chosen: ColumnElement[bool]) -> Waiting:
    """Of the table that has the column `at`: how many of these there are, and the oldest of them."""
    id = at.table.c.id
    many = connection.execute(select(func.count()).select_from(at.table).where(*chosen)).scalar_one()
    first = connection.execute(select(at, id).where(*chosen).order_by(at, id).limit(1)).first() if many else None
    return Waiting(many) if first is None else Waiting(many, first[0], first[1])


def latest(
    connection: Connection, of: Column[Any], id: str, limit: int, before: int | None
) -> tuple[Sequence[Row[Any]], int, int | None]:
    """What is numbered within a thing, newest first: (a page, how many there are, before which number the next starts).

    `of` is the column that names the thing; the numbers stand in `number`, and only grow.
    """
    table, mine = of.table, of == id
    total: int = connection.execute(select(func.count()).select_from(table).where(mine)).scalar_one()
    query = select(table).where(mine).order_by(table.c.number.desc()).limit(limit + 1)
    if before is not None:
        query = query.where(table.c.number < before)
    rows = connection.execute(query).all()
    page = rows[:limit]
    return page, total, page[-1].number if len(rows) > limit else None
