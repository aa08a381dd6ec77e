"""The tables that the store itself owns. Each slice adds its own to the same metadata, in its `store.py`."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, MetaData, Table, Text

metadata = MetaData()

# One row a named number. `events` is the last sequence given out: it is updated in the transaction that
# appends, so ids are gapless and become visible in order, on PostgreSQL too.
counters = Table(
    "counters",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", BigInteger, nullable=False),
)

events = Table(
    "events",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("at", BigInteger, nullable=False),
    Column("name", Text, nullable=False),
    Column("session_id", Text),
    Column("ref", Text),
    Column("payload", Text, nullable=False),
    Index("events_by_session", "session_id", "id"),
    Index("events_by_ref", "ref", "id"),
)

confirmations = Table(
    "confirmations",
    metadata,
    Column("id", Text, primary_key=True),
    Column("request", Text, nullable=False),
    Column("status", Integer, nullable=False),
    Column("answer", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Index("confirmations_by_age", "at"),
)
