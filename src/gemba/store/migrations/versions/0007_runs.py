"""Sessions that Gemba starts itself, and what is typed to them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("sessions", sa.Column("stopping", sa.Boolean, nullable=False, server_default=sa.false()))
    op.create_table(
        "runs",
        sa.Column("session_id", sa.Text, primary_key=True),
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("workspace", sa.Text, nullable=False),
        sa.Column("agent_type", sa.Text, nullable=False),
        sa.Column("agent", sa.Text, nullable=False),
        sa.Column("task", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("dispatch_id", sa.Text),
        sa.Column("own_tree", sa.Boolean, nullable=False),
        sa.Column("folder", sa.Text),
        sa.Column("branch", sa.Text),
        sa.Column("wanted", sa.Boolean, nullable=False),
        sa.Column("started_by", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("started_at", sa.BigInteger),
        sa.Column("ended_at", sa.BigInteger),
        sa.Column("code", sa.Integer),
        sa.Column("signal", sa.Integer),
        sa.Column("trouble", sa.Text),
    )
    op.create_index("runs_to_keep", "runs", ["origin", "workspace", "ended_at"])
    op.create_index("runs_by_type", "runs", ["workspace", "agent_type", "created_at"])
    op.create_table(
        "session_inputs",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("ref", sa.Text),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("trouble", sa.Text),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("changed_at", sa.BigInteger, nullable=False),
    )
    op.create_index("session_inputs_by_state", "session_inputs", ["session_id", "state", "at", "id"])
    op.create_index("session_inputs_by_ref", "session_inputs", ["ref", "at"])
