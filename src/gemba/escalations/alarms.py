"""What is snoozed wakes when its time has come: looked at once, and then at the next alarm that is set.

Called by a server for as long as it runs, and once by a command without one.
"""

from __future__ import annotations

import asyncio
import contextlib

from gemba import clock
from gemba.escalations import store
from gemba.event import Filter
from gemba.store.database import Database
from gemba.store.hub import Hub
from gemba.store.patience import patiently

_NEWS = Filter(frozenset({"escalation.snoozed"}))  # what changes when the next alarm is
_LONGEST_SLEEP = 30.0  # a clock that was set is noticed within this
_SHORTEST_SLEEP = 0.05


class Alarms:
    """Those of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep(self, hub: Hub) -> None:
        """For ever: each alarm when it is due."""
        while True:
            seen = hub.last
            delay = await patiently(self._ring_and_look_ahead, "alarms")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(delay):
                    await hub.wait_for(seen, _NEWS)

    def ring(self) -> None:
        """What is due now."""
        due = self._next()
        if due is not None and due <= clock.now():
            with self._database.transaction() as tx:
                store.ring(tx)

    def _ring_and_look_ahead(self) -> float | None:
        """The seconds to the next look; None where nothing is snoozed."""
        self.ring()
        due = self._next()
        return None if due is None else min(max((due - clock.now()) / clock.SECOND, _SHORTEST_SLEEP), _LONGEST_SLEEP)

    def _next(self) -> int | None:
        with self._database.read() as connection:
            return store.next_ring(connection)
