"""Consults: what was asked of personas, the lines that came, and what was applied of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.create_table(
        "consults",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("persona_id", sa.Text, nullable=False),
        sa.Column("skill_id", sa.Text, nullable=False),
        sa.Column("workspace", sa.Text, nullable=False),
        sa.Column("working_dir", sa.Text, nullable=False),
        sa.Column("repository", sa.Text),
        sa.Column("agent_type", sa.Text),
        sa.Column("by_advisor", sa.Boolean, nullable=False),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("walk_id", sa.Text),
        sa.Column("started_by", sa.Text, nullable=False),
        sa.Column("started_at", sa.BigInteger, nullable=False),
        sa.Column("due_at", sa.BigInteger, nullable=False),
        sa.Column("ended_at", sa.BigInteger),
        sa.Column("raw_request", sa.Text, nullable=False),
        sa.Column("input", sa.Text, nullable=False),
        sa.Column("composed", sa.Text, nullable=False),
        sa.Column("outputs", sa.Integer, nullable=False),
        sa.Column("complete", sa.Boolean, nullable=False),
        sa.Column("line_count", sa.Integer, nullable=False),
        sa.Column("line_error_count", sa.Integer, nullable=False),
        sa.Column("lines", sa.Text, nullable=False),
        sa.Column("line_errors", sa.Text, nullable=False),
        sa.Column("line_notes", sa.Text, nullable=False),
        sa.Column("order_errors", sa.Text, nullable=False),
        sa.Column("model", sa.Text),
        sa.Column("tokens_in", sa.BigInteger),
        sa.Column("tokens_out", sa.BigInteger),
        sa.Column("cost_micros", sa.BigInteger),
        sa.Column("error", sa.Text),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("unrecorded", sa.Boolean, nullable=False),
    )
    op.create_index("consults_by_age", "consults", ["started_at", "id"])
    op.create_index("consults_by_status", "consults", ["status", "started_at", "id"])
    op.create_index("consults_by_persona", "consults", ["persona_id", "started_at", "id"])
    op.create_index("consults_by_skill", "consults", ["skill_id", "started_at", "id"])
    op.create_index("consults_unrecorded", "consults", ["unrecorded", "origin", "id"])
    op.create_table(
        "consult_outputs",
        sa.Column("frame_id", sa.Text, primary_key=True),
        sa.Column("consult_id", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("skill_id", sa.Text, nullable=False),
        sa.Column("lines", sa.Text, nullable=False),
        sa.Column("set_aside", sa.Text),
    )
    op.create_index("consult_outputs_by_consult", "consult_outputs", ["consult_id", "number"])
    op.create_table(
        "consult_applied",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("consult_id", sa.Text, nullable=False),
        sa.Column("idx", sa.Integer, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("outcome", sa.Text, nullable=False),
    )
    op.create_index("consult_applied_by_consult", "consult_applied", ["consult_id", "idx"])
