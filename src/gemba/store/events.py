"""The event log: one global sequence, written in the transaction of the change it tells of.

A reader that knows the last id it saw reads what came after and misses nothing: ids are given out by updating one
row, whose lock is held until the commit, so no id becomes visible before a smaller one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from gemba import clock
from gemba.event import ALL, Draft, Event, Filter
from gemba.store.schema import counters, events

SEQUENCE = "events"
FLOOR = "events.floor"
CHANNEL = "gemba_events"  # of PostgreSQL's NOTIFY


_encode = msgspec.json.Encoder().encode
_insert = insert(events)
_take_ids = (
    update(counters)
    .where(counters.c.name == SEQUENCE)
    .values(value=counters.c.value + bindparam("many"))
    .returning(counters.c.value)
)
# On PostgreSQL who listens is told by the same statement, when and only when it commits.
_take_ids_and_notify = _take_ids.returning(func.pg_notify(CHANNEL, bindparam("by")))


def append(connection: Connection, at: int, drafts: Sequence[Draft], by: str = "") -> list[Event]:
    """Store the drafts in order; the events that they are then. `by` is told to those who listen for a commit."""
    if not drafts:
        return []
    if connection.dialect.name == "postgresql":
        last: int = connection.execute(_take_ids_and_notify, {"many": len(drafts), "by": by}).scalar_one()
    else:
        last = connection.execute(_take_ids, {"many": len(drafts)}).scalar_one()
    first = last - len(drafts) + 1
    rows = [
        {
            "id": number,
            "at": at,
            "name": draft.name,
            "session_id": draft.session_id,
            "ref": draft.ref,
            "payload": _encode(draft.payload).decode(),
        }
        for number, draft in enumerate(drafts, first)
    ]
    connection.execute(_insert, rows)
    return [_event(row) for row in rows]


def last_id(connection: Connection) -> int:
    return counter(connection, SEQUENCE)


def last_at(connection: Connection) -> int:
    """When the last event was stored; 0 when there is none."""
    newest = select(events.c.at).order_by(events.c.id.desc()).limit(1)
    return connection.execute(newest).scalar() or 0


def floor(connection: Connection) -> int:
    """The highest id that retention has removed."""
    return counter(connection, FLOOR)


def counter(connection: Connection, name: str) -> int:
    return connection.execute(select(counters.c.value).where(counters.c.name == name)).scalar() or 0


def read_after(connection: Connection, after: int, limit: int, wanted: Filter = ALL) -> list[Event]:
    query = select(events).where(events.c.id > after).order_by(events.c.id).limit(limit)
    if wanted.names:
        query = query.where(events.c.name.in_(sorted(wanted.names)))
    if wanted.session_id is not None:
        query = query.where(events.c.session_id == wanted.session_id)
    if wanted.ref is not None:
        query = query.where(events.c.ref == wanted.ref)
    return [_event(row) for row in connection.execute(query).mappings()]


def _event(row: Mapping[Any, Any]) -> Event:
    payload = msgspec.Raw(row["payload"].encode())
    return Event(row["id"], clock.rfc3339(row["at"]), row["name"], row["session_id"], row["ref"], payload)


def prune(connection: Connection, *, older_than: int, keep_at_most: int) -> int:
    """Forget the oldest events: those before a moment, and those beyond a number. Returns how many."""
    last = last_id(connection)
    kept_from = select(events.c.id).where(events.c.at >= older_than).order_by(events.c.id).limit(1)
    first_kept: int | None = connection.execute(kept_from).scalar()
    up_to = max(last if first_kept is None else first_kept - 1, last - keep_at_most)
    gone = connection.execute(delete(events).where(events.c.id <= up_to)).rowcount
    if gone:
        lifted = func.greatest if connection.dialect.name == "postgresql" else func.max
        connection.execute(
            update(counters).where(counters.c.name == FLOOR).values(value=lifted(counters.c.value, up_to))
        )
    return gone
