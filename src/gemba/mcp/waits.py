"""Calls that wait, many at once: one thread watches the folder of the replies, and each call is a task that sleeps.

A reply wakes the call that waits for it and no other. When the server ends, every wait ends and says how to go on.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from gemba.replies import stays_open
from gemba.threads import repeat_in_thread
from gemba.watch import FolderWatch
from gemba.wire import Refused

if TYPE_CHECKING:
    from gemba.mcp.tool import Answer, Waiting

PROGRESS_SECONDS = 5.0

Report = Callable[[float, str], Awaitable[None]]  # seconds since it began, what it waits for


class Line:
    """The connection that a call came over. A client that hangs up hears nothing, so nothing is waited for."""

    def __init__(self) -> None:
        self.is_open = True
        self.news = asyncio.Event()

    def hang_up(self) -> None:
        self.is_open = False
        self.news.set()


class Waits:
    """Belongs to an event loop; `run` is a task of it for as long as anybody may wait."""

    def __init__(self) -> None:
        self._lines: dict[Line, str] = {}  # of the calls, each with the file of the reply that it waits for
        self._ending = False

    async def run(self, watch: FolderWatch) -> None:
        loop = asyncio.get_running_loop()

        def step() -> None:
            changed = watch.wait(None)
            loop.call_soon_threadsafe(self._wake, changed)

        await repeat_in_thread(step, interrupt=watch.wake)

    def end(self) -> None:
        """End every wait, now and from now on."""
        self._ending = True
        self._wake(None)

    async def answer(self, waiting: Waiting, line: Line, report: Report) -> Answer:
        """What a call waits for. Refused when it is not to come, nobody listens any more, or the server ends."""
        began = time.monotonic()
        told = began
        with self._listening(line, waiting.reply_to):
            await report(0.0, waiting.message)
            while line.is_open:
                line.news.clear()
                found = await asyncio.to_thread(waiting.look)
                if found is not None:
                    return found
                if self._ending:
                    raise Refused(f"the server ends; {_how_to_go_on(waiting)}")
                if time.monotonic() - told >= PROGRESS_SECONDS:
                    told = time.monotonic()
                    await report(told - began, waiting.message)
                with suppress(TimeoutError):
                    await asyncio.wait_for(line.news.wait(), waiting.pause)
        raise Refused(f"the client has hung up; {_how_to_go_on(waiting)}")

    @contextmanager
    def _listening(self, line: Line, reply_to: str) -> Iterator[None]:
        self._lines[line] = f"{reply_to}.json"
        try:
            yield
        finally:
            del self._lines[line]

    def _wake(self, changed: set[str] | None) -> None:
        for line, file in self._lines.items():
            if changed is None or file in changed:
                line.news.set()


def _how_to_go_on(waiting: Waiting) -> str:
    return stays_open(waiting.reply_to) if waiting.reply_to else waiting.message
