"""Replies on their way to the agents: an outbox row beside the resolution, then one file a reply.

The row commits with the answer; the file is written afterwards, whole or not at all, and again after a crash.
Writing twice writes the same bytes. The asker that reads it acknowledges with a frame. A reply that nobody waits for
is also laid down as a turn: a second file, where its session finds it before it goes on.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec
from sqlalchemy import BigInteger, Boolean, Column, Index, Row, Table, Text, delete, false, select, tuple_, update

from gemba import clock, git, typed, wire
from gemba.sessions.store import sessions
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
    Column("due_at", BigInteger, nullable=False, server_default="0"),  # not written before
    Column("turn", Text),  # the session whose next turn it is
    Column("turn_wanted", Boolean, nullable=False, server_default=false()),  # until it is read
    Index("replies_to_write", "origin", "written", "at", "event_id"),
)

NOT_WRITTEN = "the reply could not be written"

_PAGE = 200
_LONGEST_QUESTION = 2_000


class Since(msgspec.Struct, frozen=True):
    """A worktree and the commit from which on its commits concern the reader."""

    cwd: str | None
    commit: str | None


class Body(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a reply file says; a turn says also what it answers."""

    event_id: str
    outcome: str
    text: str
    at: str
    option: int | None = None
    value: Any = msgspec.UNSET
    late: bool = False
    commits: list[str] = []
    since: Since | None = None
    question: str = ""
    # Of a turn: folders of two sessions may have the same name, and so may sessions of two workspaces. Readers look for
    # these two side by side.
    session_id: str = ""
    workspace: str = ""


class Words(Protocol):
    """What is said: a resolution, or that an assumption was overturned."""

    @property
    def outcome(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def option(self) -> int | None: ...
    @property
    def value(self) -> Any: ...


def post(
    tx: Transaction,
    ask: Row[Any],
    words: Words,
    *,
    due_at: int = 0,
    turn: str | None = None,
    late: bool = False,
    since: Since | None = None,
    given_at: int | None = None,
) -> None:
    """Put the reply to an escalation or assumption into the outbox, in the transaction of the decision it carries.

    `given_at`: when that was decided, where it was before now.
    """
    body = Body(
        event_id=ask.id,
        outcome=words.outcome,
        text=words.text,
        at=clock.rfc3339(given_at or tx.now),
        option=words.option,
        value=words.value,
        late=late,
        since=since,
        question=ask.text[:_LONGEST_QUESTION],
    )
    row = {
        "event_id": ask.id,
        "origin": ask.origin,
        "body": msgspec.json.encode(body).decode(),
        "written": False,
        "at": tx.now,
        "due_at": due_at,
        "turn": turn,
        "turn_wanted": turn is not None,
    }
    tx.put(replies, [row])


def lay_down(tx: Transaction, event_id: str, session_id: str | None = None, origin: str | None = None) -> None:
    """Write it again, and as the next turn of a session when one is named."""
    values: dict[str, Any] = {"written": False, "at": tx.now}
    if session_id is not None:
        values |= {"turn": session_id, "turn_wanted": True}
    if origin is not None:
        values["origin"] = origin
    tx.connection.execute(update(replies).where(replies.c.event_id == event_id).values(values))


def is_turn(tx: Transaction, event_id: str) -> bool:
    """Whether it is laid down as a session's next turn."""
    turn = select(replies.c.turn).where(replies.c.event_id == event_id)
    return tx.connection.execute(turn).scalar() is not None


def release(tx: Transaction, event_id: str) -> None:
    """It was held back for long enough, whatever the clock says now."""
    tx.connection.execute(update(replies).where(replies.c.event_id == event_id).values(due_at=0))


def turn_over(tx: Transaction, event_id: str) -> None:
    """It was read: it is nobody's next turn any more."""
    read = {"turn_wanted": False, "written": False, "at": tx.now}
    tx.connection.execute(update(replies).where(replies.c.event_id == event_id, replies.c.turn_wanted).values(read))


def retract(tx: Transaction, event_id: str) -> None:
    """Take a reply back that nobody should read any more."""
    gone = {"body": None, "written": False, "at": tx.now, "due_at": 0, "turn_wanted": False}
    tx.connection.execute(update(replies).where(replies.c.event_id == event_id).values(gone))


def write_out(
    database: Database, origin: str, home: Path, tell: Callable[[Transaction, str, str | None], None]
) -> str | None:
    """Write every reply that is due here; the reason when some could not be. `tell` hears what became of each."""
    trouble: str | None = None
    place = (0, "")
    while rows := _due(database, origin, place):
        reasons = [_bring_to_disk(home, row) for row in rows]
        with database.transaction() as tx:
            for row, reason in zip(rows, reasons, strict=True):
                tell(tx, row.event_id, reason)  # first: whoever changes both changes the ask before its reply
                if reason is None:
                    _mark_written(tx, row)
                trouble = trouble or reason
        place = (rows[-1].at, rows[-1].event_id)
    return trouble


def _due(database: Database, origin: str, after: tuple[int, str]) -> Sequence[Row[Any]]:
    """The next page of what is not on disk yet; one that cannot be written does not stand in the others' way."""
    key = (replies.c.at, replies.c.event_id)
    wanted = (replies.c.origin == origin, ~replies.c.written, replies.c.due_at <= clock.now(), tuple_(*key) > after)
    read_by = replies.outerjoin(sessions, sessions.c.id == replies.c.turn)
    due = select(replies, sessions.c.workspace).select_from(read_by).where(*wanted).order_by(*key).limit(_PAGE)
    with database.read() as connection:
        return connection.execute(due).all()


def _mark_written(tx: Transaction, row: Row[Any]) -> None:
    """Unless it was replaced while its file was written."""
    same = (replies.c.event_id == row.event_id, replies.c.at == row.at)
    if row.body is None:
        tx.connection.execute(delete(replies).where(*same))
    else:
        tx.connection.execute(update(replies).where(*same).values(written=True))


def _bring_to_disk(home: Path, row: Row[Any]) -> str | None:
    """The reason when it failed."""
    name = f"{row.event_id}.json"
    target = home / "replies" / name
    try:
        body = None if row.body is None else _with_commits(typed.decode(row.body, Body))
        if body is None:
            target.unlink(missing_ok=True)
        else:
            _write_whole(target, msgspec.structs.replace(body, question=""))
        if row.turn is not None:
            _bring_turn(home / "turns", Path(wire.safe_id(row.turn), name), _as_turn(row, body))
    except OSError as error:
        return f"{NOT_WRITTEN}: {error.strerror}"
    return None


def _as_turn(row: Row[Any], body: Body | None) -> Body | None:
    """What the session reads whose next turn it is; None when it is nobody's any more."""
    if body is None or not row.turn_wanted:
        return None
    return msgspec.structs.replace(body, session_id=row.turn, workspace=row.workspace or "")


def _bring_turn(turns: Path, place: Path, body: Body | None) -> None:
    """In its session's folder as long as it is wanted, and in no other one's."""
    for other in turns.glob(f"*/{place.name}"):
        if body is None or other != turns / place:
            other.unlink(missing_ok=True)
    if body is not None:
        _write_whole(turns / place, body)


def _with_commits(body: Body) -> Body:
    """Name the commits made since, for a reply that undoes a decision."""
    if body.since is None:
        return body
    commits = git.commits_since(body.since.cwd or "", body.since.commit or "")
    return msgspec.structs.replace(body, commits=commits, since=None)


def _write_whole(target: Path, body: Body) -> None:
    """In one step for its reader. Two that write the same reply, a server and a command, do so one after the other."""
    data = msgspec.json.encode(body)
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
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
