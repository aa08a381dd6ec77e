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


class Waits:
    """Belongs to an event loop; `run` is a task of it for as long as anybody may wait."""

    def __init__(self) -> None:
        self._news: dict[asyncio.Event, str] = {}  # of each call, with the event whose reply it waits for
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

    async def answer(self, waiting: Waiting, report: Report) -> Answer:
        """What a call waits for. Refused when it is not to come, or the server ends."""
        began = time.monotonic()
        told = began
        with self._listening(waiting.reply_to) as news:
            await report(0.0, waiting.message)
            while True:
                news.clear()
                found = await asyncio.to_thread(waiting.look)
                if found is not None:
                    return found
                if self._ending:
                    raise Refused(f"the server ends; {_how_to_go_on(waiting)}")
                if time.monotonic() - told >= PROGRESS_SECONDS:
                    told = time.monotonic()
                    await report(told - began, waiting.message)
                with suppress(TimeoutError):
                    await asyncio.wait_for(news.wait(), waiting.pause)

    @contextmanager
    def _listening(self, reply_to: str) -> Iterator[asyncio.Event]:
        news = asyncio.Event()
        self._news[news] = f"{reply_to}.json"
        try:
            yield news
        finally:
            del self._news[news]

    def _wake(self, changed: set[str] | None) -> None:
        for news, file in self._news.items():
            if changed is None or file in changed:
                news.set()


def _how_to_go_on(waiting: Waiting) -> str:
    return stays_open(waiting.reply_to) if waiting.reply_to else waiting.message
