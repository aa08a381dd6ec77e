"""The hub: events, stored first, then handed to every reader in this process.

A reader keeps the last id it has seen; the hub keeps the newest events in a bounded ring and wakes all readers when
the ring grows. A reader that fell behind the ring reads the database instead. So no reader has a queue of its own,
a slow one costs nothing, and what the log holds is what everybody gets, in order, once.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

import structlog

from gemba.event import ALL, Event, Filter
from gemba.store import events
from gemba.store.database import REFUSALS, Database, reason_of

_RING_EVENTS = 4096
_RING_BYTES = 8 * 1024 * 1024
_PAGE = 500
_RETRY_SECONDS = 0.5

log = structlog.get_logger("gemba.hub")


class Hub:
    """One per process. `tell` and `nudge` may be called from any thread; everything else belongs to the event loop."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._ring: deque[Event] = deque()
        self._ring_bytes = 0
        self._news = asyncio.Event()
        self._nudged = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._closed = False
        self._nudge = object()
        self.last = 0

    def tell(self, committed: Sequence[Event]) -> None:
        """Say that the log has grown by these."""
        self._call(lambda: self._take(committed))

    def nudge(self) -> None:
        """Say that the log may have grown."""
        self._call(self._nudged.set)

    def _call(self, step: Callable[[], object]) -> None:
        self._nudge = object()
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(step)

    async def start(self) -> None:
        """Begin at the end of the log: what came before is read from the database by those who want it."""
        self.last = await asyncio.to_thread(self._read_last)

    async def run(self) -> None:
        """Move events from the log into the ring, for ever."""
        while True:
            await self._nudged.wait()
            self._nudged.clear()
            try:
                await self._catch_up()
            except REFUSALS as error:
                log.warning("event log unreadable, trying again", reason=reason_of(error))
                self._nudged.set()
                await asyncio.sleep(_RETRY_SECONDS)

    def close(self) -> None:
        """End every reader that waits in `beyond`; what works in the background is cancelled by its owner."""
        self._closed = True
        self._wake()

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def version(self) -> tuple[object, int]:
        """Another one after each commit that this process made or heard of, before anybody is told of it.

        Whoever read the database after it took a version, and finds the same one later, has missed nothing of that.
        """
        return self._nudge, self.last

    async def beyond(self, after: int) -> None:
        """Return when there is something after this id, or when the hub is closed."""
        while self.last <= after and not self._closed:
            await self._news.wait()

    async def wait_for(self, after: int, wanted: Filter) -> None:
        """Return when an event that is wanted has come after this id, or may have: only the ring is looked at."""
        while True:
            while self.last <= after:
                await self._news.wait()
            if not self.holds(after):
                return
            found, after = await self.read(after, _PAGE, wanted)
            if found:
                return

    async def read(self, after: int, limit: int, wanted: Filter = ALL) -> tuple[list[Event], int]:
        """What a reader wants of the events after an id, and the id up to which it has now seen everything."""
        if after >= self.last:
            return [], after
        if self.holds(after):
            skip = after + 1 - self._ring[0].id
            window = [self._ring[i] for i in range(skip, min(skip + limit, len(self._ring)))]
            return [event for event in window if wanted.wants(event)], window[-1].id
        upper = self.last
        found = await asyncio.to_thread(self._read_page, after, limit, wanted)
        return found, found[-1].id if len(found) == limit else max(upper, found[-1].id if found else 0)

    def holds(self, after: int) -> bool:
        """Is everything after this id in the ring? Of what is not, retention may have taken some."""
        return bool(self._ring) and self._ring[0].id <= after + 1

    def _take(self, committed: Sequence[Event]) -> None:
        """What comes next needs no reading. After something that is still to come, it is read with that."""
        if committed[0].id == self.last + 1:
            self._add(committed)
        elif committed[-1].id > self.last:
            self._nudged.set()

    async def _catch_up(self) -> None:
        while True:
            page = await asyncio.to_thread(self._read_page, self.last, _PAGE, ALL)
            if new := [event for event in page if event.id > self.last]:  # some may have come meanwhile
                self._add(new)
            if len(page) < _PAGE:
                return

    def _add(self, new: Sequence[Event]) -> None:
        if new[0].id != self.last + 1:
            # Retention was quicker than we: the ring has no holes, so it begins anew.
            self._ring.clear()
            self._ring_bytes = 0
        for event in new:
            self._ring.append(event)
            self._ring_bytes += len(bytes(event.payload))
        while len(self._ring) > _RING_EVENTS or (self._ring_bytes > _RING_BYTES and len(self._ring) > 1):
            self._ring_bytes -= len(bytes(self._ring.popleft().payload))
        self.last = new[-1].id
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def _read_page(self, after: int, limit: int, wanted: Filter) -> list[Event]:
        with self._database.read() as connection:
            return events.read_after(connection, after, limit, wanted)

    def _read_last(self) -> int:
        with self._database.read() as connection:
            return events.last_id(connection)
