"""Dispatches and handoffs; flows that one home alone can run."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("flows", sa.Column("origin", sa.Text))
    op.create_table(
        "dispatches",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("agent_id", sa.Text, nullable=False),
        sa.Column("session_id", sa.Text),
        sa.Column("role", sa.Text),
        sa.Column("task_id", sa.Text),
        sa.Column("provider", sa.Text, nullable=False),
        sa.Column("folder", sa.Text, nullable=False),
        sa.Column("goal", sa.Text, nullable=False),
        sa.Column("envelope", sa.Text, nullable=False),
        sa.Column("snapshot", sa.Text, nullable=False),
        sa.Column("since_event", sa.BigInteger, nullable=False),
        sa.Column("policy", sa.Text, nullable=False),
        sa.Column("status", sa.Text),
        sa.Column("in_progress", sa.Integer, nullable=False),
        sa.Column("turn", sa.Integer, nullable=False),
        sa.Column("repairs", sa.Text, nullable=False),
        sa.Column("accepted_id", sa.Text),
        sa.Column("completed_at", sa.BigInteger),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("changed_at", sa.BigInteger, nullable=False),
    )
    op.create_index("dispatches_by_age", "dispatches", ["created_at", "id"])
    op.create_index("dispatches_by_session", "dispatches", ["session_id", "created_at", "id"])
    op.create_index("dispatches_by_origin", "dispatches", ["origin", "completed_at", "id"])
    op.create_table(
        "handoffs",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("dispatch_id", sa.Text),
        sa.Column("session_id", sa.Text),
        sa.Column("agent_id", sa.Text),
        sa.Column("turn", sa.Integer),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("event", sa.Text),
        sa.Column("content_hash", sa.Text, nullable=False),
        sa.Column("document", sa.Text),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("plan_status", sa.Text),
        sa.Column("verdict", sa.Text, nullable=False),
        sa.Column("checks", sa.Text, nullable=False),
        sa.Column("refused_by", sa.Text),
        sa.Column("refusal", sa.Text),
        sa.Column("told", sa.Text, nullable=False),
        sa.Column("applied", sa.Text, nullable=False),
        sa.Column("summary", sa.Text, nullable=False),
        sa.Column("escalation_id", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("judged_at", sa.BigInteger, nullable=False),
        sa.Column("concluded_at", sa.BigInteger),
    )
    op.create_index("handoffs_by_key", "handoffs", ["key"], unique=True)
    op.create_index("handoffs_by_age", "handoffs", ["created_at", "id"])
    op.create_index("handoffs_by_dispatch", "handoffs", ["dispatch_id", "created_at", "id"])
    op.create_index("handoffs_by_session", "handoffs", ["session_id", "created_at", "id"])
    op.create_index("handoffs_by_state", "handoffs", ["state", "created_at", "id"])
    op.create_index("handoffs_by_plan_status", "handoffs", ["plan_status", "created_at", "id"])
    op.create_index("handoffs_by_escalation", "handoffs", ["escalation_id"])
