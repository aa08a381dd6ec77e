"""Who runs flows: every process that does counts a number up, and one whose number stands still is dead.

Nobody compares clocks: a process notes by its own steady clock how long it has seen another's number unchanged. After
a lease without a beat its runs are taken over, and then its row goes. It counts only while it looks itself: after a
sleep of the machine, or of the database, everybody gets a lease anew. Two that find one dead at once do no harm: a run
has one owner at any time, whoever asked for it.
"""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import BigInteger, Column, Connection, Row, Table, Text, delete, select, update

from gemba import clock
from gemba.store.database import Transaction
from gemba.store.schema import metadata

executors = Table(
    "executors",
    metadata,
    Column("id", Text, primary_key=True),
    Column("beat", BigInteger, nullable=False),
    Column("where", Text, nullable=False),
    Column("started_at", BigInteger, nullable=False),
    Column("beat_at", BigInteger, nullable=False),
)


class Dead(msgspec.Struct, frozen=True):
    """An executor that was found dead, at the beat at which it stood still."""

    id: str
    beat: int


class Executors:
    """One process among the others, which it watches."""

    def __init__(self, me: str, lease: int) -> None:
        self.me = me
        self.lease = lease
        self._known: dict[str, tuple[int, int]] = {}
        self._beaten = 0

    def beat(self, tx: Transaction) -> list[Dead]:
        """Say that we live; returns those that have not said so for a lease."""
        alive = {"beat": executors.c.beat + 1, "beat_at": tx.now, "where": _where()}
        if not tx.connection.execute(update(executors).where(executors.c.id == self.me).values(alive)).rowcount:
            row = {"id": self.me, "beat": 1, "where": _where(), "started_at": tx.now, "beat_at": tx.now}
            tx.insert_new(executors, [row], "id")
        # Who has not looked for a lease, as it slept or the database was away, cannot know who stood still meanwhile.
        if clock.elapsed() - self._beaten >= self.lease:
            self._known.clear()
        self._beaten = clock.elapsed()
        rows = tx.connection.execute(select(executors).where(executors.c.id != self.me)).all()
        dead = [Dead(row.id, row.beat) for row in rows if self._stands_still(row)]
        self._known = {row.id: self._known[row.id] for row in rows}
        return dead

    def _stands_still(self, row: Row[Any]) -> bool:
        beat, since = self._known.get(row.id, (None, 0))
        if row.beat != beat:
            self._known[row.id] = (row.beat, clock.elapsed())
            return False
        return clock.elapsed() - since >= self.lease


def bury(tx: Transaction, dead: Dead) -> None:
    """Its runs have been taken over. One that beat meanwhile is left alone."""
    same = (executors.c.id == dead.id, executors.c.beat == dead.beat)
    tx.connection.execute(delete(executors).where(*same))


def living(connection: Connection) -> list[tuple[str, str, int]]:
    """(id, host and process, last beat) of every executor that nobody has found dead."""
    rows = connection.execute(select(executors).order_by(executors.c.id))
    return [(row.id, row.where, row.beat_at) for row in rows]


@contextmanager
def claimed_name(folder: Path, prefix: str) -> Iterator[str]:
    """A name that no other living process of this folder has, and that the next one gets when this one is gone.

    Who comes back under the name it had carries its own runs on at once, without waiting for a lease.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    for number in range(1_000):
        file = os.open(folder / f"{number}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            if _is_free(file):
                yield f"{prefix}.{number}"
                return
        finally:
            os.close(file)
    raise RuntimeError("a thousand processes run flows here already")


def _is_free(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _where() -> str:
    return f"{socket.gethostname()} {os.getpid()}"
