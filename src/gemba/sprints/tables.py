"""The tables of sprints and of what turns took.

A turn is a row under the id of the frame that told of it, so that it counts once however often it is told. What it
adds to is kept beside it, a row for each session, task, epic, sprint, persona and day: nothing is summed up when
somebody looks. `slot` is the same for every sprint that runs and empty for the others, so that there is one at most.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, Index, Integer, Table, Text

from gemba.store.schema import metadata

sprints = Table(
    "sprints",
    metadata,
    Column("id", Text, primary_key=True),
    Column("title", Text, nullable=False),
    Column("goal", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("slot", Text),
    Column("token_budget", BigInteger, nullable=False),
    Column("inform", Float, nullable=False),
    Column("warn", Float, nullable=False),
    Column("stop", Float, nullable=False),
    Column("tokens_used", BigInteger, nullable=False),
    Column("level", Text, nullable=False),
    Column("passes", Integer, nullable=False),  # how often a threshold was passed, which names the next card
    Column("warn_card", Text),
    Column("stop_card", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("updated_by", Text, nullable=False),
    Column("started_at", BigInteger),
    Column("ends_at", BigInteger),
    Column("closed_at", BigInteger),
    Column("closed_by", Text),
    Column("close_reason", Text),
    Column("version", Integer, nullable=False),
    Column("changes", Integer, nullable=False),  # how many there are in its history
    Index("sprints_one_runs", "slot", unique=True),
    Index("sprints_by_age", "created_at", "id"),
)

sprint_items = Table(
    "sprint_items",
    metadata,
    Column("sprint_id", Text, primary_key=True),
    Column("item_id", Text, primary_key=True),
    Column("added_at", BigInteger, nullable=False),
    Column("added_by", Text, nullable=False),
    Index("sprint_items_by_item", "item_id", "sprint_id"),
)

sprint_changes = Table(
    "sprint_changes",
    metadata,
    Column("sprint_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("at", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("cause", Text, nullable=False),
    Column("cause_id", Text, nullable=False),
    Column("before", Text, nullable=False),  # the fields that changed, as JSON; so is the next
    Column("after", Text, nullable=False),
)

turns = Table(
    "usage_turns",
    metadata,
    Column("id", Text, primary_key=True),  # of the frame that told of it
    Column("at", BigInteger, nullable=False),  # when it was taken in
    Column("session_id", Text, nullable=False),
    Column("task", Text),
    Column("epic", Text),
    Column("sprint_id", Text),
    Column("persona_id", Text),
    Column("day", BigInteger, nullable=False),
    Column("tokens_in", BigInteger, nullable=False),
    Column("tokens_out", BigInteger, nullable=False),
    Column("cost_usd_micros", BigInteger),  # none where its client told no cost
    Index("usage_turns_by_age", "at"),
)

# `kind` is what is summed by, `key` which of them. `tokens` is both ways together, so that the largest are found first.
sums = Table(
    "usage_sums",
    metadata,
    Column("kind", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("turns", BigInteger, nullable=False),
    Column("unpriced", BigInteger, nullable=False),  # turns whose cost nobody told
    Column("tokens", BigInteger, nullable=False),
    Column("tokens_in", BigInteger, nullable=False),
    Column("tokens_out", BigInteger, nullable=False),
    Column("cost_usd_micros", BigInteger, nullable=False),
    Index("usage_sums_by_size", "kind", "tokens", "key"),
)

sprint_days = Table(
    "sprint_days",
    metadata,
    Column("sprint_id", Text, primary_key=True),
    Column("day", BigInteger, primary_key=True, autoincrement=False),
    Column("turns", BigInteger, nullable=False),
    Column("tokens", BigInteger, nullable=False),
)

# One row for the workspace: what was used since an item was last handed in or finished, and the card that asks.
progress = Table(
    "usage_progress",
    metadata,
    Column("id", Text, primary_key=True),
    Column("tokens", BigInteger, nullable=False),
    Column("since", BigInteger, nullable=False),
    Column("card", Text),
)
