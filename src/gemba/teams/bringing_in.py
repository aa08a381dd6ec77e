"""Work that has passed, or that somebody takes as it is, is merged into the run's branch; then its task is done, what
it found is there for others, and what waited for it begins.

A merge does nothing twice, and the task is done in one transaction with all that follows. A merge that meets a conflict
becomes a task of its own, before everything that waits for the one whose work it is: that stays in its branch until
then, and is never lost. The worktree goes when its session is over. Blocking; called by the gate, by the stint, and by
the flow of what was accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import structlog
from sqlalchemy import Connection, Row, bindparam, select

from gemba import clock
from gemba.action import Nothing
from gemba.errors import GembaError
from gemba.sessions import runs as session_runs
from gemba.sessions import starting
from gemba.store.database import Database, Transaction
from gemba.teams import attempts, branches, bus, claiming, deciding, discussing, finishing, gaps, graph, message, store
from gemba.teams.claiming import Holder
from gemba.teams.deciding import Claim
from gemba.teams.explorations import explore
from gemba.teams.gates import Gate
from gemba.teams.handed_in import Work, documents_before, read_work
from gemba.teams.knowledge import CollectedArtifact, Exploration
from gemba.teams.loading import current_artifacts
from gemba.teams.publishing import publish
from gemba.teams.run import BUILTIN, COORDINATOR
from gemba.teams.surveyed import taken
from gemba.teams.tables import tasks
from gemba.teams.task import DONE, TaskState
from gemba.teams.transfers import artifacts_given

_MOST_NAMED = 10
_GRACE = 30 * clock.SECOND  # in which a client that has handed over ends by itself

log = structlog.get_logger("gemba.teams")

Merge = branches.Merged | branches.Conflicts | None
Keep = Callable[[Transaction, Row[Any]], Row[Any]]


class BringingIn:
    """For one workspace and home; `holder` tells who claims what begins next."""

    def __init__(self, database: Database, workspace: Path, holder: Callable[[], Holder]) -> None:
        self._database = database
        self._workspace = str(workspace)
        self._holder = holder

    def bring_in(self, claim: Claim, work: Work, gate: Gate, commit: str | None, keep: Keep) -> list[Claim]:
        """What has passed its gate; what was claimed with it. `keep` keeps that verdict: before anything is merged, or
        with the end of the task."""

        def goes_on(tx: Transaction) -> bool:
            row = deciding.held(tx, claim)
            return row is not None and row.state == TaskState.VERIFYING and discussing.discuss(tx, keep(tx, row))

        def done(tx: Transaction, merged: Merge, brought: Brought) -> list[Claim]:
            row = deciding.held(tx, claim)
            if row is None or row.state != TaskState.VERIFYING:
                return []
            if not merges:
                row = keep(tx, row)
                if not discussing.discuss(tx, row):
                    return []
            return self._end(tx, row, work, gate, merged, brought)

        merges = commit is not None and work.run.branch is not None
        if merges and not self._database.change(goes_on):
            return []
        return self._merge_and(done, work, commit)

    def bring_in_accepted(self, run_id: str, task_id: str, fence: int) -> None:
        """What somebody takes as it is, and is done with a warning."""
        with self._database.read() as connection:
            row = store.find_task(connection, run_id, task_id)
            if row is None or row.accepted is None or row.fence != fence:
                return
            work = read_work(connection, str(self._workspace), run_id, task_id)

        def done(tx: Transaction, merged: Merge, brought: Brought) -> list[Claim]:
            store.lock_run(tx, run_id)
            now = store.lock_task(tx, run_id, task_id)
            if now.accepted is None or (now.state, now.fence) != (row.state, row.fence):
                return []
            return self._end(tx, now, work, None, merged, brought)

        self._merge_and(done, work, row.commit_hash)

    def _merge_and(
        self, done: Callable[[Transaction, Merge, Brought], list[Claim]], work: Work, commit: str | None
    ) -> list[Claim]:
        merged: Merge = None
        if commit is not None and work.run.branch is not None:
            merged = branches.merge(self._workspace, work.run.branch, commit, work.words)
        explored = explore(work.folder, work.document, work.task.goal, work.task.id)
        brought = Brought(work.collect().artifacts, explored)
        return self._database.change(lambda tx: done(tx, merged, brought))

    def _end(
        self, tx: Transaction, row: Row[Any], work: Work, gate: Gate | None, merged: Merge, brought: Brought
    ) -> list[Claim]:
        by = None if gate is None or gate.reviewer == BUILTIN else gate.reviewer
        before = documents_before(tx.connection, work)
        collected = (brought.artifacts, brought.explored)
        published = publish(tx, row.run_id, row, work.document, *collected, reviewer=by, before=before)
        found = published.state.key_findings
        words = f"{row.id}: {found[0]}" if found else f"{row.id} reports"
        update = message.checked(row.owner, "state_update", words, published.state.as_data())
        reason = row.accepted
        if isinstance(merged, branches.Conflicts):
            reason = _put_conflict(tx, work.run, row, merged)
        event = "accepted" if gate is None else gate.outcome if reason is None else "passed_with_warnings"
        if reason is None and gate is not None and gate.outcome == "passed_with_warnings":
            reason = gate.reason
        attempts.change_latest(tx, row, outcome=event, ended_at=tx.now)
        at = merged.commit if isinstance(merged, branches.Merged) else None
        verdict = taken(row) if gate is None else {}  # somebody accepted it
        ended = graph.end(tx, row, event, merged=at, executor=None, reason=reason, accepted=None, **verdict)
        gaps.withdraw_cards(tx, row.run_id, f"{row.id} is done", row.id)
        _tell_of_end(tx, ended, update)
        discussing.ask_after_revision(tx, ended.task)
        return self._advance(tx, ended)

    def _advance(self, tx: Transaction, ended: graph.Ended) -> list[Claim]:
        """What waited for it begins at once, within the limits, without a round of anybody's; what was claimed."""
        run_id = ended.task.run_id
        claimed: list[Claim] = []
        if ended.ready or not finishing.finish_if_over(tx, run_id):
            claimed = claiming.claim_in(tx, ended.run, self._holder())
        if not _goes_on_in_session(tx.connection, ended.task):
            _leave(tx, ended.task.session_id)
        return claimed

    # ---- what it leaves

    def left_by(self, run_id: str, task_id: str, fence: int) -> dict[str, Any] | None:
        """Of a task which this claim has brought in: when that was, and the sessions that worked on it; nobody needs
        their worktree any more once they are over. `by` is when those that end by themselves have to be."""
        with self._database.read() as connection:
            row = store.get_task(connection, run_id, task_id)
            if row.fence != fence or row.state not in DONE or row.session_id is None:
                return None
            session = session_runs.find(connection, row.session_id)
            found = session_runs.of_sessions(connection, attempts.sessions_of_task(connection, run_id, task_id))
        if session is None:
            return None
        there = sorted(id for id, each in found.items() if each.tree == session.tree)  # others are another home's
        by = row.ended_at + _GRACE if session_runs.agent_of(session).headless else None
        return {"since": row.ended_at, "sessions": there, "by": by}

    def let_go(self, run_id: str, task_id: str, fence: int) -> None:
        """What is nowhere else keeps a worktree, and so does whoever began the task anew meanwhile."""
        with self._database.read() as connection:
            run, task = store.get_run(connection, run_id), store.get_task(connection, run_id, task_id)
            if task.fence != fence or task.state not in DONE or task.merged is None:
                return
            session = session_runs.find(connection, task.session_id)
            known = {row.name: row.digest for row in current_artifacts(connection, run_id)}
            known |= artifacts_given(connection, run_id, task)
        if run.branch is None or session is None or session.tree is None:
            return
        try:
            # By its name: whoever was killed in the middle of this has left a part of it.
            branches.let_go(self._workspace, session.tree, known)
        except GembaError as error:
            log.info("a task's worktree stays", run=run_id, task=task_id, reason=error.message)


class Brought(msgspec.Struct, frozen=True):
    """What lay in its folder for others."""

    artifacts: Sequence[CollectedArtifact]
    explored: Sequence[Exploration]


def _put_conflict(tx: Transaction, run: Row[Any], row: Row[Any], clash: branches.Conflicts) -> str:
    """A task of the same role brings it in; why its work is not in the run's branch yet."""
    more = len(clash.files) - _MOST_NAMED
    files = ", ".join(clash.files[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    goal = (
        f"Bring the work of {row.id} into the team's branch: both changed {files}. Run `git merge {run.branch}` in "
        "your folder, resolve the conflicts so that neither side's work is lost, and verify the result."
    )
    # A program would do the same once more: without one the built-in worker asks what to run.
    options = msgspec.structs.replace(store.options_of(row), command=None, reviewers=())
    added = graph.put_behind(tx, row, goal, options, commit_hash=row.commit_hash)
    said = {"task_id": row.id, "added": added.id, "files": list(clash.files[:50])}
    bus.post(tx, row.run_id, COORDINATOR, "progress", f"{row.id} conflicts with others: {added.id}", said)
    return f"its changes conflict with others' in {files}; {added.id} brings them in"


def _tell_of_end(tx: Transaction, ended: graph.Ended, update: message.Message) -> None:
    """What it reports, that it is done, and what that lets begin."""
    row = ended.task
    how = "done" if row.state == TaskState.COMPLETED else "done, with warnings"
    score = "" if row.score is None else f": {row.score:g} of 100"
    said = {"task_id": row.id, "score": row.score, "version": row.version}
    told = [update, message.checked(row.owner, f"{row.prefix.lower()}_complete", f"{row.id} is {how}{score}", said)]
    for each in ended.ready:
        said = {"task_id": each.id}
        told.append(message.checked(COORDINATOR, "task_unblocked", f"{each.id} can begin", said, each.owner))
    for start in range(0, len(told), message.MOST_AT_ONCE):
        bus.post_many(tx, row.run_id, told[start : start + message.MOST_AT_ONCE])


def _goes_on_in_session(connection: Connection, row: Row[Any]) -> bool:
    """Whether the next task of its chain is claimed, which the session that is there goes on with."""
    if not row.inner_loop:
        return False
    given = {"run_id": row.run_id, "chain": row.chain, "id": row.id}
    return connection.execute(_at_work_in_chain, given).first() is not None


# Made once: to make it takes several times as long as to run it.
_at_work_in_chain = (
    select(tasks.c.id)
    .where(
        tasks.c.run_id == bindparam("run_id"),
        tasks.c.chain == bindparam("chain"),
        tasks.c.id != bindparam("id"),
        tasks.c.state.in_(store.AT_WORK),
    )
    .limit(1)
)


def _leave(tx: Transaction, session_id: str | None) -> None:
    """A session that is not wanted any more. One without a screen ends by itself a moment later, when it has told what
    it took; the stint stops it if it stays."""
    session = None if session_id is None else session_runs.find(tx.connection, session_id)
    if session is not None and not session_runs.agent_of(session).headless:
        starting.stop_session(tx, Nothing(), id=session.session_id)
