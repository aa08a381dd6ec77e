"""Auto-dispatch: its switches, its starts, when the project manager was asked; authority that was taken back; what a
consult is about."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.create_table(
        "auto_switches",
        sa.Column("workspace", sa.Text, primary_key=True),
        sa.Column("agent_type", sa.Text, primary_key=True),
        sa.Column("on", sa.Boolean, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
    )
    op.create_table(
        "auto_starts",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("workspace", sa.Text, nullable=False),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("item_id", sa.Text, nullable=False),
        sa.Column("item_state", sa.Text, nullable=False),
        sa.Column("item_version", sa.Integer),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("agent_type", sa.Text, nullable=False),
        sa.Column("living", sa.Boolean, nullable=False),
        sa.Column("because", sa.Text, nullable=False),
        sa.Column("score", sa.BigInteger, nullable=False),
        sa.Column("reasons", sa.Text, nullable=False),
        sa.Column("dispatch_id", sa.Text),
        sa.Column("trouble", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("started_at", sa.BigInteger),
        sa.Column("ended_at", sa.BigInteger),
    )
    op.create_index("auto_starts_by_age", "auto_starts", ["workspace", "created_at", "id"])
    op.create_index("auto_starts_by_state", "auto_starts", ["workspace", "state", "created_at", "id"])
    op.create_index("auto_starts_by_type", "auto_starts", ["workspace", "agent_type", "ended_at"])
    op.create_index("auto_starts_by_item", "auto_starts", ["item_id", "created_at"])
    op.create_table(
        "auto_advice",
        sa.Column("workspace", sa.Text, primary_key=True),
        sa.Column("board", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("consult_id", sa.Text),
        sa.Column("trouble", sa.Text),
    )
    op.add_column("consults", sa.Column("about", sa.Text))
    op.create_index("consults_by_about", "consults", ["about", "started_at", "id"])
    op.create_table(
        "persona_authority",
        sa.Column("persona_id", sa.Text, primary_key=True),
        sa.Column("revoked_at", sa.BigInteger),
        sa.Column("revoked_by", sa.Text),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("changed_at", sa.BigInteger, nullable=False),
    )
