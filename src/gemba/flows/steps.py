"""A step of a run: done, and written down by the engine (DBOS), so that no run that is taken up again repeats it.

What blocks is one visit to a thread: there it is looked up whether the step was done, then it is done, then written
down. With a visit for each of the three a step that takes a millisecond would wait longer than it works, and all the
more while other threads have something to do. Called by `engine`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from contextvars import copy_context
from typing import Any, TypeVar, cast

import structlog
from dbos import DBOS
from dbos._context import assert_current_dbos_context
from dbos._core import invoke_step
from dbos._dbos import _get_dbos_instance
from dbos._error import DBOSWorkflowConflictIDError

from gemba.store.database import REFUSALS, reason_of

_RETRY_SECONDS = 1.0
_ONCE: dict[str, Any] = {"retries_allowed": False, "interval_seconds": 1.0, "max_attempts": 1, "backoff_rate": 1.0}

T = TypeVar("T")

log = structlog.get_logger("gemba.flows")


class _Refused(BaseException):
    """The database refuses what a step wants of it. No Exception: the engine would write that down as its outcome."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


async def in_thread(name: str, work: Callable[[], T], threads: Executor | None = None) -> T:
    """A blocking step, in one of these threads or of the event loop's."""
    engine, step = _get_dbos_instance(), assert_current_dbos_context().snapshot_step_ctx()

    def run() -> T:
        return cast(T, invoke_step(engine, step, work, (), {}, step_name=name, **_ONCE))

    return await asyncio.get_running_loop().run_in_executor(threads, copy_context().run, run)


async def patiently(name: str, work: Callable[[], T]) -> T:
    """The same with something of the database, tried again for as long as that refuses; told once, not each time."""
    engine, step = _get_dbos_instance(), assert_current_dbos_context().snapshot_step_ctx()

    def try_once() -> T:
        try:
            return work()
        except REFUSALS as error:
            raise _Refused(reason_of(error)) from error

    def run() -> T:
        return cast(T, invoke_step(engine, step, try_once, (), {}, step_name=name, **_ONCE))

    told = ""
    while True:
        try:
            return await asyncio.get_running_loop().run_in_executor(None, copy_context().run, run)
        except _Refused as refused:
            if refused.reason != told:
                log.warning("the database refuses, trying again", work=name, reason=refused.reason)
            told = refused.reason
            await asyncio.sleep(_RETRY_SECONDS)


async def on_the_loop(name: str, work: Callable[[], Awaitable[T]]) -> T:
    """A step that waits, which costs no thread."""

    async def step() -> T:
        return await work()

    return await DBOS.run_step_async({"name": name}, step)


def check_owner() -> Callable[[], None]:
    """Of the run that a step on the loop belongs to: what raises, in a thread, once another process has taken it over.

    For a step that waits and then does something: the engine itself asks only before a step and behind it.
    """
    system, context = _get_dbos_instance()._sys_db, assert_current_dbos_context()

    def check() -> None:
        if system.get_workflow_owner(context.workflow_id) != context.owner_xid:
            raise DBOSWorkflowConflictIDError(context.workflow_id)

    return check
