"""Threads beside the event loop: a blocking loop that ends when its task is cancelled, and ends that nobody delays."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

THREADS = 32  # that work for the event loop at once, and so hold a connection to the database

_PATIENCE_SECONDS = 2.0


async def repeat_in_thread(step: Callable[[], None], *, interrupt: Callable[[], None]) -> None:
    """Run a blocking step again and again until cancelled; `interrupt` makes a step that waits return.

    What a step raises ends the loop and is raised here. On cancellation the running step is waited for.
    """
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    ended = threading.Event()

    def finish(error: BaseException | None) -> None:
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)

    def run() -> None:
        error: BaseException | None = None
        try:
            while not ended.is_set():
                step()
        except BaseException as raised:  # noqa: BLE001 - it is raised again, in the task that waits
            error = raised
        loop.call_soon_threadsafe(finish, error)

    threading.Thread(target=run, name=getattr(step, "__qualname__", "step"), daemon=True).start()
    try:
        await asyncio.shield(done)
    finally:
        ended.set()
        interrupt()
        await asyncio.wait([done])


def leave_threads_behind() -> None:
    """Give the event loop other threads than those that a library may hold up, which it would wait for at its end."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS))


def end_soon() -> None:
    """The process has done its work and ends by itself, or in a moment in any case.

    A library's thread that waits for a database that is gone must not keep it.
    """
    timer = threading.Timer(_PATIENCE_SECONDS, os._exit, [0])
    timer.daemon = True
    timer.start()
