"""The tables of auto-dispatch: the operator's switches, every start, and when the project manager was asked last."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, Table, Text

from gemba.store.schema import metadata

switches = Table(
    "auto_switches",
    metadata,
    Column("workspace", Text, primary_key=True),  # several may share a database
    Column("agent_type", Text, primary_key=True),  # empty: the workspace's own
    Column("on", Boolean, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("by", Text, nullable=False),
)

starts = Table(
    "auto_starts",
    metadata,
    Column("id", Text, primary_key=True),
    Column("state", Text, nullable=False),
    Column("workspace", Text, nullable=False),
    Column("origin", Text, nullable=False),  # the home that runs its session
    Column("item_id", Text, nullable=False),
    Column("item_state", Text, nullable=False),  # that it had, and gets again when this comes to nothing
    Column("item_version", Integer),  # as it was left by a start that failed
    Column("title", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("agent_type", Text, nullable=False),
    Column("living", Boolean, nullable=False),  # the session was there before
    Column("because", Text, nullable=False),
    Column("score", BigInteger, nullable=False),
    Column("reasons", Text, nullable=False),  # lines of the selection, as JSON
    Column("dispatch_id", Text),
    Column("trouble", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("started_at", BigInteger),
    Column("ended_at", BigInteger),
    Index("auto_starts_by_age", "workspace", "created_at", "id"),
    Index("auto_starts_by_state", "workspace", "state", "created_at", "id"),
    Index("auto_starts_by_type", "workspace", "agent_type", "ended_at"),
    Index("auto_starts_by_item", "item_id", "created_at"),
)

advice = Table(
    "auto_advice",
    metadata,
    Column("workspace", Text, primary_key=True),
    Column("board", Text, nullable=False),  # what the board was like, as short as can be
    Column("at", BigInteger, nullable=False),
    Column("consult_id", Text),
    Column("trouble", Text),  # why nobody was asked
)
