"""What a flow waits for: a row that changes, or a moment. Waiting costs no thread, no query and no poll.

A wait names what it is about (the `ref` of the events that tell of it, or several of them). It subscribes first and looks at the row then,
so a change is seen by one or the other. How long is left is counted by a clock that nobody can set: one that jumps
while something waits neither ends the wait nor makes it endless.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager

import structlog

from gemba import clock
from gemba.store.database import REFUSALS, reason_of
from gemba.store.hub import Hub

_PAGE = 500
_RETRY_SECONDS = 0.5
_LONGEST_NAP = 30 * clock.SECOND  # a timer of the event loop does not count while the machine sleeps

log = structlog.get_logger("gemba.flows")


class Waits:
    """Everything that waits in this process. It belongs to the event loop."""

    def __init__(self) -> None:
        self._waiting: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._all: set[asyncio.Event] = set()

    def __len__(self) -> int:
        return len(self._all)

    async def run(self, hub: Hub) -> None:
        """Wake what events are about, for ever."""
        seen = hub.last
        while not hub.closed:
            await hub.beyond(seen)
            try:
                found, seen = await hub.read(seen, _PAGE)
            except REFUSALS as error:  # of a log that is read because the ring is past it
                log.warning("the event log is unreadable, trying again", reason=reason_of(error))
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            for event in found:
                self.wake(event.ref)

    def wake(self, ref: str | None) -> None:
        for waiting in self._waiting.get(ref or "", ()):
            waiting.set()

    async def until(
        self, refs: str | Sequence[str], over: Callable[[], Awaitable[bool]], delay: int | None = None
    ) -> bool:
        """True as soon as `over` says so, False when so many microseconds have passed."""
        end = None if delay is None else clock.elapsed() + delay
        with self._subscribed([refs] if isinstance(refs, str) else refs) as news:
            while True:
                news.clear()
                if await over():
                    return True
                while not news.is_set():
                    left = _LONGEST_NAP if end is None else end - clock.elapsed()
                    if left <= 0:
                        return False
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(None if end is None else min(left, _LONGEST_NAP) / clock.SECOND):
                            await news.wait()

    @contextmanager
    def _subscribed(self, refs: Sequence[str]) -> Iterator[asyncio.Event]:
        news = asyncio.Event()
        self._all.add(news)
        for ref in refs:
            self._waiting[ref].add(news)
        try:
            yield news
        finally:
            self._all.discard(news)
            for ref in refs:
                self._waiting[ref].discard(news)
                if not self._waiting[ref]:
                    del self._waiting[ref]


def passed(since: int) -> int:
    """How long ago a moment was, as far as the wall clock tells; never less than nothing."""
    return max(clock.now() - since, 0)
