"""A task's turn begins: its worktree, what it is to know, its dispatch, and a session for it, or words for one that
lives.

Before the transaction, and as often as need be: the worktree, which is the task's own and kept over all its attempts,
what others found out, and how the folder looks. Then all at once: the claim still holds, the dispatch is made or goes
on, the session is wanted, the attempt is written down. A crash before that leaves a claim that is begun again; one
after it leaves a turn, which the next step of the stint waits for. Blocking; called by the stint.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, Row, select

from gemba.escalations.store import escalations
from gemba.handoff import dispatches, dispatching, envelope_files, handoffs
from gemba.handoff.dispatching import NewDispatch
from gemba.handoff.envelope import render
from gemba.sessions import inputs, starting
from gemba.sessions import runs as session_runs
from gemba.sessions.agents.agent import Agent
from gemba.sessions.starting import NewSession
from gemba.sessions.worktrees import worktree
from gemba.store.database import Database, Transaction
from gemba.teams import attempts, command_tasks, knowledge, prompts, store
from gemba.teams.roles_kept import KeptRole, role_of
from gemba.teams.run import BUILTIN
from gemba.teams.task import TaskState

# What a team's COMPLETE must not claim in vain; the rest is as the workspace has it.
GATE = {"files_produced": "require", "artifacts_written": "require", "files_modified": "require"}


class Turn(NamedTuple):
    """What was looked at before the transaction. Without a `dispatch` the one that there is goes on; without a
    `session` the words go to one that lives."""

    dispatch: dispatching.Prepared | None
    session: starting.Prepared | None
    words: str
    folder: str
    loaded: knowledge.Loaded


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
        self._start(run, row, "started", self._given(run, row))

    def again(self, run_id: str, task_id: str, fence: int, words: str) -> None:
        """The next turn of a task that is at work: after a gate, a repair, or when its agent goes on."""
        with self._database.read() as connection:
            run, row = store.get_run(connection, run_id), store.find_task(connection, run_id, task_id)
        if row is not None and store.is_held(row, fence) and row.state == TaskState.RUNNING:
            self._start(run, row, None, words)

    def _given(self, run: Row[Any], row: Row[Any]) -> str:
        """What a turn begins with that follows on a wait or on an attempt that broke; nothing for the first one."""
        with self._database.read() as connection:
            return _answer_to(connection, row)

    def _start(self, run: Row[Any], row: Row[Any], event: str | None, words: str) -> None:
        with self._database.read() as connection:
            goes_on = row.dispatch_id is not None and dispatches.get(connection, row.dispatch_id).completed_at is None
            lives = row.session_id is not None and self._lives(row.session_id)
            loaded = knowledge.load(connection, run, row)
        if lives and goes_on and event == "started":  # the answer reaches it by itself
            self._database.change(partial(self._go_on, row=row))
            return
        folder = self._folder(run, row)
        knowledge.lay_down(loaded, folder)
        agent = self._agent(run, row)
        role = role_of(run, row.owner)
        told = prompts.told(run, row, role, words, loaded)
        if agent.name == BUILTIN:
            told = command_tasks.prompt_of(row.id, store.options_of(row), told, words)
        dispatch = None if goes_on else self._dispatch(run, row, role, agent, folder, loaded)
        session = None if lives and not agent.headless else self._session(run, row, agent, told)
        turn = Turn(dispatch, session, told, folder, loaded)
        self._database.change(partial(self._begin, row=row, event=event, turn=turn, agent=agent))

    def _folder(self, run: Row[Any], row: Row[Any]) -> str:
        tip = None if run.branch is None else row.commit_hash or run.branch
        return worktree.make(self._workspace, tree_of(row), self._lives, base=tip, into=run.branch).folder

    def _agent(self, run: Row[Any], row: Row[Any]) -> Agent:
        name = store.options_of(row).agent or run.agent
        agent: Agent = self._database.surroundings["agent"](name)
        return agent

    def _dispatch(
        self, run: Row[Any], row: Row[Any], role: KeptRole, agent: Agent, folder: str, loaded: knowledge.Loaded
    ) -> dispatching.Prepared:
        options = store.options_of(row)
        wanted = NewDispatch(
            goal=prompts.goal_of(run, row),
            acceptance_criteria=options.acceptance,
            targets=options.targets,
            role=role.name,
            upstream_roles=tuple(dict.fromkeys(loaded.roles)),
            session_id=None,
            provider=agent.hooks if agent.hooks != "none" else "gemba",
            task_id=store.ref_of(run.id, row.id),
            folder=folder,
            gate=GATE,
        )
        made = dispatching.prepare(self._database.surroundings, wanted)
        return made._replace(team=knowledge.as_knowledge(loaded))

    def _session(self, run: Row[Any], row: Row[Any], agent: Agent, words: str) -> starting.Prepared:
        with self._database.read() as connection:
            number = attempts.count(connection, run.id, row.id) + 1
        wanted = NewSession(
            agent=agent.name,
            task=words,
            title=f"{row.id}: {row.goal}"[:200],
            id=f"{run.id}.{row.id}.{number}",
            bead_id=run.epic_id,
        )
        return starting.prepare(self._database.surroundings, wanted)._replace(tree=tree_of(row))

    # ---- all at once

    def _begin(self, tx: Transaction, *, row: Row[Any], event: str | None, turn: Turn, agent: Agent) -> None:
        now = store.lock_task(tx, row.run_id, row.id)
        if (now.state, now.fence) != (row.state, row.fence):
            return
        dispatch = self._dispatched(tx, now, turn)
        if turn.session is None:
            session_id = str(now.session_id)
            self._tell_living(tx, session_id, dispatch, turn, agent)
        else:
            session_id = self._want(tx, turn.session, dispatch, agent)
        changes = {"session_id": session_id, "dispatch_id": dispatch.id, "started_at": now.started_at or tx.now}
        changes["attempt"] = now.attempt + (1 if event == "started" else 0)
        began = self._move(tx, now, event, changes)
        attempts.begin(tx, began, session_id=session_id, dispatch_id=dispatch.id, turn=dispatch.turn)
        knowledge.record_transfers(tx, began, turn.loaded)

    def _move(self, tx: Transaction, row: Row[Any], event: str | None, changes: dict[str, Any]) -> Row[Any]:
        if event is None:
            return store.change_task(tx, row, **changes)
        return store.move_task(tx, row, event, **changes)

    def _go_on(self, tx: Transaction, *, row: Row[Any]) -> None:
        now = store.lock_task(tx, row.run_id, row.id)
        if (now.state, now.fence) != (row.state, row.fence):
            return
        began = store.move_task(tx, now, "started", attempt=now.attempt + 1)
        dispatch = dispatches.get(tx.connection, now.dispatch_id)
        attempts.begin(tx, began, session_id=now.session_id, dispatch_id=now.dispatch_id, turn=dispatch.turn)

    def _dispatched(self, tx: Transaction, row: Row[Any], turn: Turn) -> dispatches.Dispatch:
        if turn.dispatch is not None:
            return dispatching.create_dispatch(tx, turn.dispatch)
        found = dispatches.get_locked(tx, row.dispatch_id)
        last = attempts.latest(tx.connection, row.run_id, row.id)
        if last is not None and last.dispatch_id == found.id and last.turn == found.turn:
            dispatches.start_turn(tx, found, by_person=False, reason="the next turn of its task")
        return dispatches.view(dispatches.get(tx.connection, found.id))

    def _want(self, tx: Transaction, session: starting.Prepared, dispatch: dispatches.Dispatch, agent: Agent) -> str:
        task = session.wanted.task
        if agent.hooks == "none" and agent.name != BUILTIN and dispatch.envelope is not None:
            task = f"{task}\n\n{render(dispatch.envelope)}"  # no hook of its client brings it
        wanted = msgspec.structs.replace(session.wanted, dispatch_id=dispatch.id, task=task)
        return starting.want_session(tx, session._replace(wanted=wanted)).id

    def _tell_living(
        self, tx: Transaction, session_id: str, dispatch: dispatches.Dispatch, turn: Turn, agent: Agent
    ) -> None:
        words = turn.words
        if turn.dispatch is not None and dispatch.envelope is not None:
            words = f"{words}\n\n{render(dispatch.envelope)}"
        inputs.send(tx, inputs.Send(words), id=session_id)
        if turn.dispatch is not None:
            tx.committed.append(partial(envelope_files.write_given, self._home, session_id, dispatch.id))

    def _lives(self, session_id: str) -> bool:
        with self._database.read() as connection:
            row = session_runs.find(connection, session_id)
        return row is not None and row.ended_at is None


def tree_of(row: Row[Any]) -> str:
    """The name of a task's worktree."""
    return f"{row.run_id}.{row.id}"


def _answer_to(connection: Connection, row: Row[Any]) -> str:
    """What a person answered to the last turn of a task, if they were asked."""
    if row.dispatch_id is None:
        return ""
    dispatch = dispatches.get(connection, row.dispatch_id)
    asked = [each for each in handoffs.asked_of(connection, dispatch.id) if each.turn == dispatch.turn - 1]
    ids = [each.escalation_id for each in asked]
    if not ids:
        return ""
    answered = select(escalations.c.reply_text).where(escalations.c.id.in_(ids), escalations.c.resolved)
    return "\n".join(text for text in connection.execute(answered).scalars() if text)
