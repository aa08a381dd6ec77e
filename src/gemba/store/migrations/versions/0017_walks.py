"""Walks, their agenda and transcript; in which walk an answer was given."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.create_table(
        "walks",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("persona_id", sa.Text, nullable=False),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("workspace", sa.Text, nullable=False),
        sa.Column("started_by", sa.Text, nullable=False),
        sa.Column("slot", sa.Text),
        sa.Column("started_at", sa.BigInteger, nullable=False),
        sa.Column("changed_at", sa.BigInteger, nullable=False),
        sa.Column("ended_at", sa.BigInteger),
        sa.Column("walked", sa.BigInteger, nullable=False),
        sa.Column("walking_since", sa.BigInteger),
        sa.Column("said", sa.Integer, nullable=False),
        sa.Column("synopsis", sa.Text),
        sa.Column("summary", sa.Text),
        sa.Column("unrecorded", sa.Boolean, nullable=False),
    )
    op.create_index("walks_by_age", "walks", ["started_at", "id"])
    op.create_index("walks_one_open", "walks", ["slot"], unique=True)
    op.create_index("walks_unrecorded", "walks", ["unrecorded", "origin", "id"])
    op.create_table(
        "walk_items",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("walk_id", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("ref", sa.Text, nullable=False),
        sa.Column("worker", sa.Text),
        sa.Column("topic", sa.Text, nullable=False),
        sa.Column("priority", sa.Integer, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("since", sa.BigInteger, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("framing", sa.Text),
        sa.Column("decision", sa.Text),
    )
    op.create_index("walk_items_once", "walk_items", ["walk_id", "kind", "ref"], unique=True)
    op.create_index("walk_items_in_order", "walk_items", ["walk_id", "place"])
    op.create_table(
        "walk_transcript",
        sa.Column("walk_id", sa.Text, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("speaker", sa.Text, nullable=False),
        sa.Column("who", sa.Text, nullable=False),
        sa.Column("item_id", sa.Text),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("consult_id", sa.Text),
    )
    op.add_column("escalations", sa.Column("walk_id", sa.Text))
    op.create_index("consults_by_walk", "consults", ["walk_id", "started_at", "id"])
    op.create_index("work_items_by_end", "work_items", ["closed_at", "id"])
