"""What a session took, what is only in its worktree, and what was cleared away after it was over."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    for name in ("tokens_in", "tokens_out", "cost_usd_micros"):
        op.add_column("sessions", sa.Column(name, sa.BigInteger))
    for name in ("dirty", "unmerged"):
        op.add_column("runs", sa.Column(name, sa.Integer))
    for name in ("seen_at", "released_at", "cleared_at"):
        op.add_column("runs", sa.Column(name, sa.BigInteger))
    op.add_column("runs", sa.Column("kept_as", sa.Text))
