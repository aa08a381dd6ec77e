"""One claim of a task, from its beginning to where somebody else has to go on: a durable flow.

    begin a turn → wait till it is over, or handed over → what follows: the check of what was handed over and the gate,
                   a person, another turn, an error
                 → when its work is in and its session over: its worktree goes

Each step may be repeated after a kill: it looks where the task stands, under the number of its claim, before it does
anything. A turn that waits costs no thread and no query. Whoever lost the claim ends here without a word, and what its
session still does is nobody's: it works in a folder of its own, and only what a claim hands over is merged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from gemba import clock
from gemba.action import Nothing
from gemba.escalations import handoff_flows
from gemba.escalations.handoff_flows import Left
from gemba.event import Filter
from gemba.sessions import runs as session_runs
from gemba.sessions import starting
from gemba.store.database import Transaction
from gemba.teams import attempts, standing, store
from gemba.teams.bringing_in import BringingIn
from gemba.teams.claiming import BRING_IN, STINT, Leases
from gemba.teams.concluding import Concluding
from gemba.teams.task import TaskState

if TYPE_CHECKING:
    from gemba.flows.engine import Flow
    from gemba.flows.launch import FlowFunction

# The events with which one of these may have become necessary.
NEWS = Filter(frozenset({"team.task_changed", "team.finished"}))

TURN = "turn"


class Stints:
    """For one workspace and home. `leases` keeps a claim for as long as its stint runs here."""

    def __init__(self, concluding: Concluding, bringing_in: BringingIn, leases: Leases) -> None:
        self._concluding = concluding
        self._bringing_in = bringing_in
        self._leases = leases

    @property
    def table(self) -> Mapping[str, FlowFunction]:
        return {STINT: self.work, BRING_IN: self.bring_in}

    async def work(self, flow: Flow, run_id: str, task_id: str, fence: int, since: int) -> None:
        claim = (run_id, task_id, fence)
        with self._leases.holding(claim):
            at = await flow.call(self._concluding.begin, *claim)
            while at["next"] == TURN:
                refs = [store.ref_of(run_id, task_id), at["dispatch_id"], at["session_id"]]
                due = None if not at["seconds"] else at["began"] + at["seconds"] * clock.SECOND
                at = await flow.follow(refs, is_over, self._concluding.conclude, *claim, since=at["began"], due=due)
        await self._let_go(flow, *claim)

    async def bring_in(self, flow: Flow, run_id: str, task_id: str, fence: int) -> None:
        await flow.call(self._bringing_in.bring_in_accepted, run_id, task_id, fence)
        await self._let_go(flow, run_id, task_id, fence)

    async def _let_go(self, flow: Flow, run_id: str, task_id: str, fence: int) -> None:
        left = await flow.call(self._bringing_in.left_by, run_id, task_id, fence)
        if left is None:
            return
        ids = left["sessions"]
        if not await flow.until(ids, have_ended, ids, since=left["since"], due=left["by"]):
            await flow.change(stop, ids)
            await flow.until(ids, have_ended, ids, since=left["since"], due=None)
        await flow.tidy(self._bringing_in.let_go, run_id, task_id, fence)


def have_ended(connection: Connection, session_ids: list[str]) -> bool:
    found = session_runs.of_sessions(connection, session_ids).values()
    return all(session.ended_at is not None for session in found)


def stop(tx: Transaction, session_ids: list[str]) -> None:
    """Those that should have ended by themselves."""
    for id in session_runs.of_sessions(tx.connection, session_ids):
        starting.stop_session(tx, Nothing(), id=id)


def is_over(connection: Connection, run_id: str, task_id: str, fence: int) -> bool | Left:
    """Whether a turn is over, or its claim; or what was handed over and is left to the stint to check."""
    row = store.find_task(connection, run_id, task_id)
    if row is None or not store.is_held(row, fence) or row.state != TaskState.RUNNING:
        return True
    last = attempts.latest(connection, run_id, task_id)
    if last is None:
        return True
    if (left := handoff_flows.left_of(connection, last.dispatch_id)) is not None:
        return left
    return standing.next_of(standing.read(connection, last.session_id, last.dispatch_id, last.turn)) is not None
