"""The audit log as a table: entries appended in the transaction of what they tell of, and checked against anchors.

Entries are written when a transaction ends, under one lock, so that the chain has one order and nobody who holds it
waits for another row. After the commit the new head is remembered in a file outside of the workspace; a crash between
the two leaves an anchor that lies a little behind, and the next one makes up for it. Called by whatever decides.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import structlog
from sqlalchemy import BigInteger, Column, Connection, Row, Table, Text, func, insert, select, text

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
_MOST_DIGITS = 18

log = structlog.get_logger("gemba.audit")


# ---- appending ------------------------------------------------------------------------------------------------------


def record(tx: Transaction, kind: str, ref: str, body: dict[str, Any], actor: str | None = None) -> None:
    """Have an entry appended when the transaction ends, after those that it recorded before."""
    told = msgspec.json.encode(body, order="deterministic").decode()
    by = tx.actor if actor is None else actor
    tx.at_end.append(lambda: _append(tx, kind, ref, told, by))


def _append(tx: Transaction, kind: str, ref: str, body: str, actor: str) -> None:
    if tx.connection.dialect.name == "postgresql":
        tx.connection.execute(text("select pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    entry = entry_after(head(tx.connection), at=tx.now, kind=kind, actor=actor, ref=ref, body=body)
    tx.connection.execute(insert(audit), entry._asdict())
    anchors = tx.surroundings.get("anchors")
    if isinstance(anchors, Anchors):
        tx.committed.append(lambda: _keep(anchors, entry.anchor))


def _keep(anchors: Anchors, anchor: Anchor) -> None:
    """What was decided is committed, whatever becomes of its anchor: the next one covers it too."""
    try:
        anchors.keep(anchor)
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


def check(connection: Connection, known: Sequence[Anchor], *, tail: bool = False) -> Broken | None:
    """The first bad entry of the whole chain, or with `tail` of what came after the last anchor, that one included.

    The anchors are read before the transaction begins: what is anchored later may not be in it.
    """
    if not tail or not known:
        return verify(entries(connection), earlier=known)
    last = max(known)
    before = next(entries(connection, last.number - 2, 1), None) if last.number > 1 else None
    start = BEGINNING if before is None else before.anchor
    return verify(entries(connection, start.number), last, after=start)


def _entry(row: Row[Any]) -> Entry:
    return Entry(row.number, row.at, row.kind, row.actor, row.ref, row.body, row.previous, row.hash)


# ---- the anchors ----------------------------------------------------------------------------------------------------


class Anchors(NamedTuple):
    """A file with one line for each head there was: its number and hash. It is appended to and never rewritten."""

    file: Path

    def keep(self, anchor: Anchor) -> None:
        """On disk when this returns. Several processes may do so at once, in any order."""
        self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(self.file, flags, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            size = os.fstat(fd).st_size
            torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
            line = f"{anchor.number} {anchor.hash}\n"
            os.write(fd, (f"\n{line}" if torn else line).encode())
            os.fsync(fd)
        finally:
            os.close(fd)

    def read(self) -> list[Anchor]:
        """Every anchor that was kept; a line that a crash left torn is none."""
        try:
            lines = self.file.read_text("ascii", "replace").splitlines()
        except FileNotFoundError:
            return []
        found = (line.partition(" ") for line in lines)
        return [
            Anchor(int(number), kept)
            for number, _, kept in found
            if number.isdecimal() and len(number) <= _MOST_DIGITS and len(kept) == len(BEGINNING.hash)
        ]
