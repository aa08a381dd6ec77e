"""The event log, confirmations, session logs and sessions, escalations, assumptions, replies."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    counters = op.create_table(
        "counters",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", sa.BigInteger, nullable=False),
    )
    op.bulk_insert(counters, [{"name": "events", "value": 0}, {"name": "events.floor", "value": 0}])
    op.create_table(
        "events",
        sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("session_id", sa.Text),
        sa.Column("ref", sa.Text),
        sa.Column("payload", sa.Text, nullable=False),
    )
    op.create_index("events_by_session", "events", ["session_id", "id"])
    op.create_index("events_by_ref", "events", ["ref", "id"])
    op.create_table(
        "confirmations",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("request", sa.Text, nullable=False),
        sa.Column("status", sa.Integer, nullable=False),
        sa.Column("answer", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
    op.create_index("confirmations_by_age", "confirmations", ["at"])
    op.create_table(
        "logs",
        sa.Column("reader", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("inode", sa.Text, nullable=False),
        sa.Column("offset", sa.BigInteger, nullable=False),
        sa.Column("mark", sa.Text, nullable=False),
        sa.Column("skipping", sa.Boolean, nullable=False),
    )
    op.create_table(
        "frames",
        sa.Column("event_id", sa.Text, primary_key=True),
        sa.Column("log", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
    op.create_index("frames_by_log", "frames", ["log", "at"])
    op.create_table(
        "strays",
        sa.Column("workspace", sa.Text, primary_key=True),
        sa.Column("log", sa.Text, nullable=False),
        sa.Column("frames", sa.BigInteger, nullable=False),
        sa.Column("last_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "sessions",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("agent_type", sa.Text, nullable=False),
        sa.Column("mode", sa.Text, nullable=False),
        sa.Column("role", sa.Text),
        sa.Column("lifecycle", sa.Text, nullable=False),
        sa.Column("close_reason", sa.Text),
        sa.Column("reported_state", sa.Text),
        sa.Column("note", sa.Text),
        sa.Column("bead_id", sa.Text),
        sa.Column("prompts", sa.Text, nullable=False),
        sa.Column("first_seen_at", sa.BigInteger, nullable=False),
        sa.Column("last_frame_at", sa.BigInteger, nullable=False),
    )
    op.create_index("sessions_by_last_frame", "sessions", ["last_frame_at"])
    op.create_table(
        "escalations",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("agent_type", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("channel", sa.Text, nullable=False),
        sa.Column("urgency", sa.Text, nullable=False),
        sa.Column("rank", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("resolved", sa.Boolean, nullable=False),
        sa.Column("delivery", sa.Text, nullable=False),
        sa.Column("delivery_note", sa.Text),
        sa.Column("role", sa.Text),
        sa.Column("mode", sa.Text, nullable=False),
        sa.Column("title", sa.Text),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("options", sa.Text, nullable=False),
        sa.Column("bead_id", sa.Text),
        sa.Column("waiting", sa.Boolean, nullable=False),
        sa.Column("cwd", sa.Text),
        sa.Column("commit_hash", sa.Text),
        sa.Column("branch", sa.Text),
        sa.Column("opened_at", sa.BigInteger, nullable=False),
        sa.Column("changed_at", sa.BigInteger, nullable=False),
        sa.Column("snoozed_until", sa.BigInteger),
        sa.Column("outcome", sa.Text),
        sa.Column("reply_text", sa.Text),
        sa.Column("reply_option", sa.Integer),
        sa.Column("decision", sa.Text),
        sa.Column("action", sa.Text),
        sa.Column("resolved_by", sa.Text),
        sa.Column("resolved_at", sa.BigInteger),
        sa.Column("origin", sa.Text, nullable=False),
    )
    op.create_index("escalations_inbox", "escalations", ["resolved", "rank", "opened_at", "id"])
    op.create_index("escalations_by_change", "escalations", ["resolved", "changed_at", "id"])
    op.create_index("escalations_by_rank", "escalations", ["rank", "opened_at", "id"])
    op.create_index("escalations_by_session", "escalations", ["session_id", "resolved", "opened_at"])
    op.create_index("escalations_by_bead", "escalations", ["bead_id", "rank", "opened_at"])
    op.create_index("escalations_by_snooze", "escalations", ["snoozed_until"])
    op.create_index("escalations_by_delivery", "escalations", ["delivery", "resolved_at"])
    op.create_table(
        "assumptions",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("agent_type", sa.Text, nullable=False),
        sa.Column("role", sa.Text),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("chose", sa.Text, nullable=False),
        sa.Column("bead_id", sa.Text),
        sa.Column("cwd", sa.Text),
        sa.Column("commit_hash", sa.Text),
        sa.Column("branch", sa.Text),
        sa.Column("recorded_at", sa.BigInteger, nullable=False),
        sa.Column("overturned_at", sa.BigInteger),
        sa.Column("overturned_text", sa.Text),
        sa.Column("delivery", sa.Text, nullable=False),
        sa.Column("origin", sa.Text, nullable=False),
    )
    op.create_index("assumptions_by_delivery", "assumptions", ["delivery", "overturned_at"])
    op.create_index("assumptions_by_age", "assumptions", ["recorded_at", "id"])
    op.create_index("assumptions_by_session", "assumptions", ["session_id", "recorded_at", "id"])
    op.create_table(
        "replies",
        sa.Column("event_id", sa.Text, primary_key=True),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("body", sa.Text),
        sa.Column("written", sa.Boolean, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
    op.create_index("replies_to_write", "replies", ["origin", "written", "at", "event_id"])
