"""The tables of walks: each walk, its agenda, and what was said on it."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, Table, Text

from gemba.store.schema import metadata

walks = Table(
    "walks",
    metadata,
    Column("id", Text, primary_key=True),
    Column("status", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("persona_id", Text, nullable=False),
    Column("origin", Text, nullable=False),  # the home that has its summary
    Column("workspace", Text, nullable=False),
    Column("started_by", Text, nullable=False),
    Column("slot", Text),  # whose open walk it is, in which workspace: an operator has one at most
    Column("started_at", BigInteger, nullable=False),
    Column("changed_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger),
    Column("walked", BigInteger, nullable=False),  # microseconds, without its pauses, up to `walking_since`
    Column("walking_since", BigInteger),  # none while it is paused or over
    Column("said", Integer, nullable=False),  # lines of the transcript
    Column("synopsis", Text),  # what the operator's next message begins with
    Column("summary", Text),  # as Markdown, once it has ended
    Column("unrecorded", Boolean, nullable=False),  # its file is not there yet
    Index("walks_by_age", "started_at", "id"),
    Index("walks_one_open", "slot", unique=True),
    Index("walks_unrecorded", "unrecorded", "origin", "id"),
)

agenda = Table(
    "walk_items",
    metadata,
    Column("id", Text, primary_key=True),
    Column("walk_id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("ref", Text, nullable=False),
    Column("worker", Text),
    Column("topic", Text, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("place", Integer, nullable=False),
    Column("since", BigInteger, nullable=False),  # when its source began to wait
    Column("status", Text, nullable=False),
    Column("framing", Text),  # JSON, as it was said last
    Column("decision", Text),  # JSON
    Index("walk_items_once", "walk_id", "kind", "ref", unique=True),
    Index("walk_items_in_order", "walk_id", "place"),
)

transcript = Table(
    "walk_transcript",
    metadata,
    Column("walk_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("at", BigInteger, nullable=False),
    Column("speaker", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("item_id", Text),
    Column("text", Text, nullable=False),
    Column("consult_id", Text),
)
