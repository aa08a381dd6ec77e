"""The phase of the project, what purviews hold, and what personas reserve and spend."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.create_table(
        "project_phase",
        sa.Column("id", sa.Integer, sa.CheckConstraint("id = 1"), primary_key=True, autoincrement=False),
        sa.Column("phase", sa.Text, nullable=False),
        sa.Column("changed_at", sa.BigInteger),
        sa.Column("changed_by", sa.Text),
    )
    op.execute("INSERT INTO project_phase (id, phase) VALUES (1, 'ideation')")
    op.create_table(
        "purview_holds",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("item_id", sa.Text, nullable=False),
        sa.Column("from_state", sa.Text, nullable=False),
        sa.Column("to_state", sa.Text, nullable=False),
        sa.Column("persona_id", sa.Text, nullable=False),
        sa.Column("domain", sa.Text, nullable=False),
        sa.Column("authority", sa.Text, nullable=False),
        sa.Column("phase", sa.Text, nullable=False),
        sa.Column("reasons", sa.Text, nullable=False),
        sa.Column("asked_by", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("decided_at", sa.BigInteger),
        sa.Column("decided_by", sa.Text),
        sa.Column("justification", sa.Text),
    )
    op.create_index("purview_holds_by_item", "purview_holds", ["item_id", "to_state", "persona_id"])
    op.create_index("purview_holds_by_age", "purview_holds", ["created_at", "id"])
    op.create_table(
        "persona_days",
        sa.Column("persona_id", sa.Text, primary_key=True),
        sa.Column("day", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("reserved_micros", sa.BigInteger, nullable=False),
        sa.Column("settled_micros", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "persona_reservations",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("persona_id", sa.Text, nullable=False),
        sa.Column("day", sa.BigInteger, nullable=False),
        sa.Column("cap_micros", sa.BigInteger, nullable=False),
        sa.Column("settled_micros", sa.BigInteger),
        sa.Column("cost_known", sa.Boolean),
        sa.Column("model", sa.Text),
        sa.Column("tokens_in", sa.BigInteger),
        sa.Column("tokens_out", sa.BigInteger),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("ended_at", sa.BigInteger),
    )
    op.create_index("persona_reservations_by_state", "persona_reservations", ["state", "created_at", "id"])
