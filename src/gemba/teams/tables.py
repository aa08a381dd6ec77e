"""The tables of team runs: a run, its tasks and what waits for what, attempts, messages, and what tasks know.

A task is a row under its run and id. How many of what it waits for is not done yet is kept in the row and what waits
for it is found by `team_edges`: to end a task costs what its dependents are, however large the run. A claim is told
from those before it by its `fence`, and its holder counts `beat` up for as long as it works.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Float, Index, Integer, Table, Text

from gemba.store.schema import metadata

runs = Table(
    "team_runs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("state", Text, nullable=False),
    Column("workspace", Text, nullable=False),  # several may share a database
    Column("origin", Text, nullable=False),  # the home that has its folder
    Column("text", Text, nullable=False),
    Column("epic_id", Text),
    Column("agent", Text, nullable=False),  # the type of agent of tasks that name none
    Column("settings", Text, nullable=False),  # how it runs, as JSON: see `run.RunSettings`
    Column("analysis", Text, nullable=False),
    Column("roles", Text, nullable=False),  # of the plan, as JSON
    Column("branch", Text),  # that its tasks are merged into; none where there is no repository
    Column("base", Text),  # the commit that it began at
    Column("tasks", Integer, nullable=False),
    Column("unended", Integer, nullable=False),  # tasks that have not ended
    Column("messages", Integer, nullable=False),  # the number of the last one
    Column("trouble", Text),  # why it is in this state, where that needs a reason
    Column("report", Text),  # what came of it, in words
    Column("created_by", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("started_at", BigInteger),
    Column("ended_at", BigInteger),
    Column("archived_at", BigInteger),
    Column("unwritten", Boolean, nullable=False),  # its folder is not as the rows are
    Column("writing", Boolean),  # it is being made so; what changes meanwhile is unwritten again
    Column("folder_removed", Boolean),  # nothing but the manifest is to be left of it
    Index("team_runs_by_age", "workspace", "created_at", "id"),
    Index("team_runs_by_state", "workspace", "state", "created_at"),
)

tasks = Table(
    "team_tasks",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("place", Integer, nullable=False),  # in graph order
    Column("owner", Text, nullable=False),  # a role
    Column("prefix", Text, nullable=False),
    Column("goal", Text, nullable=False),
    Column("given", Text, nullable=False),  # what its plan says beside that, as JSON: see `plan.TaskOptions`
    Column("chain", Text, nullable=False),
    Column("inner_loop", Boolean, nullable=False),
    Column("blocked_by", Text, nullable=False),  # ids, as JSON
    Column("open_blockers", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("waiting_for", Text),
    Column("version", Integer, nullable=False),
    Column("words", Text, nullable=False),  # what its latest version is to do otherwise, as JSON
    Column("attempt", Integer, nullable=False),  # of its version
    Column("judged", Integer, nullable=False),  # how often a gate did, of its version
    Column("errors", Integer, nullable=False),  # of its version
    Column("fence", Integer, nullable=False),
    Column("beat", BigInteger, nullable=False),
    Column("executor", Text),  # who claimed it
    Column("origin", Text),  # the home that works on it
    Column("session_id", Text),
    Column("dispatch_id", Text),
    Column("commit_hash", Text),  # what its agent left, before it was merged
    Column("merged", Text),  # the commit that brought it into the run's branch
    Column("score", Float),
    Column("gate", Text),  # its latest, as JSON
    Column("reason", Text),  # why it is in this state, where that needs one
    Column("accepted", Text),  # why it is taken as it is, until its work is brought in
    Column("lost_for", Text),  # the task that it was skipped for
    Column("revises", Text),  # the task that it was inserted for
    Column("escalation_id", Text),
    Column("not_before", BigInteger, nullable=False),  # it rests after an error until then
    Column("created_at", BigInteger, nullable=False),
    Column("changed_at", BigInteger, nullable=False),
    Column("claimed_at", BigInteger),
    Column("started_at", BigInteger),
    Column("ended_at", BigInteger),
    Index("team_tasks_in_order", "run_id", "place"),
    Index("team_tasks_by_state", "run_id", "state", "open_blockers", "place"),
    Index("team_tasks_waiting", "state", "waiting_for"),
    Index("team_tasks_by_session", "session_id"),
    Index("team_tasks_by_dispatch", "dispatch_id"),
    Index("team_tasks_by_escalation", "escalation_id"),
)

edges = Table(
    "team_edges",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("blocker", Text, primary_key=True),
    Column("task", Text, primary_key=True),
)

chains = Table(
    "team_chains",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("chain", Text, primary_key=True),
    Column("errors", Integer, nullable=False),
    Column("stopped", Boolean, nullable=False),  # nothing of it begins before a person has decided
)

attempts = Table(
    "team_attempts",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("task_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),  # over all versions of the task
    Column("version", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("fence", Integer, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("dispatch_id", Text, nullable=False),
    Column("turn", Integer, nullable=False),  # of the dispatch
    Column("before", Text),  # the workspace when its dispatch began, as JSON
    Column("handoff_id", Text),
    Column("outcome", Text),  # an event of the task's machine, or `error`
    Column("gate", Text),  # as JSON
    Column("checks", Text),
    Column("review", Text),
    Column("trouble", Text),
    Column("started_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger),
    Index("team_attempts_by_session", "session_id"),
)

reviews = Table(
    "team_reviews",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("task_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),  # of the attempt
    Column("reviewer", Text, primary_key=True),  # a role, or `person`
    Column("state", Text, nullable=False),  # wanted, given, failed
    Column("session_id", Text),  # that reviews
    Column("review", Text),  # as JSON
    Column("trouble", Text),  # why there is none
    Column("at", BigInteger, nullable=False),
    Index("team_reviews_by_session", "session_id"),
)

ratings = Table(
    "team_ratings",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("task_id", Text, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("reviewer", Text, primary_key=True),
    Column("rating", Integer, nullable=False),
    Column("critical", Boolean, nullable=False),
    Column("note", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
)

gaps = Table(
    "team_gaps",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("task_id", Text, primary_key=True),
    Column("capability", Text, primary_key=True),  # that the task misses
    Column("added", Text),  # the task that does it
    Column("escalation_id", Text),  # the card that asks about it, while anybody may answer
    Column("reason", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Index("team_gaps_by_escalation", "escalation_id"),
)

messages = Table(
    "team_messages",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("id", Integer, primary_key=True, autoincrement=False),  # from 1, without a gap
    Column("at", BigInteger, nullable=False),
    Column("sender", Text, nullable=False),
    Column("recipient", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("known", Boolean, nullable=False),  # whether its type has a schema
    Column("summary", Text, nullable=False),
    Column("data", Text, nullable=False),
    Index("team_messages_by_type", "run_id", "type", "id"),
    Index("team_messages_by_recipient", "run_id", "recipient", "id"),
    Index("team_messages_by_sender", "run_id", "sender", "id"),
)

cursors = Table(
    "team_cursors",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("recipient", Text, primary_key=True),
    Column("seen", Integer, nullable=False),  # the last message that it has acknowledged
    Column("at", BigInteger, nullable=False),
)

states = Table(
    "team_states",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("task_id", Text, primary_key=True),
    Column("state", Text, nullable=False),  # merged from its updates, as JSON
    Column("message_id", Integer, nullable=False),  # the last of them
    Column("at", BigInteger, nullable=False),
)

artifacts = Table(
    "team_artifacts",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("name", Text, primary_key=True),  # <task id>-<name>.md
    Column("version", Integer, primary_key=True, autoincrement=False),  # of its task
    Column("task_id", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("lines", Integer, nullable=False),
    Column("content", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Index("team_artifacts_by_task", "run_id", "task_id", "version"),
)

wisdom = Table(
    "team_wisdom",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),  # learnings, decisions, conventions, issues
    Column("words", Text, nullable=False),
    Column("task_id", Text),
    Column("author", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
)

explorations = Table(
    "team_explorations",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("angle", Text, primary_key=True),
    Column("task_id", Text),
    Column("summary", Text, nullable=False),
    Column("files", Text, nullable=False),  # the digest of each that was read, as JSON
    Column("at", BigInteger, nullable=False),
)

accumulators = Table(
    "team_accumulators",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("chain", Text, primary_key=True),
    Column("task_id", Text, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("entry", Text, nullable=False),  # what the task adds for those after it in its chain, as JSON
    Column("at", BigInteger, nullable=False),
)

transfers = Table(
    "team_transfers",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("channel", Text, nullable=False),  # artifact, state, wisdom, accumulator, exploration
    Column("ref", Text, nullable=False),  # what reached it: a name, a task, a number
    Column("source", Text),  # the task that it is from
    Column("task_id", Text, nullable=False),  # that it reached
    Column("version", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("at", BigInteger, nullable=False),
    Index("team_transfers_by_task", "run_id", "task_id"),
)
