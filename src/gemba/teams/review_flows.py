"""A review by a role of the run: a session of its own, in a worktree of what is reviewed, gives points and a rating.

It starts once, is waited for without a thread, and ends with its message, its session, or its time. Whatever goes wrong
with it costs the review alone: the built-in reviewer's word counts instead, and the task says so. Blocking but for the
flow itself; called by the engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from sqlalchemy import Connection, Row, select, update

from gemba import clock
from gemba.action import Nothing
from gemba.errors import GembaError
from gemba.handoff import dispatching
from gemba.handoff.dispatching import NewDispatch
from gemba.sessions import runs as session_runs
from gemba.sessions import starting
from gemba.sessions.agents.agent import Agent
from gemba.sessions.starting import NewSession
from gemba.sessions.worktrees import worktree
from gemba.store.database import Database, Transaction
from gemba.teams import prompts, reviewing, store
from gemba.teams.reviewing import REVIEW, WANTED
from gemba.teams.run import BUILTIN
from gemba.teams.tables import reviews
from gemba.text import one_line

if TYPE_CHECKING:
    from gemba.flows.engine import Flow
    from gemba.flows.launch import FlowFunction

_LONGEST = 3_600  # seconds of a review where the run has no limit of its own


class ReviewFlows:
    """For one workspace and home."""

    def __init__(self, database: Database, workspace: Path) -> None:
        self._database = database
        self._workspace = str(workspace)

    @property
    def table(self) -> Mapping[str, FlowFunction]:
        return {REVIEW: self.review}

    async def review(self, flow: Flow, run_id: str, task_id: str, number: int, reviewer: str, since: int) -> None:
        place = (run_id, task_id, number, reviewer)
        begun = await flow.call(self.begin, *place)
        if "session_id" in begun:
            refs = [store.ref_of(run_id, task_id), begun["session_id"]]
            due = since + begun["seconds"] * clock.SECOND
            await flow.until(refs, is_over, *place, since=since, due=due)
        await flow.change(end, *place, begun.get("trouble", "it ended without a review"))

    def begin(self, run_id: str, task_id: str, number: int, reviewer: str) -> dict[str, Any]:
        """The session that reviews, or why there is none. It may be called again."""
        with self._database.read() as connection:
            run, task = store.get_run(connection, run_id), store.get_task(connection, run_id, task_id)
            row = _find(connection, run_id, task_id, number, reviewer)
        if row is None or row.state != WANTED:
            return {"trouble": "it is not wanted any more"}
        seconds = store.settings_of(run).task_seconds or _LONGEST
        if row.session_id is not None:
            return {"session_id": row.session_id, "seconds": seconds}
        if run.agent == BUILTIN:
            return {
                "trouble": "the built-in worker cannot review; name another agent, a person or the built-in reviewer"
            }
        try:
            session_id = self._start(run, task, number, reviewer)
        except GembaError as error:
            return {"trouble": error.message}
        return {"session_id": session_id, "seconds": seconds}

    def _start(self, run: Row[Any], task: Row[Any], number: int, reviewer: str) -> str:
        tree = f"{run.id}.{task.id}.{number}.{reviewer}"
        folder = worktree.make(self._workspace, tree, _never, base=task.commit_hash, into=run.branch).folder
        surroundings = self._database.surroundings
        agent: Agent = surroundings["agent"](run.agent)
        role = prompts.role_of(run, reviewer)
        wanted = NewDispatch(
            goal=f"Review the work of {task.id}: {task.goal}",
            role=reviewer,
            reviews=task.owner,
            provider=agent.hooks if agent.hooks != "none" else "gemba",
            task_id=store.ref_of(run.id, task.id),
            folder=folder,
        )
        dispatch = dispatching.prepare(surroundings, wanted)
        words = prompts.review_asked(run, task, role)
        title = one_line(f"{reviewer} reviews {task.id}", 200)
        named = NewSession(agent=agent.name, task=words, title=title, id=tree, bead_id=run.epic_id)
        session = starting.prepare(surroundings, named)._replace(tree=tree)
        self._database.change(
            partial(
                _begin,
                run_id=run.id,
                task_id=task.id,
                number=number,
                reviewer=reviewer,
                dispatch=dispatch,
                session=session,
            )
        )
        return tree


def _never(_holder: str) -> bool:
    return True


def _begin(
    tx: Transaction,
    *,
    run_id: str,
    task_id: str,
    number: int,
    reviewer: str,
    dispatch: dispatching.Prepared,
    session: starting.Prepared,
) -> None:
    row = _find(tx.connection, run_id, task_id, number, reviewer)
    if row is None or row.state != WANTED or row.session_id is not None:
        return
    made = dispatching.create_dispatch(tx, dispatch)
    wanted = msgspec.structs.replace(session.wanted, dispatch_id=made.id)
    started = starting.want_session(tx, session._replace(wanted=wanted))
    this = (reviews.c.run_id == run_id, reviews.c.task_id == task_id, reviews.c.number == number)
    mine = update(reviews).where(*this, reviews.c.reviewer == reviewer)
    tx.connection.execute(mine.values(session_id=started.id))


def is_over(connection: Connection, run_id: str, task_id: str, number: int, reviewer: str) -> bool:
    """It has spoken, or never will."""
    row = _find(connection, run_id, task_id, number, reviewer)
    if row is None or row.state != WANTED or row.session_id is None:
        return True
    session = session_runs.find(connection, row.session_id)
    return session is None or session.ended_at is not None


def end(tx: Transaction, run_id: str, task_id: str, number: int, reviewer: str, trouble: str) -> None:
    row = _find(tx.connection, run_id, task_id, number, reviewer)
    if row is not None and row.session_id is not None and session_runs.find(tx.connection, row.session_id) is not None:
        starting.stop_session(tx, Nothing(), id=row.session_id)
    reviewing.fail(tx, run_id, task_id, number, reviewer, trouble)


def _find(connection: Connection, run_id: str, task_id: str, number: int, reviewer: str) -> Row[Any] | None:
    this = (reviews.c.run_id == run_id, reviews.c.task_id == task_id, reviews.c.number == number)
    return connection.execute(select(reviews).where(*this, reviews.c.reviewer == reviewer)).first()
