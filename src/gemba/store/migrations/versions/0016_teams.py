"""Team runs: tasks, attempts, messages, and what tasks know."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.create_table(
        "team_runs",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("workspace", sa.Text, nullable=False),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("epic_id", sa.Text),
        sa.Column("agent", sa.Text, nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("analysis", sa.Text, nullable=False),
        sa.Column("roles", sa.Text, nullable=False),
        sa.Column("branch", sa.Text),
        sa.Column("base", sa.Text),
        sa.Column("tasks", sa.Integer, nullable=False),
        sa.Column("unended", sa.Integer, nullable=False),
        sa.Column("messages", sa.Integer, nullable=False),
        sa.Column("trouble", sa.Text),
        sa.Column("report", sa.Text),
        sa.Column("created_by", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("started_at", sa.BigInteger),
        sa.Column("ended_at", sa.BigInteger),
        sa.Column("archived_at", sa.BigInteger),
        sa.Column("unwritten", sa.Boolean, nullable=False),
        sa.Column("writing", sa.Boolean),
        sa.Column("folder_removed", sa.Boolean),
    )
    op.create_index("team_runs_by_age", "team_runs", ["workspace", "created_at", "id"])
    op.create_index("team_runs_by_state", "team_runs", ["workspace", "state", "created_at"])
    op.create_table(
        "team_tasks",
        sa.Column("run_id", sa.Text, primary_key=True),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("prefix", sa.Text, nullable=False),
        sa.Column("goal", sa.Text, nullable=False),
        sa.Column("given", sa.Text, nullable=False),
        sa.Column("chain", sa.Text, nullable=False),
        sa.Column("inner_loop", sa.Boolean, nullable=False),
        sa.Column("blocked_by", sa.Text, nullable=False),
        sa.Column("open_blockers", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("waiting_for", sa.Text),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("words", sa.Text, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("judged", sa.Integer, nullable=False),
        sa.Column("errors", sa.Integer, nullable=False),
        sa.Column("fence", sa.Integer, nullable=False),
        sa.Column("beat", sa.BigInteger, nullable=False),
        sa.Column("executor", sa.Text),
        sa.Column("origin", sa.Text),
        sa.Column("session_id", sa.Text),
        sa.Column("dispatch_id", sa.Text),
        sa.Column("commit_hash", sa.Text),
        sa.Column("merged", sa.Text),
        sa.Column("score", sa.Float),
        sa.Column("gate", sa.Text),
        sa.Column("reason", sa.Text),
        sa.Column("accepted", sa.Text),
        sa.Column("lost_for", sa.Text),
        sa.Column("revises", sa.Text),
        sa.Column("escalation_id", sa.Text),
        sa.Column("not_before", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("changed_at", sa.BigInteger, nullable=False),
        sa.Column("claimed_at", sa.BigInteger),
        sa.Column("started_at", sa.BigInteger),
        sa.Column("ended_at", sa.BigInteger),
    )
    op.create_index("team_tasks_in_order", "team_tasks", ["run_id", "place"])
    op.create_index("team_tasks_by_state", "team_tasks", ["run_id", "state", "open_blockers", "place"])
    op.create_index("team_tasks_waiting", "team_tasks", ["state", "waiting_for"])
    op.create_index("team_tasks_by_session", "team_tasks", ["session_id"])
    op.create_index("team_tasks_by_dispatch", "team_tasks", ["dispatch_id"])
    op.create_index("team_tasks_by_escalation", "team_tasks", ["escalation_id"])
    op.create_table(
        "team_edges",
        sa.Column("run_id", sa.Text, primary_key=True),
        sa.Column("blocker", sa.Text, primary_key=True),
        sa.Column("task", sa.Text, primary_key=True),
    )
    op.create_table(
        "team_chains",
        sa.Column("run_id", sa.Text, primary_key=True),
        sa.Column("chain", sa.Text, primary_key=True),
        sa.Column("errors", sa.Integer, nullable=False),
        sa.Column("stopped", sa.Boolean, nullable=False),
    )
    op.create_table(
        "team_attempts",
        sa.Column("run_id", sa.Text, primary_key=True),
        sa.Column("task_id", sa.Text, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("fence", sa.Integer, nullable=False),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("dispatch_id", sa.Text, nullable=False),
        sa.Column("turn", sa.Integer, nullable=False),
        sa.Column("before", sa.Text),
        sa.Column("handoff_id", sa.Text),
        sa.Column("outcome", sa.Text),
        sa.Column("gate", sa.Text),
        sa.Column("checks", sa.Text),
        sa.Column("review", sa.Text),
        sa.Column("trouble", sa.Text),
        sa.Column("started_at", sa.BigInteger, nullable=False),
        sa.Column("ended_at", sa.BigInteger),
    )
    op.create_index("team_attempts_by_session", "team_attempts", ["session_id"])
    op.create_table(
        "team_reviews",
        sa.Column("run_id", sa.Text, primary_key=True),
        sa.Column("task_id", sa.Text, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("reviewer", sa.Text, primary_key=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("session_id", sa.Text),
        sa.Column("review", sa.Text),
        sa.Column("trouble", sa.Text),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
    op.create_index("team_reviews_by_session", "team_reviews", ["session_id"])
    op.create_table(
        "team_ratings",
        sa.Column("run_id", sa.Text, primary_key=True),
        sa.Column("task_id", sa.Text, primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("reviewer", sa.Text, primary_key=True),
        sa.Column("rating", sa.Integer, nullable=False),
        sa.Column("critical", sa.Boolean, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "team_gaps",
        sa.Column("run_id", sa.Text, primary_key=True),
        sa.Column("task_id", sa.Text, primary_key=True),
        sa.Column("capability", sa.Text, primary_key=True),
        sa.Column("added", sa.Text),
        sa.Column("escalation_id", sa.Text),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
    op.create_index("team_gaps_by_escalation", "team_gaps", ["escalation_id"])
    op.create_table(
        "team_messages",
        sa.Column("run_id", sa.Text, primary_key=True),
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("sender", sa.Text, nullable=False),
        sa.Column("recipient", sa.Text, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("known", sa.Boolean, nullable=False),
        sa.Column("summary", sa.Text, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
    )
    op.create_index("team_messages_by_type", "team_messages", ["run_id", "type", "id"])
    op.create_index("team_messages_by_recipient", "team_messages", ["run_id", "recipient", "id"])
    op.create_index("team_messages_by_sender", "team_messages", ["run_id", "sender", "id"])
    op.create_table(
        "team_cursors",
        sa.Column("run_id", sa.Text, primary_key=True),
        sa.Column("recipient", sa.Text, primary_key=True),
        sa.Column("seen", sa.Integer, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "team_states",
        sa.Column("run_id", sa.Text, primary_key=True),
        sa.Column("task_id", sa.Text, primary_key=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("message_id", sa.Integer, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "team_artifacts",
        sa.Column("run_id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("task_id", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("lines", sa.Integer, nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
    op.create_index("team_artifacts_by_task", "team_artifacts", ["run_id", "task_id", "version"])
    op.create_table(
        "team_wisdom",
        sa.Column("run_id", sa.Text, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("words", sa.Text, nullable=False),
        sa.Column("task_id", sa.Text),
        sa.Column("author", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "team_explorations",
        sa.Column("run_id", sa.Text, primary_key=True),
        sa.Column("angle", sa.Text, primary_key=True),
        sa.Column("task_id", sa.Text),
        sa.Column("summary", sa.Text, nullable=False),
        sa.Column("files", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "team_accumulators",
        sa.Column("run_id", sa.Text, primary_key=True),
        sa.Column("chain", sa.Text, primary_key=True),
        sa.Column("task_id", sa.Text, primary_key=True),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("entry", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "team_transfers",
        sa.Column("run_id", sa.Text, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("channel", sa.Text, nullable=False),
        sa.Column("ref", sa.Text, nullable=False),
        sa.Column("source", sa.Text),
        sa.Column("task_id", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
    op.create_index("team_transfers_by_task", "team_transfers", ["run_id", "task_id"])
    op.add_column("runs", sa.Column("tree", sa.Text))
