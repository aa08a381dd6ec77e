"""Memory."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "memories",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("slug", sa.Text, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("class", sa.Text, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("rationale", sa.Text, nullable=False),
        sa.Column("surfaces", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("decided_at", sa.BigInteger),
        sa.Column("decided_by", sa.Text),
        sa.Column("decision_reason", sa.Text),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("kept_slug", sa.Text),
    )
    op.create_index("memories_by_age", "memories", ["created_at", "id"])
    op.create_index("memories_by_state", "memories", ["state", "created_at", "id"])
    op.create_index("memories_by_class", "memories", ["class", "created_at", "id"])
    op.create_index("memories_by_key", "memories", ["key"], unique=True)
    op.create_index("memories_kept", "memories", ["kept_slug"], unique=True)
