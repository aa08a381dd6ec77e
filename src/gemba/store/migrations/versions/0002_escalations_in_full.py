"""Durable flows and their executors; policies, proposals, groups, rules, typed and late answers of escalations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    for column in (
        sa.Column("received_at", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("seen_at", sa.BigInteger),
        sa.Column("schema", sa.Text),
        sa.Column("reply_value", sa.Text),
        sa.Column("worktree", sa.Text),
        sa.Column("group_id", sa.Text, nullable=False, server_default=""),
        sa.Column("like_key", sa.Text, nullable=False, server_default=""),
        sa.Column("policy", sa.Text),
        sa.Column("reminders", sa.Integer, nullable=False, server_default="0"),
        sa.Column("reminded_at", sa.BigInteger),
        sa.Column("expires_at", sa.BigInteger),
        sa.Column("watched_since", sa.BigInteger),
        sa.Column("proposal", sa.Text),
        sa.Column("resolved_as", sa.Text),
        sa.Column("confirmed_by", sa.Text),
        sa.Column("rule_id", sa.Text),
        sa.Column("late", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("held_until", sa.BigInteger),
        sa.Column("delivery_since", sa.BigInteger),
        sa.Column("turn_session", sa.Text),
        sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
        sa.Column("next_attempt_at", sa.BigInteger),
    ):
        op.add_column("escalations", column)
    op.execute("update escalations set received_at = opened_at, group_id = id")
    # Nobody would see to what was on its way before there were flows: it is shown, and can be sent again by hand.
    op.execute("update escalations set delivery = 'undelivered' where delivery = 'pending'")
    op.execute("update assumptions set delivery = 'undelivered' where delivery = 'pending'")
    op.create_index("escalations_by_group", "escalations", ["group_id", "resolved"])
    op.create_index("escalations_by_likeness", "escalations", ["like_key", "resolved", "resolved_at", "group_id"])
    op.create_index("escalations_by_opening", "escalations", ["opened_at"])
    op.add_column("sessions", sa.Column("origin", sa.Text))
    op.add_column("replies", sa.Column("due_at", sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("replies", sa.Column("turn", sa.Text))
    op.add_column("replies", sa.Column("turn_wanted", sa.Boolean, nullable=False, server_default=sa.false()))
    op.create_table(
        "flows",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("args", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("run", sa.Integer, nullable=False),
        sa.Column("started", sa.Boolean, nullable=False),
        sa.Column("trouble", sa.Text),
    )
    op.create_index("flows_to_start", "flows", ["started", "at", "id"])
    op.create_table(
        "executors",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("beat", sa.BigInteger, nullable=False),
        sa.Column("where", sa.Text, nullable=False),
        sa.Column("started_at", sa.BigInteger, nullable=False),
        sa.Column("beat_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "notices",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("escalation_id", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("channel", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("ok", sa.Boolean),
        sa.Column("note", sa.Text),
    )
    op.create_index("notices_by_escalation", "notices", ["escalation_id", "at"])
    op.create_index("notices_by_outcome", "notices", ["ok", "at"])
    op.create_table(
        "likes",
        sa.Column("band", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("ref", sa.Text, primary_key=True),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "rules",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("made_at", sa.BigInteger, nullable=False),
        sa.Column("made_by", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("like_key", sa.Text, nullable=False),
        sa.Column("options", sa.Text, nullable=False),
        sa.Column("schema", sa.Text),
        sa.Column("answer", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("uses", sa.Integer, nullable=False),
        sa.Column("last_used_at", sa.BigInteger),
        sa.Column("revoked_at", sa.BigInteger),
        sa.Column("revoked_by", sa.Text),
    )
    op.create_index("rules_by_key", "rules", ["like_key", "revoked_at"])
    if op.get_bind().dialect.name == "postgresql":
        op.execute("create table escalation_search (id text primary key, body tsvector not null)")
        op.execute("create index escalation_search_words on escalation_search using gin (body)")
    else:
        op.execute(
            "create virtual table escalation_search using fts5"
            "(id unindexed, body, tokenize = 'unicode61 remove_diacritics 2')"
        )
