"""Team runs at work in one process: what can begin is claimed, what was answered goes on, what nobody holds is given
back.

A round looks at everything and can be repeated at any time, so that a kill at any point is made up for by the next one,
of this process or of another. It comes after events that may change what is decided, and at moments that are known
before. While nothing runs it waits for a run to start, and costs nothing. Run by `app`; blocking but for `keep`.
"""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from pathlib import Path

import structlog
from sqlalchemy import Connection, select

from gemba import clock
from gemba.event import Filter
from gemba.handoff.dispatches import dispatches
from gemba.store.database import REFUSALS, Database, Transaction
from gemba.store.hub import Hub
from gemba.store.patience import patiently
from gemba.teams import attempts, claiming, store
from gemba.teams.claiming import Holder, Leases
from gemba.teams.run import RunState
from gemba.teams.tables import runs, tasks
from gemba.teams.task import TaskState, WaitingFor

# What may change what is decided.
NEWS = Filter(
    frozenset(
        {"team.started", "team.changed", "team.task_changed", "dispatch.moved", "run.ended", "session_transition"}
    )
)
STARTS = Filter(frozenset({"team.started", "team.changed"}))
ACTOR = "team"
_BEATS_A_LEASE = 3
_SOON = 0.05
_TOGETHER = 0.2
_AFTER_A_FAULT = 30.0
_ANSWERABLE = (WaitingFor.APPROVAL, WaitingFor.INPUT, WaitingFor.BLOCKED)

log = structlog.get_logger("gemba.teams")


class Crew:
    """For one workspace and home. `executor` is the name of this process among those that run flows."""

    def __init__(self, database: Database, workspace: Path, origin: str, lease: int) -> None:
        self._database = database
        self._workspace = str(workspace)
        self._origin = origin
        self.leases = Leases(lease)
        self.executor = origin

    def holder(self) -> Holder:
        return Holder(self.executor, self._origin, self._workspace, self.leases.lease)

    async def keep(self, hub: Hub) -> None:
        """For ever."""
        beats = asyncio.create_task(self._beat(hub))
        try:
            while True:
                seen = hub.last
                seconds, news = await patiently(self._round_or_rest, "team runs")
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await hub.wait_for(seen, news)
                        if news is NEWS:  # one thing follows on another: they are looked at together
                            await asyncio.sleep(_TOGETHER)
        finally:
            beats.cancel()

    def _round_or_rest(self) -> tuple[float | None, Filter]:
        """A fault in one round must not end the server: it is told, and tried again after a while."""
        try:
            return self.round()
        except REFUSALS:
            raise  # the database's; it is tried again
        except Exception:
            log.exception("a round of team runs failed")
            return _AFTER_A_FAULT, STARTS

    def round(self) -> tuple[float | None, Filter]:
        """How long nothing has to be done, as far as is known, and which events end that before."""
        with self._database.read() as connection:
            if not self._is_any_open(connection):
                return None, STARTS
            answered = self._answered(connection)
        for run_id, task_id in answered:
            self._database.change(partial(_take_up, run_id=run_id, task_id=task_id), ACTOR)
        if self._can_claim():
            self._database.change(partial(claiming.claim_ready, holder=self.holder()), ACTOR)
        with self._database.read() as connection:
            moment = claiming.next_moment(connection, self.holder(), clock.now())
        seconds = None if moment is None else max(_SOON, (moment - clock.now()) / clock.SECOND)
        return seconds, NEWS

    def _is_any_open(self, connection: Connection) -> bool:
        open_ = (runs.c.workspace == self._workspace, runs.c.state.in_((RunState.RUNNING, RunState.PAUSED)))
        return connection.execute(select(runs.c.id).where(*open_).limit(1)).first() is not None

    def _can_claim(self) -> bool:
        """Read first: most rounds find nothing to claim, and keep nobody from writing."""
        mine = select(runs.c.id).where(runs.c.workspace == self._workspace, runs.c.state == RunState.RUNNING)
        with self._database.read() as connection:
            ids = connection.execute(mine).scalars().all()
            return any(claiming.has_ready(connection, id, self.holder(), clock.now()) for id in ids)

    def _answered(self, connection: Connection) -> list[tuple[str, str]]:
        """Tasks that waited for a person, whose dispatch has gone on to its next turn since."""
        waiting = (tasks.c.state == TaskState.WAITING, tasks.c.waiting_for.in_(_ANSWERABLE))
        query = (
            select(tasks.c.run_id, tasks.c.id, dispatches.c.turn, dispatches.c.id.label("dispatch_id"))
            .join(runs, runs.c.id == tasks.c.run_id)
            .join(dispatches, dispatches.c.id == tasks.c.dispatch_id)
            .where(runs.c.workspace == self._workspace, *waiting)
        )
        found = []
        for row in connection.execute(query).all():
            last = attempts.latest(connection, row.run_id, row.id)
            if last is not None and last.dispatch_id == row.dispatch_id and row.turn > last.turn:
                found.append((row.run_id, row.id))
        return found

    # ---- leases

    async def _beat(self, hub: Hub) -> None:
        """Say what is held here, and give back what nobody holds; while nothing runs, wait for something to."""
        while True:
            seen = hub.last
            if not await patiently(self._beat_or_tell, "team leases"):
                await hub.wait_for(seen, STARTS)
            await asyncio.sleep(self.leases.lease / clock.SECOND / _BEATS_A_LEASE)

    def _beat_or_tell(self) -> bool:
        """A fault with one claim must not end the beats of all."""
        try:
            return self._beat_once()
        except REFUSALS:
            raise  # the database's; it is tried again
        except Exception:
            log.exception("the claims of team runs could not be kept")
            return True

    def _beat_once(self) -> bool:
        """Whether anything runs."""
        with self._database.read() as connection:
            if not self._is_any_open(connection) and not self.leases.held:
                return False
            stale = self.leases.stale(connection, self._workspace)
        if self.leases.held:
            self._database.change(self.leases.beat, ACTOR)
        for claim in stale:
            log.warning("a task's worker is not heard of, it is given back", run=claim[0], task=claim[1])
            self._database.change(partial(claiming.give_back, claim=claim), ACTOR)
        return True


def _take_up(tx: Transaction, *, run_id: str, task_id: str) -> None:
    """The answer is there: any worker goes on with it."""
    store.lock_run(tx, run_id)
    row = store.lock_task(tx, run_id, task_id)
    last = attempts.latest(tx.connection, run_id, task_id)
    if row.state != TaskState.WAITING or row.waiting_for not in _ANSWERABLE or last is None:
        return
    turn = tx.connection.execute(select(dispatches.c.turn).where(dispatches.c.id == row.dispatch_id)).scalar_one()
    if turn > last.turn:
        store.move_task(tx, row, "released", escalation_id=None, not_before=0)
