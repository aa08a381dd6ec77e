"""Who works on a task: claimed with a number of its own, kept by beats, taken back where they end.

A claim and the stint that it is for are one transaction. `fence` tells a claim from those before it: whoever holds an
older one gets nothing done any more. A claim has no moment at which it ends; its holder counts `beat` up, and whoever
sees that stand still for a lease, by a clock of its own that nobody can set, gives the task back. A task that waits for
a person has no holder, and costs nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from typing import Any, Final, NamedTuple

from sqlalchemy import BindParameter, Connection, Row, Select, and_, bindparam, case, func, or_, select, tuple_, update

from gemba import clock
from gemba.flows import wanted
from gemba.sessions.runs import runs as session_runs
from gemba.store.database import Transaction
from gemba.teams import graph, store
from gemba.teams.run import RunState
from gemba.teams.tables import chains, runs, tasks
from gemba.teams.task import TaskState

STINT: Final = "team.stint"  # the flow that works on a task for as long as one claim of it lasts
BRING_IN: Final = "team.bring_in"  # the flow that merges what somebody has taken as it is

S = TaskState

Claim = tuple[str, str, int]  # of a run's task, by its fence


class Holder(NamedTuple):
    """A process that works on tasks: its name among the executors, its home and its workspace. `lease`: how long the
    session of another home is waited for."""

    executor: str
    origin: str
    workspace: str
    lease: int


def claim_ready(tx: Transaction, holder: Holder) -> list[str]:
    """Claim all that can begin within the limits of its run, the eldest run first; the refs of those tasks."""
    running = select(runs.c.id).where(runs.c.workspace == holder.workspace, runs.c.state == RunState.RUNNING)
    claimed: list[str] = []
    for run_id in tx.connection.execute(running.order_by(runs.c.created_at, runs.c.id)).scalars().all():
        if has_ready(tx.connection, run_id, holder, tx.now):
            made = claim_in(tx, store.lock_run(tx, run_id), holder)
            claimed.extend(store.ref_of(run_id, task_id) for run_id, task_id, _ in made)
    return claimed


def claim_in(tx: Transaction, run: Row[Any], holder: Holder) -> list[Claim]:
    """The same in one run, which is locked; those claims."""
    if run.state != RunState.RUNNING or run.workspace != holder.workspace:
        return []
    room = _room(tx.connection, run)
    given = {**_given(run.id, holder, tx.now), "room": max(room, 0)}
    return [_claim(tx, row, holder) for row in tx.connection.execute(_ready_in_order, given).all()]


def has_ready(connection: Connection, run_id: str, holder: Holder, now: int) -> bool:
    return connection.execute(_any_ready, _given(run_id, holder, now)).first() is not None


def next_moment(connection: Connection, holder: Holder, now: int) -> int | None:
    """When the first task that rests, or that is left to another home for a while, can begin."""
    waiting = (tasks.c.state == S.PENDING, tasks.c.open_blockers == 0)
    mine = (runs.c.workspace == holder.workspace, runs.c.state == RunState.RUNNING)
    left = and_(tasks.c.origin != holder.origin, tasks.c.changed_at > now - holder.lease)
    moments = (
        func.min(case((tasks.c.not_before > now, tasks.c.not_before))),
        func.min(case((left, tasks.c.changed_at + holder.lease))),
    )
    query = select(*moments).join(runs, runs.c.id == tasks.c.run_id).where(*mine, *waiting)
    found = [moment for moment in connection.execute(query).one() if moment is not None]
    return min(found, default=None)


def _room(connection: Connection, run: Row[Any]) -> int:
    many: int = connection.execute(_at_work, {"run_id": run.id}).scalar_one()
    # Where there is nothing to make worktrees of, they work in the workspace itself, one at a time.
    most = store.settings_of(run).max_parallel if run.branch is not None else 1
    return most - many


def _given(run_id: str, holder: Holder, now: int) -> dict[str, Any]:
    return {"run_id": run_id, "now": now, "origin": holder.origin, "left_since": now - holder.lease}


def _ready() -> Select[Any]:
    """Tasks that can begin, of no chain that was stopped. One whose session lives on in another home is left to that
    one, for as long as it may take to come back."""
    run: BindParameter[str] = bindparam("run_id")
    mine = (tasks.c.run_id == run, tasks.c.state == S.PENDING, tasks.c.open_blockers == 0)
    stopped = select(chains.c.chain).where(chains.c.run_id == run, chains.c.stopped)
    living = select(session_runs.c.session_id).where(
        session_runs.c.session_id == tasks.c.session_id, session_runs.c.ended_at.is_(None)
    )
    is_other = tasks.c.origin != bindparam("origin")
    elsewhere = and_(is_other, tasks.c.changed_at > bindparam("left_since"), living.exists())
    is_here = or_(tasks.c.origin.is_(None), ~elsewhere)
    return select(tasks).where(*mine, tasks.c.not_before <= bindparam("now"), tasks.c.chain.not_in(stopped), is_here)


# Made once: to make one of these takes several times as long as to run it.
_any_ready = _ready().limit(1)
_ready_in_order = _ready().order_by(tasks.c.place).limit(bindparam("room")).with_for_update()
_at_work = (
    select(func.count())
    .select_from(tasks)
    .where(tasks.c.run_id == bindparam("run_id"), tasks.c.state.in_(store.AT_WORK))
)


def _claim(tx: Transaction, row: Row[Any], holder: Holder) -> Claim:
    fence = row.fence + 1
    whose: dict[str, Any] = {"executor": holder.executor, "origin": holder.origin, "claimed_at": tx.now}
    store.move_task(tx, row, "claimed", fence=fence, beat=0, **whose)
    args = {"run_id": row.run_id, "task_id": row.id, "fence": fence, "since": tx.now}
    ref = store.ref_of(row.run_id, row.id)
    wanted.want(tx, STINT, [wanted.Call(f"{STINT}/{ref}/{fence}", args)], origin=holder.origin)
    return row.run_id, row.id, fence


# ---- leases ----------------------------------------------------------------------------------------------------------


class Leases:
    """The claims that are worked on in this process, and how long those of all others have stood still."""

    def __init__(self, lease: int) -> None:
        self.lease = lease
        self._held: dict[Claim, int] = {}
        self._seen: dict[Claim, tuple[int, int]] = {}
        self._looked = 0

    @contextlib.contextmanager
    def holding(self, claim: Claim) -> Iterator[None]:
        """For as long as this lasts the claim is kept. A flow that is run anew may hold it twice for a moment."""
        self._held[claim] = self._held.get(claim, 0) + 1
        try:
            yield
        finally:
            self._held[claim] -= 1
            if not self._held[claim]:
                del self._held[claim]

    @property
    def held(self) -> Collection[Claim]:
        return tuple(self._held)

    def beat(self, tx: Transaction) -> None:
        """Say of all that is held here that it is worked on."""
        for start in range(0, len(held := sorted(self._held)), 500):
            mine = tuple_(tasks.c.run_id, tasks.c.id, tasks.c.fence).in_(held[start : start + 500])
            tx.connection.execute(update(tasks).where(mine).values(beat=tasks.c.beat + 1))

    def stale(self, connection: Connection, workspace: str) -> list[Claim]:
        """The claims whose beat was the same for a lease, as far as this process has looked."""
        now = clock.elapsed()
        if now - self._looked >= self.lease:  # who has not looked cannot know who stood still meanwhile
            self._seen.clear()
        self._looked = now
        columns = (tasks.c.run_id, tasks.c.id, tasks.c.fence, tasks.c.beat)
        mine = (runs.c.workspace == workspace, tasks.c.state.in_(store.AT_WORK))
        found = connection.execute(select(*columns).join(runs, runs.c.id == tasks.c.run_id).where(*mine)).all()
        known: dict[Claim, tuple[int, int]] = {}
        for row in found:
            claim = (row.run_id, row.id, row.fence)
            beat, since = self._seen.get(claim, (-1, now))
            known[claim] = (row.beat, since if beat == row.beat else now)
        self._seen = known
        return [claim for claim, (_, since) in known.items() if claim not in self._held and now - since >= self.lease]


def give_back(tx: Transaction, claim: Claim) -> None:
    """Whoever held it is gone: the task can be claimed anew, and what it had begun goes on from there."""
    run_id, task_id, fence = claim
    store.lock_run(tx, run_id)
    row = store.lock_task(tx, run_id, task_id)
    if not store.is_held(row, fence):
        return
    released = store.move_task(tx, row, "released", executor=None, reason="whoever worked on it was not heard of")
    graph.skip_if_kept_back(tx, released)
