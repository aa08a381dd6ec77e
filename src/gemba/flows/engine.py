"""Our small port over the durable engine (DBOS): start what is wanted, remember each step, carry on after a crash.

What the rest of Gemba relies on, and what it must keep to:

- a flow is an `async def` that does everything through its `Flow`: steps, each remembered once it is done, and waits;
- a step may run again after a crash in the middle of it, so it is a transaction that checks what it finds, or an
  effect guarded by a row of its own; it takes and returns plain JSON;
- a run belongs to one executor. One that is dead is taken over within its lease; one that was only slow, and comes
  back, gets no further step done. What one origin alone can run waits for an executor of that origin;
- the engine's tables hold JSON and nothing else: a row that claims to be pickled is refused, never loaded.

DBOS is one to a process, and so is an `Engine` that runs.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import structlog
from dbos import DBOS, SetWorkflowID
from sqlalchemy import Connection

from gemba import clock
from gemba.event import Filter
from gemba.flows import steps, wanted
from gemba.flows.executors import Executors, bury
from gemba.flows.launch import ENGINE_REFUSALS, FlowFunction, Launched, NotNow, launch, reason_of_engine
from gemba.flows.waits import Waits, passed
from gemba.flows.wanted import Wanted
from gemba.store.database import REFUSALS, Database, Transaction, reason_of
from gemba.store.hub import Hub
from gemba.store.patience import change_patiently, patiently, read_patiently
from gemba.threads import leave_threads_behind

LEASE = 15 * clock.SECOND

_EFFECTS_AT_ONCE = 8
_BEATS_A_LEASE = 3
_LOST_LEASES = 4
_RETRY_SECONDS = 1.0
_AGAIN_SECONDS = 30.0
_FORGET_SECONDS = 3_600.0
_KEEP = clock.DAY
_FORGET_AT_ONCE = 500
_FAILED = ["ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]
_OVER = ["SUCCESS", *_FAILED]
_OPEN = ["PENDING", "ENQUEUED"]
_GIVEN_UP = "the engine could not read it, or it was cancelled"

T = TypeVar("T")

# Whether a run is of a flow that was marked as started a moment before, for this run: nothing of it needs a look.
_taken: ContextVar[bool] = ContextVar("taken", default=False)

log = structlog.get_logger("gemba.flows")


class Flow:
    """What a flow may do. Every method is one step of its run, remembered under its place in the flow."""

    def __init__(self, database: Database, waits: Waits, effects: Executor, tidying: Executor) -> None:
        self._database = database
        self._waits = waits
        self._effects = effects
        self._tidying = tidying
        self._began: dict[int, int] = {}

    async def change(self, verb: Callable[..., T], *args: Any) -> T:
        """A transaction: `verb(tx, *args)`."""

        def run() -> T:
            with self._database.transaction() as tx:
                return verb(tx, *args)

        return await steps.patiently(verb.__name__, run)

    async def look(self, read: Callable[..., T], *args: Any) -> T:
        """What the database says: `read(connection, *args)`."""

        def run() -> T:
            with self._database.read() as connection:
                return read(connection, *args)

        return await steps.patiently(read.__name__, run)

    async def call(self, effect: Callable[..., T], *args: Any) -> T:
        """A blocking effect outside of the database; it knows itself how to be safe to repeat."""
        return await steps.in_thread(effect.__name__, lambda: effect(*args), self._effects)

    async def tidy(self, effect: Callable[..., T], *args: Any) -> T:
        """The same for what nobody waits for: one after the other, so that it takes little from what somebody does."""
        return await steps.in_thread(effect.__name__, lambda: effect(*args), self._tidying)

    async def until(
        self,
        refs: str | Sequence[str],
        over: Callable[..., bool],
        *args: Any,
        since: int,
        due: int | None,
        known: int = 0,
    ) -> bool:
        """Wait till `over(connection, *args)`: True; or till a moment, if there is one, counted from `since`: False.

        It is asked again after each event of these refs.

        `known` is a moment of the same count that has certainly passed, whatever the clock says now.
        """

        async def wait() -> bool:
            return await self._wait(refs, over, args, since, due, known)

        return await steps.on_the_loop(f"until {over.__name__}", wait)

    async def follow(
        self,
        refs: str | Sequence[str],
        over: Callable[..., Any],
        effect: Callable[..., T],
        *args: Any,
        since: int,
        due: int | None,
    ) -> T:
        """Wait as `until` does, then a blocking effect at once, `effect(*args, found)`, with what `over` said, or None
        where the moment has come before; one step.

        What is taken up again waits again and does it again, so both look at what they find. A run that another
        process has taken over while it waited does nothing any more.
        """

        async def wait_and_do() -> T:
            still_ours = steps.check_owner()
            found: Any = None

            def look(connection: Connection) -> bool:
                nonlocal found
                found = over(connection, *args)
                return bool(found)

            in_time = await self._wait(refs, look, (), since, due)

            def run() -> T:
                still_ours()
                return effect(*args, found if in_time else None)

            return await asyncio.get_running_loop().run_in_executor(self._effects, run)

        return await steps.on_the_loop(effect.__name__, wait_and_do)

    async def _wait(
        self,
        refs: str | Sequence[str],
        over: Callable[..., bool],
        args: Sequence[Any],
        since: int,
        due: int | None,
        known: int = 0,
    ) -> bool:
        delay = None if due is None else due - self.now(since, known)
        return await self._waits.until(refs, lambda: self._read(over, *args), delay)

    def now(self, since: int, known: int = 0) -> int:
        """What a clock would show that was right at `since` and that nobody has set after that.

        How long ago that was is asked of the wall clock once in the life of this process, and counted on from there.
        """
        steady = clock.elapsed()
        began = self._began.setdefault(since, steady - passed(since))
        self._began[since] = began = min(began, steady - (known - since))
        return since + steady - began

    async def _read(self, read: Callable[..., T], *args: Any) -> T:
        return await read_patiently(self._database, lambda connection: read(connection, *args), read.__name__)


class Engine:
    """Runs the flows that are wanted, those for one `origin` only there.

    `news` are the events with which a new one may have come.
    """

    def __init__(
        self,
        database: Database,
        beside: Path,
        executor: str,
        flows: Mapping[str, FlowFunction],
        news: Filter,
        lease: int = LEASE,
        *,
        origin: str = "",
    ) -> None:
        self.waits = Waits()
        self.executors = Executors(executor, lease)
        self._database = database
        self._beside = beside
        self._flows = flows
        self._news = news
        self._origin = origin
        self._workflow: FlowFunction = self._run
        # Of their own: a check that takes minutes keeps no request and no heartbeat waiting.
        self._effects = ThreadPoolExecutor(_EFFECTS_AT_ONCE, "effects")
        self._tidying = ThreadPoolExecutor(1, "tidying")
        self._alive: dict[str, asyncio.Task[Any]] = {}
        self._ending = False
        self._lost: set[str] = set()

    @asynccontextmanager
    async def running(self, hub: Hub) -> AsyncIterator[None]:
        """Until the block ends. What still waits then is carried on by the next engine of this executor's name."""
        # Known to the others before it owns a run: one that dies at once must be missed by somebody.
        await self._change(self.executors.beat)
        with await self._launched() as launched:
            self._workflow = launched.workflow
            async with asyncio.TaskGroup() as group:
                work = (
                    self.waits.run(hub),
                    _persevere(lambda: self._start(hub)),
                    _persevere(self._beat),
                    _persevere(self._find_lost),
                    _persevere(self._forget),
                )
                tasks = [group.create_task(one) for one in work]
                try:
                    yield
                finally:
                    self._ending = True
                    for threads in (self._effects, self._tidying):
                        threads.shutdown(wait=False, cancel_futures=True)
                    runs = list(self._alive.values())
                    for task in (*tasks, *runs):
                        task.cancel()
                    # A run that is cancelled stays open in the engine's tables.
                    await asyncio.gather(*runs, return_exceptions=True)
                    leave_threads_behind()  # the engine's own, which wait for as long as its database is gone

    async def _launched(self) -> Launched:
        """As soon as its database lets it: everything else goes on meanwhile, and what is wanted waits."""
        told = ""
        while True:
            try:
                return launch(self._database, self._beside, self.executors.me, self._run)
            except NotNow as error:
                if str(error) != told:
                    told = str(error)
                    log.warning("the flows cannot be run yet, trying again", reason=told)
                await asyncio.sleep(_RETRY_SECONDS)

    async def _run(self, name: str, id: str, number: int, args: dict[str, Any]) -> None:
        """One run of one flow: to its end, or to an error that is told, and then begun anew after a pause."""
        with self._kept_alive(f"{id}/{number}"):
            if not await self._is_to_run(id, number):
                return
            try:
                flow = Flow(self._database, self.waits, self._effects, self._tidying)
                await self._flows[name](flow, **args)
                await flow.change(wanted.finish, id)
            except Exception as error:
                if self._ending:
                    raise asyncio.CancelledError from error  # it stays open, for the next engine of this name
                pause = min(2.0**number, _AGAIN_SECONDS)
                if isinstance(error, REFUSALS):
                    pause = _RETRY_SECONDS
                    log.warning("a step could not be recorded, its flow is run again", id=id, reason=reason_of(error))
                else:
                    log.exception("a flow failed and will be run again", flow=name, id=id, run=number)
                trouble = error.__class__.__name__
                again = await self._change(lambda tx: wanted.run_again(tx, id, number, trouble))
                if again is not None:
                    self._begin_later(again, pause)

    async def _is_to_run(self, id: str, number: int) -> bool:
        if _taken.get():
            return True
        # A run that failed may look unfinished to the engine, which could not note its end.
        found = await self._read(lambda connection: wanted.find_run(connection, id, number))
        if found is not None and found.origin not in (None, self._origin):  # it was taken over from the dead
            await self._change(lambda tx: wanted.give_back(tx, id, number))
            return False
        return found is not None

    async def _start(self, hub: Hub) -> None:
        """Start everything that is wanted: at first whatever has no run, then what is new."""
        await self._revive()
        await self._begin_missing()
        while not hub.closed:
            seen = hub.last
            due, taken, rest = await patiently(self._take, "flows")
            for flow in taken:
                await self._begin(flow, taken=True)
            if taken and due == wanted.PAGE:
                continue  # there may be more
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(None if rest is None else rest / clock.SECOND):
                    await hub.wait_for(seen, self._news)

    def _take(self) -> tuple[int, list[Wanted], int | None]:
        """How many are to be started now, those of them that are ours to start, and how long the next one rests. A
        crash after this leaves what was taken without a run, which is begun when that is found missing."""
        with self._database.read() as connection:
            due, rest = wanted.to_start(connection, self._origin)
        if not due:
            return 0, [], rest
        with self._database.transaction() as tx:
            mine = wanted.mark_started(tx, [flow.id for flow in due])
        return len(due), [flow for flow in due if flow.id in mine], rest

    async def _begin_missing(self) -> None:
        """What is wanted and has no run: the engine's tables were lost, or a process died before it began one anew."""
        known = await self._ids(status=_OPEN)
        for flow in await self._unfinished():
            if flow.run_id not in known:
                await self._begin(flow)

    async def _begin(self, flow: Wanted, *, taken: bool = False) -> None:
        """Start one run; one that was started before, here or elsewhere, is left as it is."""
        _taken.set(taken)  # for the run, which begins with what is so here
        with SetWorkflowID(flow.run_id):
            await DBOS.start_workflow_async(self._workflow, flow.name, flow.id, flow.run, flow.args)

    def _begin_later(self, flow: Wanted, pause: float) -> None:
        async def begin() -> None:
            with self._kept_alive(f"{flow.run_id} later"):
                await asyncio.sleep(pause)
                await self._begin(flow)

        asyncio.get_running_loop().create_task(_persevere(begin))

    async def _beat(self) -> None:
        while True:
            for dead in await self._change(self.executors.beat):
                runs = await self._ids(status="PENDING", executor_id=dead.id)
                log.warning("an executor is dead, its runs are taken over", executor=dead.id, runs=len(runs))
                await DBOS.resume_workflows_async(sorted(runs))
                await self._change(partial(bury, dead=dead))
                await self._begin_missing()
            await asyncio.sleep(self.executors.lease / clock.SECOND / _BEATS_A_LEASE)

    async def _find_lost(self) -> None:
        """What is wanted and runs nowhere. Runs that are ours by the tables count as lost the second time in a row: the
        engine failed while it took them up.
        """
        while True:
            await asyncio.sleep(_LOST_LEASES * self.executors.lease / clock.SECOND)
            idle = await self._ids(status="PENDING", executor_id=self.executors.me) - self._alive.keys()
            if again := idle & self._lost:
                log.warning("runs were lost and are taken up again", runs=len(again))
                await DBOS.resume_workflows_async(sorted(again))
            self._lost = idle - again
            await self._revive()
            await self._begin_missing()

    async def _revive(self) -> None:
        """Runs that the engine gave up without running them: it could not read them, or somebody cancelled them."""
        failed = await self._ids(status=_FAILED)
        for flow in await self._unfinished() if failed else ():
            if flow.run_id not in failed:
                continue
            again = await self._change(partial(wanted.run_again, id=flow.id, run=flow.run, trouble=_GIVEN_UP))
            if again is not None:
                log.warning("the engine gave a flow up, it is run again", flow=flow.name, id=flow.id, run=flow.run)
                await self._begin(again)

    async def _forget(self) -> None:
        """Runs that are over are kept for a day, for whoever wants to know what they did."""
        while True:
            before = clock.rfc3339(clock.now() - _KEEP)
            while old := await self._ids(status=_OVER, completed_before=before, limit=_FORGET_AT_ONCE):
                await DBOS.delete_workflows_async(sorted(old))
            await asyncio.sleep(_FORGET_SECONDS)

    async def _unfinished(self) -> list[Wanted]:
        return await self._read(partial(wanted.unfinished, origin=self._origin))

    async def _ids(self, **which: Any) -> set[str]:
        runs = await DBOS.list_workflows_async(**which, load_input=False, load_output=False)
        return {run.workflow_id for run in runs}

    @contextmanager
    def _kept_alive(self, id: str) -> Iterator[None]:
        task = asyncio.current_task()
        if task is not None:
            self._alive[id] = task
        try:
            yield
        finally:
            if self._alive.get(id) is task:
                del self._alive[id]

    async def _read(self, read: Callable[[Connection], T]) -> T:
        return await read_patiently(self._database, read, "flows")

    async def _change(self, verb: Callable[[Transaction], T]) -> T:
        return await change_patiently(self._database, verb, "flows")


async def _persevere(work: Callable[[], Awaitable[None]]) -> None:
    """Work that goes on although the engine's database refuses for a while."""
    while True:
        try:
            await work()
            return
        except ENGINE_REFUSALS as error:
            log.warning("the database of the flows refuses, trying again", reason=reason_of_engine(error))
            await asyncio.sleep(_RETRY_SECONDS)
