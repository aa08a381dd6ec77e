"""Approvals and the audit chain."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "approvals",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("command", sa.Text, nullable=False),
        sa.Column("cwd", sa.Text, nullable=False),
        sa.Column("environment", sa.Text, nullable=False),
        sa.Column("tool", sa.Text, nullable=False),
        sa.Column("requester", sa.Text, nullable=False),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("risk", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("rollback", sa.Text, nullable=False),
        sa.Column("verification", sa.Text, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.Column("set_id", sa.Text),
        sa.Column("position", sa.Integer),
        sa.Column("superseded_by", sa.Text),
        sa.Column("decided_at", sa.BigInteger),
        sa.Column("decided_by", sa.Text),
        sa.Column("confirmed_by", sa.Text),
        sa.Column("decision_reason", sa.Text),
        sa.Column("told_at", sa.BigInteger),
        sa.Column("escalation_id", sa.Text, nullable=False),
        sa.Column("grant_state", sa.Text),
        sa.Column("consumed_at", sa.BigInteger),
        sa.Column("outcome", sa.Text),
        sa.Column("outcome_at", sa.BigInteger),
        sa.Column("call_key", sa.Text, nullable=False),
        sa.Column("live_key", sa.Text),
    )
    op.create_index("approvals_by_age", "approvals", ["created_at", "id"])
    op.create_index("approvals_by_state", "approvals", ["state", "created_at", "id"])
    op.create_index("approvals_by_call", "approvals", ["call_key", "created_at"])
    op.create_index("approvals_live", "approvals", ["live_key"], unique=True)
    op.create_index("approvals_by_escalation", "approvals", ["escalation_id", "position"])
    op.create_index("approvals_by_set", "approvals", ["set_id", "position"])
    op.create_index("approvals_by_grant", "approvals", ["grant_state", "session_id", "consumed_at"])
    op.create_table(
        "audit",
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("ref", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("previous", sa.Text, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
    )
