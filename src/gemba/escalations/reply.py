"""Replies on their way to the agents: an outbox row beside the resolution, then one file a reply.

The row commits with the answer; the file is written afterwards, whole or not at all, and again after a crash.
Writing twice writes the same bytes. The asker that reads it acknowledges with a frame.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import BigInteger, Boolean, Column, Index, Row, Table, Text, delete, select, tuple_, update

from gemba import clock, git, wire
from gemba.store.database import Database, Transaction
from gemba.store.schema import metadata

replies = Table(
    "replies",
    metadata,
    Column("event_id", Text, primary_key=True),
    Column("origin", Text, nullable=False),  # the home that the ask came from: only its server can write there
    Column("body", Text),  # NULL: the file must go away again
    Column("written", Boolean, nullable=False),
    Column("at", BigInteger, nullable=False),
    Index("replies_to_write", "origin", "written", "at", "event_id"),
)

NOT_WRITTEN = "the reply could not be written"

_PAGE = 200


class Since(msgspec.Struct, frozen=True):
    """A worktree and the commit from which on its commits concern the reader."""

    cwd: str | None
    commit: str | None


class Body(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a reply file says."""

    event_id: str
    outcome: str
    text: str
    at: str
    option: int | None = None
    commits: list[str] = []
    since: Since | None = None


def post(
    tx: Transaction,
    ask: Row[Any],
    outcome: str,
    text: str,
    option: int | None = None,
    since: Since | None = None,
) -> None:
    """Put the reply to an escalation or assumption into the outbox, in the transaction of the decision it carries."""
    body = Body(ask.id, outcome, text, clock.rfc3339(tx.now), option=option, since=since)
    encoded = msgspec.json.encode(body).decode()
    row = {"event_id": ask.id, "origin": ask.origin, "body": encoded, "written": False, "at": tx.now}
    tx.put(replies, [row])


def retract(tx: Transaction, event_id: str) -> None:
    """Take a reply back that nobody should read any more."""
    gone = {"body": None, "written": False, "at": tx.now}
    tx.connection.execute(update(replies).where(replies.c.event_id == event_id).values(gone))


def write_out(
    database: Database, origin: str, folder: Path, tell: Callable[[Transaction, str, str | None], None]
) -> str | None:
    """Write every reply that is due here; the reason when some could not be. `tell` hears what became of each."""
    trouble: str | None = None
    place = (0, "")
    while rows := _due(database, origin, place):
        reasons = [_bring_to_disk(folder, row) for row in rows]
        with database.transaction() as tx:
            for row, reason in zip(rows, reasons, strict=True):
                if reason is None:
                    _mark_written(tx, row)
                tell(tx, row.event_id, reason)
                trouble = trouble or reason
        place = (rows[-1].at, rows[-1].event_id)
    return trouble


def _due(database: Database, origin: str, after: tuple[int, str]) -> Sequence[Row[Any]]:
    """The next page of what is not on disk yet; one that cannot be written does not stand in the others' way."""
    key = (replies.c.at, replies.c.event_id)
    wanted = (replies.c.origin == origin, ~replies.c.written, tuple_(*key) > after)
    due = select(replies).where(*wanted).order_by(*key).limit(_PAGE)
    with database.read() as connection:
        return connection.execute(due).all()


def _mark_written(tx: Transaction, row: Row[Any]) -> None:
    """Unless it was replaced while its file was written."""
    same = (replies.c.event_id == row.event_id, replies.c.at == row.at)
    if row.body is None:
        tx.connection.execute(delete(replies).where(*same))
    else:
        tx.connection.execute(update(replies).where(*same).values(written=True))


def _bring_to_disk(folder: Path, row: Row[Any]) -> str | None:
    """The reason when it failed."""
    target = folder / f"{row.event_id}.json"
    try:
        if row.body is None:
            target.unlink(missing_ok=True)
        else:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write_whole(target, _with_commits(row.body.encode()))
    except OSError as error:
        return f"{NOT_WRITTEN}: {error.strerror}"
    return None


def _with_commits(data: bytes) -> bytes:
    """Name the commits made since, for a reply that undoes a decision."""
    body = msgspec.json.decode(data, type=Body)
    if body.since is None:
        return data
    commits = git.commits_since(body.since.cwd or "", body.since.commit or "")
    return msgspec.json.encode(msgspec.structs.replace(body, commits=commits, since=None))


def _write_whole(target: Path, data: bytes) -> None:
    """In one step for its reader. Two that write the same reply, a server and a command, do so one after the other."""
    partial = target.with_name(f".{target.name}.partial")
    file = wire.open_locked(str(partial))
    try:
        os.ftruncate(file, 0)  # what a killed writer left
        written = os.write(file, data)
        if written != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(file)
        partial.replace(target)
    except OSError:
        partial.unlink(missing_ok=True)
        raise
    finally:
        os.close(file)
    wire.sync_folder(str(target.parent))
