"""A blocking loop beside the event loop: a thread of its own that ends when its task is cancelled."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable


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
