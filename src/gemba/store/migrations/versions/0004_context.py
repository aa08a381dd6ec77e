"""Context contracts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "contracts",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("standing", sa.Integer, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("warnings", sa.Text, nullable=False),
        sa.Column("changed_at", sa.BigInteger, nullable=False),
        sa.Column("changed_by", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
    )
    op.create_table(
        "contract_changes",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("revision", sa.Integer, primary_key=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("undoes", sa.Integer),
        sa.Column("standing", sa.Integer, nullable=False),
        sa.Column("changes", sa.Text, nullable=False),
        sa.Column("warnings", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
    )
