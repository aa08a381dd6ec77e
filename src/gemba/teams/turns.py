"""A task's turn begins: its worktree, what it is to know, its dispatch, and a session for it, or words for one that
lives.

Before the transaction, and as often as need be: the worktree, which is the task's own and kept over all its attempts,
what others found out, and how the folder looks. Then all at once: the claim still holds, the dispatch is made or goes
on, the session is wanted, the attempt is written down. A crash before that leaves a claim that is begun again; one
after it leaves a turn, which the next step of the stint waits for. Blocking; called by the stint.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, Row, select

from gemba.action import Nothing
from gemba.escalations.escalation import Delivery
from gemba.escalations.store import escalations, get_locked, set_delivery
from gemba.handoff import dispatches, dispatching, envelope_files, handoffs
from gemba.handoff.dispatching import NewDispatch
from gemba.handoff.envelope import render
from gemba.handoff.snapshot import Snapshot, snapshot_together
from gemba.sessions import inputs, starting
from gemba.sessions import runs as session_runs
from gemba.sessions.agents.agent import Agent
from gemba.sessions.starting import NewSession
from gemba.sessions.worktrees import worktree
from gemba.sessions.worktrees.state import commits
from gemba.store.database import Database, Transaction
from gemba.teams import attempts, command_tasks, prompts, store
from gemba.teams.artifacts import lay_down
from gemba.teams.branches import prepare_artifacts
from gemba.teams.judged import kept
from gemba.teams.loaded import Loaded, as_knowledge
from gemba.teams.loading import load
from gemba.teams.plan import PlanTask
from gemba.teams.run import BUILTIN
from gemba.teams.standing import typable
from gemba.teams.task import TaskState
from gemba.teams.transfers import record_transfers
from gemba.text import one_line

# What a team's COMPLETE must not claim in vain; the rest is as the workspace has it.
GATE = {"files_produced": "require", "artifacts_written": "require", "files_modified": "require"}


class Turn(NamedTuple):
    """What was looked at before the transaction. Without a `dispatch` the one that there is goes on; without a
    `session` the words go to one that lives, `living`. `answers` are the cards whose answers a new session reads."""

    dispatch: dispatching.Prepared | None
    session: starting.Prepared | None
    living: str | None
    words: str
    loaded: Loaded
    agent: Agent
    before: Snapshot | None
    answers: tuple[str, ...]


class Before(NamedTuple):
    """What came before a turn of the same dispatch: how the last one broke, and all that people answered.
    `is_answered`: the turn is there because of an answer."""

    words: str = ""
    answers: tuple[Row[Any], ...] = ()
    is_answered: bool = False


class Read(NamedTuple):
    """What the database knows before a turn: what came before, whether its dispatch goes on, the session that lives on
    and where that works, the name of its worktree, its number, and what it is to know."""

    since: Before
    goes_on: bool
    living: str | None
    folder: str | None
    tree: str
    number: int
    loaded: Loaded


class Turns:
    """For one workspace and home."""

    def __init__(self, database: Database, home: Path, workspace: Path) -> None:
        self._database = database
        self._home = home
        self._workspace = str(workspace)

    def begin(self, run_id: str, task_id: str, fence: int) -> None:
        """Once for each claim, however often it is called. A GembaError says why the turn cannot begin."""
        with self._database.read() as connection:
            run, row = store.get_run(connection, run_id), store.find_task(connection, run_id, task_id)
            if row is None or not store.is_held(row, fence) or row.state != TaskState.CLAIMED:
                return
            last = attempts.latest(connection, run_id, task_id)
            is_under_way = self._is_under_way(connection, row, last)
            read = None if is_under_way else self._read(connection, run, row, last)
        if read is None:
            self._database.change(partial(_adopt, row=row))
        else:
            self._start(run, row, "started", read)

    def again(self, run_id: str, task_id: str, fence: int, words: str) -> None:
        """The next turn of a task that is at work: after a gate, or when its agent goes on. Without `words` it begins
        with what the last one came to."""
        with self._database.read() as connection:
            run, row = store.get_run(connection, run_id), store.find_task(connection, run_id, task_id)
            if row is None or not store.is_held(row, fence) or row.state != TaskState.RUNNING:
                return
            read = self._read(connection, run, row, attempts.latest(connection, run_id, task_id))
        before = read.since._replace(words=words or read.since.words)
        self._start(run, row, None, read._replace(since=before))

    def _is_under_way(self, connection: Connection, row: Row[Any], last: Row[Any] | None) -> bool:
        """Whether a turn was begun here that nobody concluded: whoever held the claim is gone, and its agent goes on
        or has ended since. Its work is not begun a second time."""
        if last is None or last.outcome is not None or last.version != row.version:
            return False
        session = session_runs.find(connection, last.session_id)
        return session is not None and session.origin == self._database.surroundings["origin"]

    def _read(self, connection: Connection, run: Row[Any], row: Row[Any], last: Row[Any] | None) -> Read:
        goes_on = _goes_on(row, last)
        living = _living(connection, row, goes_on=goes_on)
        there = None if living is None else session_runs.find(connection, living)
        number = 1 if last is None else last.number + 1
        tree = self._tree(connection, row, last)
        folder = None if there is None else there.folder
        loaded = load(connection, run, row)
        return Read(_before(connection, row, last), goes_on, living, folder, tree, number, loaded)

    def _start(self, run: Row[Any], row: Row[Any], event: str | None, read: Read) -> None:
        since, goes_on, living = read.since, read.goes_on, read.living
        if living is not None and since.is_answered:  # it reaches a session that lives by itself
            self._database.change(partial(self._go_on, row=row, event=event))
            return
        made = None if read.folder else self._worktree(run, row, read.tree)
        folder = str(read.folder) if made is None else made.folder
        loaded = lay_down(read.loaded, Path(folder))
        agent, role = self._agent(run, row), prompts.role_of(run, row.owner)
        notes = [*store.words_of(row), *([since.words] if since.words else [])]
        answered = [(each.text, each.reply_text) for each in since.answers]
        if agent.name == BUILTIN:
            answer = answered[-1][1] if answered else ""
            told = command_tasks.prompt_of(_plan_task(row), text=run.text, notes=notes, answer=answer)
        else:
            told = prompts.told(run, row, role, notes, answered) if not goes_on or living is None else since.words
        dispatch = None if goes_on else self._dispatch(run, row, role, agent, folder, loaded)
        session = None if living is not None else self._session(run, row, agent, told, read, made)
        before = None if run.branch is None or goes_on else snapshot_together(self._workspace)
        turn = Turn(dispatch, session, living, told, loaded, agent, before, tuple(each.id for each in since.answers))
        self._database.change(partial(self._begin, row=row, event=event, turn=turn))

    def _worktree(self, run: Row[Any], row: Row[Any], tree: str) -> worktree.Worktree:
        """The task's own worktree, from what it left before or from where the team is."""
        base = row.commit_hash
        if base is None and run.branch is not None:
            branch = f"refs/heads/{run.branch}"
            base = commits(self._workspace, branch).get(branch, run.base)
        made = worktree.make(self._workspace, tree, self._lives, base=base, into=run.branch)
        prepare_artifacts(made)
        return made

    def _tree(self, connection: Connection, row: Row[Any], attempt: Row[Any] | None) -> str:
        """The name of a task's worktree: one for all its sessions, unless another home had the last one, where its
        agent may live on."""
        last = None if row.session_id is None else session_runs.find(connection, row.session_id)
        if last is None or attempt is None:
            return f"{row.run_id}.{row.id}"
        is_here = last.origin == self._database.surroundings["origin"]
        is_past = attempt.outcome in attempts.BROUGHT_IN  # what is done anew begins where the team is now
        return str(last.tree) if is_here and last.tree and not is_past else f"{row.run_id}.{row.id}.{row.fence}"

    def _agent(self, run: Row[Any], row: Row[Any]) -> Agent:
        agent: Agent = self._database.surroundings["agent"](store.options_of(row).agent or run.agent)
        return agent

    def _dispatch(
        self, run: Row[Any], row: Row[Any], role: prompts.KeptRole, agent: Agent, folder: str, loaded: Loaded
    ) -> dispatching.Prepared:
        options = store.options_of(row)
        wanted = NewDispatch(
            goal=prompts.goal_of(run, row),
            acceptance_criteria=options.acceptance,
            targets=options.targets,
            role=role.name,
            upstream_roles=tuple(dict.fromkeys(each.owner for each in loaded.states if each.owner != role.name)),
            provider=agent.hooks if agent.hooks != "none" else "gemba",
            task_id=store.ref_of(run.id, row.id),
            folder=folder,
            gate=GATE,
        )
        return dispatching.prepare(self._database.surroundings, wanted)

    def _session(
        self, run: Row[Any], row: Row[Any], agent: Agent, words: str, read: Read, made: worktree.Worktree | None
    ) -> starting.Prepared:
        wanted = NewSession(
            agent=agent.name,
            task=words,
            title=one_line(f"{row.id}: {row.goal}", 200),
            id=f"{run.id}.{row.id}.{read.number}",
            bead_id=run.epic_id,
        )
        found = starting.prepare(self._database.surroundings, wanted)._replace(tree=read.tree)
        return found if made is None else found._replace(folder=made.folder, branch=made.branch)

    def _lives(self, session_id: str) -> bool:
        with self._database.read() as connection:
            row = session_runs.find(connection, session_id)
        return row is not None and row.ended_at is None

    # ---- all at once

    def _begin(self, tx: Transaction, *, row: Row[Any], event: str | None, turn: Turn) -> None:
        store.lock_run(tx, row.run_id)
        now = store.lock_task(tx, row.run_id, row.id)
        if (now.state, now.fence) != (row.state, row.fence):
            return
        if turn.session is not None:
            _read_by_agent(tx, turn.answers)  # before the dispatch is locked, as where they are given
        dispatch = self._dispatched(tx, now, turn)
        if turn.session is not None and now.session_id is not None:
            _leave(tx, now, has_handed_over=event is None)
        if turn.session is None:
            session_id = str(turn.living)
            self._tell_living(tx, session_id, dispatch, turn)
        else:
            session_id = self._want(tx, turn, turn.session, dispatch)
        began = self._write_down(tx, now, event, session_id, dispatch, turn.before)
        record_transfers(tx, row.run_id, began, turn.loaded)

    def _go_on(self, tx: Transaction, *, row: Row[Any], event: str | None) -> None:
        """The session lives, and what it waited for is on its way to it."""
        now = store.lock_task(tx, row.run_id, row.id)
        if (now.state, now.fence) == (row.state, row.fence):
            dispatch = dispatches.view(dispatches.get(tx.connection, now.dispatch_id))
            self._write_down(tx, now, event, now.session_id, dispatch, None)

    def _write_down(
        self,
        tx: Transaction,
        row: Row[Any],
        event: str | None,
        session_id: str,
        dispatch: dispatches.Dispatch,
        before: Snapshot | None,
    ) -> Row[Any]:
        changes: dict[str, Any] = {"session_id": session_id, "dispatch_id": dispatch.id, "attempt": row.attempt + 1}
        changes["started_at"] = row.started_at or tx.now
        attempts.leave(tx, row, "released" if event else "next_turn")
        began = store.move_task(tx, row, event, **changes) if event else store.change_task(tx, row, **changes)
        attempts.begin(tx, began, session_id=session_id, dispatch_id=dispatch.id, turn=dispatch.turn, before=before)
        return began

    def _dispatched(self, tx: Transaction, row: Row[Any], turn: Turn) -> dispatches.Dispatch:
        if turn.dispatch is not None:
            return dispatching.create_dispatch(tx, turn.dispatch, team=as_knowledge(turn.loaded))
        found = dispatches.get_locked(tx, row.dispatch_id)
        last = attempts.latest(tx.connection, row.run_id, row.id)
        if last is not None and last.dispatch_id == found.id and last.turn == found.turn:
            dispatches.start_turn(tx, found, by_person=False, reason="the next turn of its task")
        return dispatches.view(dispatches.get(tx.connection, found.id))

    def _want(self, tx: Transaction, turn: Turn, session: starting.Prepared, dispatch: dispatches.Dispatch) -> str:
        task = session.wanted.task
        if turn.agent.hooks == "none" and turn.agent.name != BUILTIN and dispatch.envelope is not None:
            task = f"{task}\n\n{render(dispatch.envelope)}"  # no hook of its client brings it
        wanted = msgspec.structs.replace(session.wanted, dispatch_id=dispatch.id, task=task)
        return starting.want_session(tx, session._replace(wanted=wanted)).id

    def _tell_living(self, tx: Transaction, session_id: str, dispatch: dispatches.Dispatch, turn: Turn) -> None:
        words = turn.words
        if turn.dispatch is not None and dispatch.envelope is not None:
            words = f"{words}\n\n{render(dispatch.envelope)}"
        inputs.send(tx, inputs.Send(words), id=session_id)
        if turn.dispatch is not None:
            tx.committed.append(partial(envelope_files.write_given, self._home, session_id, dispatch.id))


def _adopt(tx: Transaction, *, row: Row[Any]) -> None:
    now = store.lock_task(tx, row.run_id, row.id)
    if (now.state, now.fence) == (row.state, row.fence):
        store.move_task(tx, now, "started")


def _leave(tx: Transaction, row: Row[Any], *, has_handed_over: bool) -> None:
    """The session that the task had before, wherever it lives on: it is not wanted any more. One without a screen that
    has handed over here ends by itself, when it has told what it took; at the latest with its task."""
    session = session_runs.find(tx.connection, row.session_id)
    if session is None or session.ended_at is not None:
        return
    last = attempts.latest(tx.connection, row.run_id, row.id)
    has_handed_over = has_handed_over or (last is not None and last.outcome == "held")
    is_here = session.origin == tx.surroundings["origin"]
    if not (has_handed_over and is_here and session_runs.agent_of(session).headless):
        starting.stop_session(tx, Nothing(), id=session.session_id)


def _read_by_agent(tx: Transaction, answers: Sequence[str]) -> None:
    """They stand in the prompt of a session, whichever it was that asked."""
    for id in answers:
        set_delivery(tx, get_locked(tx, id), Delivery.DELIVERED)


def _plan_task(row: Row[Any]) -> PlanTask:
    blockers = tuple(store.blockers_of(row))
    return PlanTask(row.id, row.owner, row.goal, blockers, row.chain, row.inner_loop, store.options_of(row))


def _goes_on(row: Row[Any], last: Row[Any] | None) -> bool:
    """Whether its dispatch has another turn: one of this version that is not complete, or did not pass its gate."""
    is_same = last is not None and last.version == row.version and last.outcome not in attempts.BROUGHT_IN
    return row.dispatch_id is not None and is_same


def _living(connection: Connection, row: Row[Any], *, goes_on: bool) -> str | None:
    """The session that a turn is for without starting one: the task's own, else, where one session takes the tasks of a
    chain, that of the task before it, if this one waited for nothing else."""
    if goes_on:
        return typable(connection, row.session_id)
    before = store.blockers_of(row)
    if not row.inner_loop or len(before) != 1:
        return None
    other = store.get_task(connection, row.run_id, before[0])
    return typable(connection, other.session_id) if other.chain == row.chain else None


def _before(connection: Connection, row: Row[Any], last: Row[Any] | None) -> Before:
    if last is None or row.dispatch_id is None or last.version != row.version:
        return Before()
    turn = dispatches.get(connection, row.dispatch_id).turn
    turns = {each.escalation_id: each.turn for each in handoffs.asked_of(connection, row.dispatch_id)}
    answered = (escalations.c.id.in_(turns), escalations.c.resolved, escalations.c.reply_text != "")
    found = connection.execute(select(escalations).where(*answered)).all()
    answers = sorted(found, key=lambda each: (turns[each.id], each.id))
    is_answered = turn > last.turn and any(turns[each.id] == turn - 1 for each in answers)
    return Before(_words_after(last), tuple(answers), is_answered)


def _words_after(last: Row[Any]) -> str:
    match last.outcome:
        case "error":
            return prompts.broken(last.trouble or "")
        case "repair":
            return prompts.repaired(last.trouble or "")
        case "sent_back":
            return kept(last).words
    return ""
