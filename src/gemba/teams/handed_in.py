"""A task's work as it was handed in: its rows, the accepted envelope, the folder it lies in and what it wrote there.

Reads alone; called by the gate and by what brings work in.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, select

from gemba.errors import Conflict
from gemba.handoff import dispatches, handoffs
from gemba.handoff.snapshot import Snapshot
from gemba.sessions import runs as session_runs
from gemba.sessions.worktrees import worktree
from gemba.teams import attempts, store
from gemba.teams.artifacts import Collected, collect
from gemba.teams.said import Said
from gemba.teams.tables import attempts as attempts_table
from gemba.teams.tables import tasks
from gemba.teams.task import DONE
from gemba.teams.transfers import artifacts_given


class Work(NamedTuple):
    """`given` are the artifacts of others that were laid down for it, by their digests; `before` is how the workspace
    was when it began, `base` the commit at which its worktree was."""

    run: Row[Any]
    task: Row[Any]
    attempt: Row[Any]
    handoff: Row[Any] | None
    tree: worktree.Worktree | None
    folder: Path
    given: dict[str, str]
    before: Snapshot | None
    base: str | None

    @property
    def document(self) -> dict[str, Any]:
        """The envelope that was accepted."""
        return {} if self.handoff is None else handoffs.document_of(self.handoff) or {}

    @property
    def words(self) -> str:
        """Of its commits."""
        return f"{self.task.id}: {self.task.goal}"

    def collect(self) -> Collected:
        return collect(self.folder, self.task.id, self.given)


def documents_before(connection: Connection, work: Work) -> list[dict[str, Any]]:
    """The envelopes of the task's earlier turns, as a gate judged them: what those left lies in the same worktree."""
    if work.attempt.number == 1:
        return []
    table = attempts_table
    mine = (table.c.run_id == work.run.id, table.c.task_id == work.task.id, table.c.number < work.attempt.number)
    asked = select(table.c.handoff_id).where(*mine, table.c.handoff_id.is_not(None)).order_by(table.c.number)
    found = (handoffs.find(connection, id) for id in connection.execute(asked).scalars().all())
    return [document for row in found if row is not None and (document := handoffs.document_of(row))]


def told_before(connection: Connection, work: Work) -> tuple[str, ...]:
    """The files that earlier turns of the task said they wrote."""
    documents = documents_before(connection, work)
    return tuple(sorted({path for document in documents for path in Said(document).claimed}))


def read_work(connection: Connection, workspace: str, run_id: str, task_id: str) -> Work:
    run, task = store.get_run(connection, run_id), store.get_task(connection, run_id, task_id)
    attempt = attempts.latest(connection, run_id, task_id)
    if attempt is None:
        raise Conflict(f"{task_id} was never begun", code="not_begun", found=task_id)
    dispatch = dispatches.get(connection, attempt.dispatch_id)
    session = session_runs.find(connection, attempt.session_id)
    tree = None if session is None or session.tree is None else worktree.find(workspace, session.tree)
    return Work(
        run,
        task,
        attempt,
        None if dispatch.accepted_id is None else handoffs.find(connection, dispatch.accepted_id),
        tree,
        Path(dispatch.folder),
        artifacts_given(connection, run_id, task),
        None if run.branch is None else attempts.before_of(connection, run_id, task_id, dispatch.id),
        None if run.branch is None or tree is None else _left_before(connection, task, tree.session_id) or tree.base,
    )


def _left_before(connection: Connection, task: Row[Any], tree: str) -> str | None:
    """What the task before it in its chain was saved as, where that was done in the same worktree."""
    run = session_runs.runs
    mine = (tasks.c.run_id == task.run_id, tasks.c.chain == task.chain, tasks.c.place < task.place)
    there = (run.c.tree == tree, tasks.c.state.in_(DONE))
    last = select(tasks.c.commit_hash).join(run, run.c.session_id == tasks.c.session_id).where(*mine, *there)
    commit: str | None = connection.execute(last.order_by(tasks.c.place.desc()).limit(1)).scalar()
    return commit
