"""Runs by age: how many were begun on each of the last days."""

from __future__ import annotations

from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.create_index("runs_by_age", "runs", ["created_at"])
