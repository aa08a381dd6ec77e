"""The flows that should run, as rows beside the state they belong to: the source of truth, of which the engine's own
tables are only the record of how far each got.

A flow is wanted in the transaction of the change that makes it necessary, so it starts if and only if that commits;
its row goes when it is over. A row without a run, after a crash between the two or because the engine's tables were
lost, is simply started again: an id runs once, and every step of a flow is safe to repeat.

One that may soon be needless rests before it begins: if it is not wanted any more by then, it never costs a run.

A flow that needs what only one home has, as the files of its machine, is wanted for that origin: no other one starts
it, and one that takes it over from the dead gives it back, to be run when a process of its origin lives again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Index,
    Integer,
    Row,
    Table,
    Text,
    bindparam,
    delete,
    func,
    or_,
    select,
    update,
)

from gemba import clock
from gemba.store.database import Transaction
from gemba.store.schema import metadata

flows = Table(
    "flows",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("args", Text, nullable=False),
    Column("at", BigInteger, nullable=False),  # from when on it is to run
    Column("run", Integer, nullable=False),  # which try this is; it grows when one ended in an error
    Column("started", Boolean, nullable=False),
    Column("trouble", Text),  # why the last run ended before its end
    Column("origin", Text),  # the home that alone can run it; none: every one can
    Index("flows_to_start", "started", "at", "id"),
)

LONGEST_REST = 60 * clock.SECOND

PAGE = 500


class Wanted(msgspec.Struct, frozen=True):
    """One flow: which one it is, what it is about, and the id that its run has in the engine."""

    id: str
    name: str
    args: dict[str, Any]
    run: int
    origin: str | None = None  # that alone can run it
    at: int = 0  # from when on

    @property
    def run_id(self) -> str:
        return f"{self.id}/{self.run}"


class Call(NamedTuple):
    """A flow's own id, which says what it is for, and its arguments."""

    id: str
    args: dict[str, Any]


def want(tx: Transaction, name: str, calls: Sequence[Call], *, origin: str | None = None, rest: int = 0) -> None:
    """Have a flow run, once for each call, after a rest. Wanting an id that is wanted already changes nothing."""
    rows = [
        {
            "id": call.id,
            "name": name,
            "args": msgspec.json.encode(call.args).decode(),
            "at": tx.now + rest,
            "run": 1,
            "started": False,
            "origin": origin,
        }
        for call in calls
    ]
    tx.insert_new(flows, rows, "id")


def unwant(tx: Transaction, id: str) -> None:
    """It is needless, unless it was begun: then it comes to its own end."""
    tx.connection.execute(_unwant, {"its_id": id})


# Made once: to make one of these takes several times as long as to run it.
_unwant = delete(flows).where(flows.c.id == bindparam("its_id"), ~flows.c.started)
_resting = select(flows.c.id).where(
    flows.c.id == bindparam("id"), ~flows.c.started, flows.c.at > bindparam("now", type_=BigInteger)
)


def is_resting(connection: Connection, id: str) -> bool:
    """Whether it is wanted and nobody starts it yet."""
    return connection.execute(_resting, {"id": id, "now": clock.now()}).first() is not None


def to_start(connection: Connection, origin: str) -> tuple[list[Wanted], int | None]:
    """The first of those that nobody has started, that this origin can run and that do not rest; and how long the first
    of the others rests from now. There may be hundreds of those, which nobody need read.

    Both by one look at the clock: between two, one that becomes due would be in neither, and one that is set would make
    the rest endless. One that would rest for longer than any does was wanted before somebody set the clock back.
    """
    now = clock.now()
    present = {"origin": origin, "now": now, "longest": now + LONGEST_REST}
    due = [_wanted(row) for row in connection.execute(_to_start, present)]
    at: int | None = connection.execute(_next_to_start, present).scalar()
    return due, None if at is None else at - now


def unfinished(connection: Connection, origin: str) -> list[Wanted]:
    """All that are not over and that this origin can run."""
    query = select(flows).where(_can_run(origin)).order_by(flows.c.at, flows.c.id)
    return [_wanted(row) for row in connection.execute(query)]


def mark_started(tx: Transaction, ids: Sequence[str]) -> set[str]:
    """Which of them are the caller's to start: not those that somebody else starts or ends at this moment, since who
    changes several waits for none of them."""
    free = select(flows.c.id).where(flows.c.id.in_(ids), ~flows.c.started).with_for_update(skip_locked=True)
    mine = set(tx.connection.execute(free).scalars())
    if mine:
        tx.connection.execute(update(flows).where(flows.c.id.in_(sorted(mine))).values(started=True))
    return mine


def finish(tx: Transaction, id: str) -> None:
    tx.connection.execute(delete(flows).where(flows.c.id == id))


def find_run(connection: Connection, id: str, run: int) -> Wanted | None:
    """The flow, if this is still its run. None: it is over, or a later one took its place."""
    row = connection.execute(select(flows).where(flows.c.id == id, flows.c.run == run)).first()
    return None if row is None else _wanted(row)


def give_back(tx: Transaction, id: str, run: int) -> None:
    """Leave a run that another origin alone can carry on to that one, which begins it anew."""
    this = update(flows).where(flows.c.id == id, flows.c.run == run)
    tx.connection.execute(this.values(run=run + 1, started=False))


def run_again(tx: Transaction, id: str, run: int, trouble: str) -> Wanted | None:
    """Its run ended in an error: the flow as it begins anew, or None when it is over.

    One that has been told of this before, and did not hear that it was committed, gets the same answer.
    """
    failed = update(flows).where(flows.c.id == id, flows.c.run == run)
    tx.connection.execute(failed.values(run=run + 1, started=True, trouble=trouble))
    row = tx.connection.execute(select(flows).where(flows.c.id == id)).first()
    return None if row is None else _wanted(row)


def troubled(connection: Connection) -> list[tuple[str, str]]:
    """Flows whose last run failed, and how."""
    query = select(flows.c.id, flows.c.trouble).where(flows.c.trouble.is_not(None)).limit(PAGE)
    return [(row.id, row.trouble) for row in connection.execute(query)]


def counts(connection: Connection) -> dict[str, int]:
    many, troubled = connection.execute(select(func.count(), func.count(flows.c.trouble)).select_from(flows)).one()
    return {"flows_wanted": many, "flows_troubled": troubled}


def _can_run(origin: str) -> ColumnElement[bool]:
    return or_(flows.c.origin.is_(None), flows.c.origin == origin)


_now, _longest = (bindparam(name, type_=BigInteger) for name in ("now", "longest"))
_mine = (~flows.c.started, or_(flows.c.origin.is_(None), flows.c.origin == bindparam("origin", type_=Text)))
_to_start = (
    select(flows)
    .where(*_mine, or_(flows.c.at <= _now, flows.c.at > _longest))
    .order_by(flows.c.at, flows.c.id)
    .limit(PAGE)
)
_next_to_start = select(func.min(flows.c.at)).where(*_mine, flows.c.at > _now, flows.c.at <= _longest)


def _wanted(row: Row[Any]) -> Wanted:
    return Wanted(row.id, row.name, msgspec.json.decode(row.args), row.run, row.origin, row.at)
