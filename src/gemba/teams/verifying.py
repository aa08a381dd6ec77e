"""The gate of a task: its work is saved, measured and reviewed, then merged, and only then is it done.

    running → verifying: saved as a commit → measured → judged, which is kept with the attempt
            → sent back, given up, or merged into the run's branch → done, with all that follows for other tasks

Saving and merging can be repeated and do nothing twice; a verdict that is kept is not made anew after a kill. A merge
that meets a conflict becomes a task of its own: what was done stays in its branch until that one has brought it in.
Blocking; called where turns are concluded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, Row, select

from gemba.action import Nothing
from gemba.handoff import dispatches, handoffs
from gemba.sessions import runs as session_runs
from gemba.sessions import starting
from gemba.sessions.worktrees import worktree
from gemba.store.database import Database, Transaction
from gemba.teams import attempts, branches, bus, claiming, deciding, finishing, graph, knowledge, looking, store
from gemba.teams.artifacts import CollectedArtifact, collect
from gemba.teams.claiming import Holder
from gemba.teams.deciding import ACCEPT, RETRY, REVISE, SKIP, Claim
from gemba.teams.gates import Gate, judge
from gemba.teams.measuring import measure
from gemba.teams.prompts import sent_back
from gemba.teams.reviewer import review
from gemba.teams.run import COORDINATOR
from gemba.teams.tables import tasks
from gemba.teams.task import TaskState
from gemba.teams.turns import Turns, tree_of

_gate = msgspec.json.Decoder(Gate)


class Work(NamedTuple):
    """A task that was handed in: its rows, what it handed over, and where it lies."""

    run: Row[Any]
    task: Row[Any]
    attempt: Row[Any]
    handoff: Row[Any] | None
    tree: worktree.Worktree | None
    folder: str


class Verifying:
    """For one workspace and home; `holder` tells who claims what begins next."""

    def __init__(self, database: Database, workspace: Path, turns: Turns, holder: Callable[[], Holder]) -> None:
        self._database = database
        self._workspace = str(workspace)
        self._turns = turns
        self._holder = holder

    def verify(self, run_id: str, task_id: str, fence: int) -> None:
        claim = (run_id, task_id, fence)
        if not self._database.change(partial(_submit, claim=claim)):
            return
        work = self._work(claim)
        commit = self._save(work)
        artifacts = collect(work.folder, task_id)
        gate = self._judged(claim, work, commit, artifacts)
        if gate.outcome == "sent_back":
            self._turns.again(*claim, sent_back(gate))
        elif gate.outcome in ("passed", "passed_with_warnings"):
            self._bring_in(claim, work, gate, commit, artifacts)

    def _work(self, claim: Claim) -> Work:
        run_id, task_id, _ = claim
        with self._database.read() as connection:
            run, task = store.get_run(connection, run_id), store.get_task(connection, run_id, task_id)
            attempt = attempts.latest(connection, run_id, task_id)
            assert attempt is not None, "a task that is handed in was begun"
            dispatch = dispatches.get(connection, attempt.dispatch_id)
            handoff = None if dispatch.accepted_id is None else handoffs.find(connection, dispatch.accepted_id)
            session = session_runs.find(connection, attempt.session_id)
        name = (session.tree if session is not None else None) or tree_of(task)
        return Work(run, task, attempt, handoff, worktree.find(self._workspace, name), dispatch.folder)

    def _save(self, work: Work) -> str | None:
        if work.run.branch is None or work.tree is None:
            return None
        return branches.save_work(work.tree, f"{work.task.id}: {work.task.goal}").commit

    # ---- the gate

    def _judged(self, claim: Claim, work: Work, commit: str | None, artifacts: list[CollectedArtifact]) -> Gate:
        """The verdict on this attempt: the one that is kept, or a new one, kept with what follows from it."""
        if work.attempt.gate is not None:
            return _gate.decode(work.attempt.gate)
        with self._database.read() as connection:
            submitted = looking.look(connection, self._workspace, work, commit, artifacts)
        checks, reviewed = measure(submitted), review(submitted)
        gate = judge(checks, reviewed, author=work.task.owner, attempt=_tries(work))
        found = {"gate": gate, "checks": checks, "review": reviewed}
        self._database.change(partial(_keep, claim=claim, gate=gate, found=found, commit=commit, handoff=work.handoff))
        return gate

    def bring_in_accepted(self, run_id: str, task_id: str, fence: int) -> None:
        """What somebody has taken as it is: merged, and done with a warning. It may be called again."""
        with self._database.read() as connection:
            row = store.find_task(connection, run_id, task_id)
        if row is None or row.accepted is None or row.fence != fence:
            return
        work = self._work((run_id, task_id, fence))
        artifacts = collect(work.folder, task_id)
        merged = None
        if row.commit_hash is not None and work.run.branch is not None:
            merged = branches.merge(self._workspace, work.run.branch, row.commit_hash, f"{row.id}: {row.goal}")
        self._database.change(partial(self._accept, row=row, work=work, artifacts=artifacts, merged=merged))
        self._let_go(work, artifacts)

    def _accept(
        self,
        tx: Transaction,
        *,
        row: Row[Any],
        work: Work,
        artifacts: list[CollectedArtifact],
        merged: branches.Merged | branches.Conflicts | None,
    ) -> None:
        run = store.lock_run(tx, row.run_id)
        now = store.lock_task(tx, row.run_id, row.id)
        if now.accepted is None or (now.state, now.fence) != (row.state, row.fence):
            return
        if isinstance(merged, branches.Conflicts):
            self._put_conflict(tx, run, now, merged)
        document = {} if work.handoff is None else handoffs.document_of(work.handoff) or {}
        knowledge.publish(tx, now, document, artifacts)
        at = merged.commit if isinstance(merged, branches.Merged) else None
        self._advance(tx, graph.end(tx, now, "accepted", reason=now.accepted, accepted=None, merged=at, executor=None))

    # ---- the merge

    def _bring_in(
        self, claim: Claim, work: Work, gate: Gate, commit: str | None, artifacts: list[CollectedArtifact]
    ) -> None:
        merged = None
        if commit is not None and work.run.branch is not None:
            words = f"{work.task.id}: {work.task.goal}"
            merged = branches.merge(self._workspace, work.run.branch, commit, words)
        if isinstance(merged, branches.Conflicts):
            self._database.change(
                partial(self._clash, claim=claim, gate=gate, work=work, clash=merged, artifacts=artifacts)
            )
        else:
            at = None if merged is None else merged.commit
            self._database.change(
                partial(self._complete, claim=claim, gate=gate, work=work, artifacts=artifacts, merged=at)
            )
        self._let_go(work, artifacts)

    def _complete(
        self,
        tx: Transaction,
        *,
        claim: Claim,
        gate: Gate,
        work: Work,
        artifacts: list[CollectedArtifact],
        merged: str | None,
        reason: str | None = None,
    ) -> None:
        row = deciding.held(tx, claim)
        if row is None or row.state != TaskState.VERIFYING:
            return
        document = {} if work.handoff is None else handoffs.document_of(work.handoff) or {}
        knowledge.publish(tx, row, document, artifacts)
        attempts.change_latest(tx, row, outcome=gate.outcome, ended_at=tx.now)
        said = {"task_id": row.id, "score": gate.score, "attempt": row.attempt}
        words = f"{row.id} is {'done' if gate.outcome == 'passed' else 'done with warnings'}: {gate.score:g} of 100"
        bus.post(tx, row.run_id, row.owner, f"{row.prefix.lower()}_complete", words, said)
        ended = graph.end(tx, row, gate.outcome, merged=merged, executor=None, reason=reason)
        self._advance(tx, ended)

    def _advance(self, tx: Transaction, ended: graph.Ended) -> None:
        """What waited for it alone begins at once, without a round of anybody's."""
        run_id = ended.task.run_id
        for each in ended.ready:
            bus.post(
                tx, run_id, COORDINATOR, "task_unblocked", f"{each.id} can begin", {"task_id": each.id}, each.owner
            )
        if ended.ready or not finishing.finish_if_over(tx, run_id):
            claiming.claim_in(tx, store.get_run(tx.connection, run_id), self._holder())
        if not _goes_on_in_session(tx.connection, ended.task):
            starting.stop_session(tx, Nothing(), id=str(ended.task.session_id))

    def _clash(
        self,
        tx: Transaction,
        *,
        claim: Claim,
        gate: Gate,
        work: Work,
        clash: branches.Conflicts,
        artifacts: list[CollectedArtifact],
    ) -> None:
        """Somebody has changed the same: a task of the same role brings it in, before anything that waits for it."""
        row = deciding.held(tx, claim)
        if row is None or row.state != TaskState.VERIFYING:
            return
        reason = self._put_conflict(tx, work.run, row, clash)
        worse = msgspec.structs.replace(gate, outcome="passed_with_warnings")
        self._complete(tx, claim=claim, gate=worse, work=work, artifacts=artifacts, merged=None, reason=reason)

    def _put_conflict(self, tx: Transaction, run: Row[Any], row: Row[Any], clash: branches.Conflicts) -> str:
        """Why the task's work is not in the run's branch yet."""
        files = ", ".join(clash.files[:10]) + (f" and {len(clash.files) - 10} more" if len(clash.files) > 10 else "")
        goal = (
            f"Bring the work of {row.id} into the team's branch: both changed {files}. "
            f"Run `git merge {run.branch}` in your folder, resolve the conflicts so that neither side's work is lost, and verify the result."
        )
        added = graph.put_behind(tx, run, row, goal, commit_hash=row.commit_hash)
        said = {"task_id": row.id, "added": added.id, "files": list(clash.files[:50])}
        bus.post(tx, row.run_id, COORDINATOR, "progress", f"{row.id} conflicts with others: {added.id}", said)
        return f"its changes conflict with others' in {files}; {added.id} brings them in"

    def _let_go(self, work: Work, artifacts: list[CollectedArtifact]) -> None:
        """Its worktree, once its work is in the run's branch and nobody lives there; what is only there keeps it."""
        if work.tree is not None and work.run.branch is not None:
            branches.let_go(self._workspace, work.tree.session_id, {each.name: each.digest for each in artifacts})


def _submit(tx: Transaction, *, claim: Claim) -> bool:
    """Whether the task is being verified, by this claim."""
    row = deciding.held(tx, claim)
    if row is None:
        return False
    if row.state == TaskState.RUNNING:
        store.move_task(tx, row, "submitted")
    return True


def _tries(work: Work) -> int:
    """How often this version was judged, with this time."""
    return int(work.task.judged) + 1


def _keep(
    tx: Transaction, *, claim: Claim, gate: Gate, found: dict[str, Any], commit: str | None, handoff: Row[Any] | None
) -> None:
    row = deciding.held(tx, claim)
    if row is None or row.state != TaskState.VERIFYING:
        return
    attempts.change_latest(tx, row, **found, handoff_id=None if handoff is None else handoff.id)
    kept = {"gate": msgspec.json.encode(gate).decode(), "score": gate.score, "judged": row.judged + 1}
    row = store.change_task(tx, row, commit_hash=commit, **kept)
    if gate.outcome == "sent_back":
        attempts.change_latest(tx, row, outcome="sent_back", ended_at=tx.now)
        store.move_task(tx, row, "sent_back", reason=gate.reason)
    elif gate.outcome == "given_up":
        attempts.change_latest(tx, row, outcome="given_up", ended_at=tx.now)
        given_up = store.move_task(tx, row, "given_up", reason=gate.reason, executor=None)
        text = sent_back(gate)
        deciding.ask(tx, given_up, f"{row.id} does not pass its gate", text, (ACCEPT, RETRY, REVISE, SKIP))


def _goes_on_in_session(connection: Connection, row: Row[Any]) -> bool:
    """Whether the next task of its chain was claimed for the session that is there."""
    if not row.inner_loop or row.session_id is None:
        return False
    others = (tasks.c.chain == row.chain, tasks.c.id != row.id, tasks.c.state.in_(store.AT_WORK))
    mine = select(tasks.c.id).where(tasks.c.run_id == row.run_id, *others)
    return connection.execute(mine.limit(1)).first() is not None
