"""The audit log as a table: entries appended in the transaction of what they tell of, and checked against anchors.

Entries are written when a transaction ends, under one lock, so that the chain has one order and nobody who holds it
waits for another row. After the commit the new head is remembered in a file outside of the workspace; a crash between
the two leaves an anchor that lies a little behind, and the next one makes up for it. Called by whatever decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import structlog
from sqlalchemy import BigInteger, Column, Connection, Row, Table, Text, func, insert, select, text

from gemba.handoff.anchors import Anchors, Known
from gemba.handoff.chain import BEGINNING, Anchor, Broken, Entry, entry_after, verify
from gemba.store.database import Transaction
from gemba.store.schema import metadata

audit = Table(
    "audit",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("at", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("ref", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
)

_LOCK = 0x61756474  # "audt": one transaction at a time appends, on PostgreSQL; SQLite has one writer anyway
_PAGE = 1_000

log = structlog.get_logger("gemba.audit")


# ---- appending ------------------------------------------------------------------------------------------------------


def record(
    tx: Transaction, kind: str, ref: str, body: dict[str, Any], actor: str | None = None, *, begins: bool = False
) -> None:
    """Have an entry appended when the transaction ends, after those that it recorded before. One that `begins` is the
    first of a new log: what stands before it is kept, and no longer vouched for."""
    told = msgspec.json.encode(body, order="deterministic").decode()
    by = tx.actor if actor is None else actor
    tx.at_end.append(lambda: _append(tx, kind, ref, told, by, begins))


def lock(tx: Transaction) -> None:
    """Nobody else appends from here to the end of the transaction."""
    if tx.connection.dialect.name == "postgresql":
        tx.connection.execute(text("select pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})


def _append(tx: Transaction, kind: str, ref: str, body: str, actor: str, begins: bool) -> None:
    lock(tx)
    entry = entry_after(head(tx.connection), at=tx.now, kind=kind, actor=actor, ref=ref, body=body)
    tx.connection.execute(insert(audit), entry._asdict())
    anchors = tx.surroundings.get("anchors")
    if isinstance(anchors, Anchors):
        tx.committed.append(lambda: _keep(anchors, entry.anchor, begins))


def _keep(anchors: Anchors, anchor: Anchor, begins: bool) -> None:
    """What was decided is committed, whatever becomes of its anchor: the next one covers it too."""
    try:
        anchors.begin(anchor) if begins else anchors.keep(anchor)
    except OSError as error:
        log.error("the audit log's head could not be anchored", file=str(anchors.file), reason=str(error))


# ---- reading --------------------------------------------------------------------------------------------------------


def head(connection: Connection) -> Anchor:
    query = select(audit.c.number, audit.c.hash).order_by(audit.c.number.desc()).limit(1)
    row = connection.execute(query).first()
    return BEGINNING if row is None else Anchor(row.number, row.hash)


def entries(connection: Connection, after: int = 0, limit: int | None = None) -> Iterator[Entry]:
    """In the order of their numbers, page by page: as many as there are fit in memory."""
    left = limit
    while left is None or left > 0:
        page = select(audit).where(audit.c.number > after).order_by(audit.c.number)
        rows = connection.execute(page.limit(_PAGE if left is None else min(left, _PAGE))).all()
        yield from map(_entry, rows)
        if len(rows) < _PAGE:
            return
        after = rows[-1].number
        left = None if left is None else left - len(rows)


def count(connection: Connection) -> int:
    return connection.execute(select(func.count()).select_from(audit)).scalar_one()


def find(connection: Connection, number: int) -> Entry | None:
    row = connection.execute(select(audit).where(audit.c.number == number)).first()
    return None if row is None else _entry(row)


def check(connection: Connection, known: Known, *, tail: bool = False) -> Broken | None:
    """The first bad entry of the log, or with `tail` of what came after its last anchor, that one included.

    The anchors are read before the transaction begins: what is anchored later may not be in it.
    """
    if tail and known.anchors:
        start = _before(connection, known.last)
        return verify(entries(connection, start.number), known.last, after=start)
    start = BEGINNING if known.begun is None else _before(connection, known.begun)
    return verify(entries(connection, start.number), earlier=known.anchors, after=start)


def _before(connection: Connection, anchor: Anchor) -> Anchor:
    """Where an anchored entry follows on, as it says itself: its hash, which is anchored, covers that."""
    entry = find(connection, anchor.number)
    if entry is not None:
        return Anchor(anchor.number - 1, entry.previous)
    end = head(connection)
    return end if end.number < anchor.number else Anchor(anchor.number - 1, BEGINNING.hash)


def _entry(row: Row[Any]) -> Entry:
    return Entry(row.number, row.at, row.kind, row.actor, row.ref, row.body, row.previous, row.hash)
