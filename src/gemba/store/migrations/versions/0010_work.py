"""Work items, their relations and their history."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table(
        "work_items",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("acceptance", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("priority", sa.Integer, nullable=False),
        sa.Column("parent", sa.Text),
        sa.Column("labels", sa.Text, nullable=False),
        sa.Column("targets", sa.Text, nullable=False),
        sa.Column("concepts", sa.Text, nullable=False),
        sa.Column("estimated_tokens", sa.BigInteger),
        sa.Column("assignee", sa.Text),
        sa.Column("user_order", sa.BigInteger),
        sa.Column("repository", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("created_by", sa.Text, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("updated_by", sa.Text, nullable=False),
        sa.Column("closed_at", sa.BigInteger),
        sa.Column("closed_by", sa.Text),
        sa.Column("close_reason", sa.Text),
        sa.Column("ratified_at", sa.BigInteger),
        sa.Column("ratified_by", sa.Text),
        sa.Column("retro", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("extras", sa.Text, nullable=False),
        sa.Column("claimed_by", sa.Text),
        sa.Column("claimed_at", sa.BigInteger),
        sa.Column("claimed_until", sa.BigInteger),
        sa.Column("changes", sa.Integer, nullable=False),
        sa.Column("place", sa.BigInteger, nullable=False),
        sa.Column("finished", sa.Boolean, nullable=False),
        sa.Column("blockers", sa.Integer, nullable=False),
        sa.Column("held", sa.Integer, nullable=False),
        sa.Column("standing", sa.Boolean, nullable=False),
    )
    op.create_index("work_items_by_age", "work_items", ["created_at", "id"])
    op.create_index("work_items_by_state", "work_items", ["state", "created_at", "id"])
    op.create_index("work_items_by_kind", "work_items", ["kind", "created_at", "id"])
    op.create_index("work_items_by_assignee", "work_items", ["assignee", "created_at", "id"])
    op.create_index("work_items_by_parent", "work_items", ["parent", "finished", "created_at", "id"])
    op.create_index("work_items_standing", "work_items", ["standing", "place", "priority", "created_at", "id"])
    op.create_index("work_items_claimed", "work_items", ["claimed_until"])
    op.create_table(
        "work_relations",
        sa.Column("source", sa.Text, primary_key=True),
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("target", sa.Text, primary_key=True),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("created_by", sa.Text, nullable=False),
    )
    op.create_index("work_relations_by_target", "work_relations", ["target", "kind", "source"])
    op.create_table(
        "work_changes",
        sa.Column("item_id", sa.Text, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("cause", sa.Text, nullable=False),
        sa.Column("cause_id", sa.Text, nullable=False),
        sa.Column("before", sa.Text, nullable=False),
        sa.Column("after", sa.Text, nullable=False),
        sa.Column("of_item", sa.Text),
        sa.Column("of_number", sa.Integer),
        sa.Column("undone", sa.Boolean, nullable=False),
    )
