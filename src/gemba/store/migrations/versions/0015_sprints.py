"""Sprints, their items and history; what turns took, and the sums of it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.create_table(
        "sprints",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("goal", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("slot", sa.Text),
        sa.Column("token_budget", sa.BigInteger, nullable=False),
        sa.Column("inform", sa.Float, nullable=False),
        sa.Column("warn", sa.Float, nullable=False),
        sa.Column("stop", sa.Float, nullable=False),
        sa.Column("tokens_used", sa.BigInteger, nullable=False),
        sa.Column("level", sa.Text, nullable=False),
        sa.Column("passes", sa.Integer, nullable=False),
        sa.Column("warn_card", sa.Text),
        sa.Column("stop_card", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("created_by", sa.Text, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("updated_by", sa.Text, nullable=False),
        sa.Column("started_at", sa.BigInteger),
        sa.Column("ends_at", sa.BigInteger),
        sa.Column("closed_at", sa.BigInteger),
        sa.Column("closed_by", sa.Text),
        sa.Column("close_reason", sa.Text),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("changes", sa.Integer, nullable=False),
    )
    op.create_index("sprints_one_runs", "sprints", ["slot"], unique=True)
    op.create_index("sprints_by_age", "sprints", ["created_at", "id"])
    op.create_table(
        "sprint_items",
        sa.Column("sprint_id", sa.Text, primary_key=True),
        sa.Column("item_id", sa.Text, primary_key=True),
        sa.Column("added_at", sa.BigInteger, nullable=False),
        sa.Column("added_by", sa.Text, nullable=False),
    )
    op.create_index("sprint_items_by_item", "sprint_items", ["item_id", "sprint_id"])
    op.create_table(
        "sprint_changes",
        sa.Column("sprint_id", sa.Text, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("cause", sa.Text, nullable=False),
        sa.Column("cause_id", sa.Text, nullable=False),
        sa.Column("before", sa.Text, nullable=False),
        sa.Column("after", sa.Text, nullable=False),
    )
    op.create_table(
        "usage_turns",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("task", sa.Text),
        sa.Column("epic", sa.Text),
        sa.Column("sprint_id", sa.Text),
        sa.Column("persona_id", sa.Text),
        sa.Column("day", sa.BigInteger, nullable=False),
        sa.Column("tokens_in", sa.BigInteger, nullable=False),
        sa.Column("tokens_out", sa.BigInteger, nullable=False),
        sa.Column("cost_usd_micros", sa.BigInteger),
    )
    op.create_index("usage_turns_by_age", "usage_turns", ["at"])
    op.create_table(
        "usage_sums",
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("turns", sa.BigInteger, nullable=False),
        sa.Column("unpriced", sa.BigInteger, nullable=False),
        sa.Column("tokens", sa.BigInteger, nullable=False),
        sa.Column("tokens_in", sa.BigInteger, nullable=False),
        sa.Column("tokens_out", sa.BigInteger, nullable=False),
        sa.Column("cost_usd_micros", sa.BigInteger, nullable=False),
    )
    op.create_index("usage_sums_by_size", "usage_sums", ["kind", "tokens", "key"])
    op.create_table(
        "sprint_days",
        sa.Column("sprint_id", sa.Text, primary_key=True),
        sa.Column("day", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("turns", sa.BigInteger, nullable=False),
        sa.Column("tokens", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "usage_progress",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("tokens", sa.BigInteger, nullable=False),
        sa.Column("since", sa.BigInteger, nullable=False),
        sa.Column("card", sa.Text),
    )
