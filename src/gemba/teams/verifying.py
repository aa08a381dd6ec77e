"""The gate of a task: its work is saved, measured and reviewed, then brought in, and only then is it done.

    running → verifying: saved as a commit → measured → judged, which is kept with the attempt
            → sent back, given up, or merged into the run's branch → done, with all that follows for other tasks

A verdict that is kept is not made anew after a kill, and all else can be repeated. Where nothing is merged, the task is
done in the transaction that keeps it. Blocking; called where turns are concluded.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, Row, select

from gemba.errors import Conflict
from gemba.handoff.handoffs import Handoff, view
from gemba.store.database import Database, Transaction
from gemba.teams import attempts, branches, deciding, graph, looking, reviewing, store
from gemba.teams.baseline import Baseline
from gemba.teams.bringing_in import BringingIn, Keep
from gemba.teams.deciding import ACCEPT, RETRY, REVISE, SKIP, Claim
from gemba.teams.gates import Review, judge
from gemba.teams.handed_in import Work, read_work, told_before
from gemba.teams.judged import Judged, kept
from gemba.teams.loading import current_artifacts
from gemba.teams.measuring import measure
from gemba.teams.outputs import output_of
from gemba.teams.prompts import given_up
from gemba.teams.publishing import keep_artifacts
from gemba.teams.reviewer import review
from gemba.teams.said import Said
from gemba.teams.submitted import Submitted
from gemba.teams.tables import tasks
from gemba.teams.task import TaskState
from gemba.teams.turns import Turns


class Verifying:
    """For one workspace and home."""

    def __init__(self, database: Database, workspace: Path, turns: Turns, bringing_in: BringingIn) -> None:
        self._database = database
        self._workspace = workspace
        self._turns = turns
        self._bringing_in = bringing_in
        self._baseline = Baseline(workspace)

    def verify(self, run_id: str, task_id: str, fence: int, *, submitted: bool = False) -> list[Claim]:
        """What was claimed with the end of the task, if this ends it. `submitted`: it was just moved here."""
        claim = (run_id, task_id, fence)
        if not submitted and not self._database.change(partial(_submit, claim=claim)):
            return []
        with self._database.read() as connection:
            work = read_work(connection, str(self._workspace), run_id, task_id)
            others = _read_others(connection, work)
        commit = self._save(work)
        if work.attempt.gate is not None:  # kept with what follows from it
            judged, keep = kept(work.attempt), _as_it_is
        elif others.missing:
            self._database.change(partial(_have_reviewed, claim=claim, commit=commit, names=others.missing))
            return []
        else:
            judged = self._judge(work, commit, others)
            keep = partial(_keep, judged=judged, commit=commit, work=work)
        if judged.gate.outcome in ("passed", "passed_with_warnings"):
            return self._bringing_in.bring_in(claim, work, judged.gate, commit, keep)
        self._database.change(partial(_keep_alone, claim=claim, keep=keep))
        if judged.gate.outcome == "sent_back":
            self._turns.again(*claim, judged.words)
        return []

    def _save(self, work: Work) -> str | None:
        if work.run.branch is None:
            return None
        if work.tree is None:
            told = f"the worktree of {work.task.id} is gone, and with it what was not saved"
            raise Conflict(told, code="worktree_gone", found=work.task.id)
        return branches.save_work(work.tree, work.words).commit

    def _judge(self, work: Work, commit: str | None, others: Others) -> Judged:
        submitted = self._look(work, commit, others)
        checks, reviewed = measure(submitted), others.review or review(submitted)
        only = Said(submitted.envelope).surveyed
        gate = judge(checks, reviewed, author=work.task.owner, attempt=work.task.judged + 1, surveyed=only)
        return Judged(gate, tuple(checks), reviewed)

    def _look(self, work: Work, commit: str | None, others: Others) -> Submitted:
        options = store.options_of(work.task)
        handoff: Handoff | None = None if work.handoff is None else view(work.handoff)
        task = looking.Task(
            id=work.task.id,
            owner=work.task.owner,
            goal=work.task.goal,
            output=output_of(work.task.prefix, options),
            envelope=work.document,
            text=work.run.text,
            acceptance=options.acceptance,
            world=() if handoff is None else tuple(handoff.checks),
            upstream=work.given,
            tasks=others.tasks,
            names=others.names,
            told=others.told,
        )
        workspace = None if work.tree is None else self._workspace
        commands = store.settings_of(work.run).commands
        found = looking.look(
            task, work.folder, work.base, commands, workspace=workspace, before=work.before, saved=commit
        )
        return self._baseline.excuse(found, work.run.base, commands)


class Others(NamedTuple):
    """What others have to do with a task's work: who has not reviewed it yet, what the run's own reviewer says, the ids
    of the run's tasks, the names of its artifacts; and what the task's own turns before told of."""

    missing: list[str]
    review: Review | None
    tasks: tuple[str, ...]
    names: tuple[str, ...]
    told: tuple[str, ...]


def _read_others(connection: Connection, work: Work) -> Others:
    asked = (connection, work.run, work.task, work.attempt)
    ids = connection.execute(select(tasks.c.id).where(tasks.c.run_id == work.run.id)).scalars().all()
    names = tuple(row.name for row in current_artifacts(connection, work.run.id))
    missing, theirs = reviewing.missing(*asked), reviewing.review_for_gate(*asked)
    return Others(missing, theirs, tuple(ids), names, told_before(connection, work))


def _submit(tx: Transaction, *, claim: Claim) -> bool:
    """Whether the task is being verified, by this claim."""
    row = deciding.held(tx, claim)
    if row is not None and row.state == TaskState.RUNNING:
        store.move_task(tx, row, "submitted")
    return row is not None


def _have_reviewed(tx: Transaction, *, claim: Claim, commit: str | None, names: list[str]) -> None:
    row = deciding.held(tx, claim)
    if row is not None and row.state == TaskState.VERIFYING:
        store.change_task(tx, row, commit_hash=commit)
        reviewing.ask_for(tx, claim=claim, names=names)


def _as_it_is(_tx: Transaction, row: Row[Any]) -> Row[Any]:
    return row


def _keep_alone(tx: Transaction, *, claim: Claim, keep: Keep) -> None:
    row = deciding.held(tx, claim)
    if row is not None and row.state == TaskState.VERIFYING:
        keep(tx, row)


def _keep(tx: Transaction, row: Row[Any], *, judged: Judged, commit: str | None, work: Work) -> Row[Any]:
    """The verdict, with what follows from one that does not pass; the task as it is then."""
    gate, handoff_id = judged.gate, None if work.handoff is None else work.handoff.id
    attempts.change_latest(tx, row, **judged._asdict(), handoff_id=handoff_id)
    kept = {"gate": msgspec.json.encode(gate).decode(), "score": gate.score, "judged": row.judged + 1}
    row = store.change_task(tx, row, commit_hash=commit, **kept)
    if gate.outcome in ("sent_back", "given_up"):
        attempts.change_latest(tx, row, outcome=gate.outcome, ended_at=tx.now)
        row = store.move_task(tx, row, gate.outcome, reason=gate.reason)
    if gate.outcome == "given_up":
        keep_artifacts(tx, row.run_id, row, work.collect().artifacts)  # whoever decides wants to read them
        words = given_up(row.id, [each.id for each in graph.behind(tx, row)], *judged)
        row = deciding.ask(tx, row, f"{row.id} does not pass its gate", words, (ACCEPT, RETRY, REVISE, SKIP))
    return row
