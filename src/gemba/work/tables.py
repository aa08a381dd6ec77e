"""The tables of work: items, their relations, and every change that was made to them.

What decides readiness is stored with the item: `blockers` counts the unfinished items that block it, `held` the
ancestors that have blockers, and `standing` says that nothing but a claim keeps it from being ready. `readiness` alone
writes these three. `place` is `user_order`, with those that have none behind all others.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, Table, Text

from gemba.store.schema import metadata

LAST_PLACE = 2**62

items = Table(
    "work_items",
    metadata,
    Column("id", Text, primary_key=True),
    Column("title", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("acceptance", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("parent", Text),
    Column("labels", Text, nullable=False),  # words, as JSON; so are the next two
    Column("targets", Text, nullable=False),
    Column("concepts", Text, nullable=False),
    Column("estimated_tokens", BigInteger),
    Column("assignee", Text),
    Column("user_order", BigInteger),
    Column("repository", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("updated_by", Text, nullable=False),
    Column("closed_at", BigInteger),
    Column("closed_by", Text),
    Column("close_reason", Text),
    Column("ratified_at", BigInteger),
    Column("ratified_by", Text),
    Column("retro", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("extras", Text, nullable=False),  # an object, as JSON
    Column("claimed_by", Text),
    Column("claimed_at", BigInteger),
    Column("claimed_until", BigInteger),
    Column("changes", Integer, nullable=False),  # how many there are in its history
    Column("place", BigInteger, nullable=False),
    Column("finished", Boolean, nullable=False),
    Column("blockers", Integer, nullable=False),
    Column("held", Integer, nullable=False),
    Column("standing", Boolean, nullable=False),
    Index("work_items_by_age", "created_at", "id"),
    Index("work_items_by_state", "state", "created_at", "id"),
    Index("work_items_by_end", "closed_at", "id"),
    Index("work_items_by_kind", "kind", "created_at", "id"),
    Index("work_items_by_assignee", "assignee", "created_at", "id"),
    Index("work_items_by_parent", "parent", "finished", "created_at", "id"),
    Index("work_items_standing", "standing", "place", "priority", "created_at", "id"),
    Index("work_items_claimed", "claimed_until"),
)

# A parent-child row says the same as the child's `parent`: what binds is found in one index.
relations = Table(
    "work_relations",
    metadata,
    Column("source", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("target", Text, primary_key=True),
    Column("created_at", BigInteger, nullable=False),
    Column("created_by", Text, nullable=False),
    Index("work_relations_by_target", "target", "kind", "source"),
)

# `of_item` and `of_number` of a change that was made at another item, and concerns this one too.
changes = Table(
    "work_changes",
    metadata,
    Column("item_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("at", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("cause", Text, nullable=False),
    Column("cause_id", Text, nullable=False),
    Column("before", Text, nullable=False),  # the fields that changed, as JSON; so is the next
    Column("after", Text, nullable=False),
    Column("of_item", Text),
    Column("of_number", Integer),
    Column("undone", Boolean, nullable=False),
)
