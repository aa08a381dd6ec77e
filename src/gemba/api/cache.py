"""Answers to what is read often, as bytes, for as long as the event log does not move.

An answer is kept with the hub's version from before it was read: a commit of this process, or one of another that was
heard of, makes it old before whoever committed is answered. So a request sees what was answered before it. What does
not come with an event (a lost signal, a worktree's HEAD) is seen within `_LONGEST_SECONDS`. Requests that want the
same while it is being read get the same reading. Belongs to the event loop.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from gemba.store.hub import Hub

_LONGEST_SECONDS = 1.0
_MOST_BYTES = 8 * 1024 * 1024

Key = tuple[str, bytes]  # path and query, as they came
Version = tuple[object, int]


class Entry(NamedTuple):
    body: bytes
    version: Version
    until: float


class Cache:
    """The answers that were asked for last, up to a size."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._entries: OrderedDict[Key, Entry] = OrderedDict()
        self._bytes = 0
        self._making: dict[tuple[Key, Version], asyncio.Task[bytes]] = {}

    def find(self, key: Key) -> bytes | None:
        entry = self._entries.get(key)
        if entry is None or entry.version != self._hub.version or entry.until < _now():
            return None
        self._entries.move_to_end(key)
        return entry.body

    async def make(self, key: Key, read: Callable[[], bytes]) -> bytes:
        """Read in a thread, or wait for somebody who does so already."""
        version = self._hub.version
        making = self._making.get((key, version))
        if making is None:
            making = asyncio.create_task(self._make(key, version, read))
            self._making[key, version] = making
        # One who no longer waits must not end it for the others.
        return await asyncio.shield(making)

    async def _make(self, key: Key, version: Version, read: Callable[[], bytes]) -> bytes:
        until = _now() + _LONGEST_SECONDS
        try:
            body = await asyncio.to_thread(read)
        finally:
            del self._making[key, version]
        self._put(key, Entry(body, version, until))
        return body

    def _put(self, key: Key, entry: Entry) -> None:
        before = self._entries.pop(key, None)
        self._bytes -= len(before.body) if before else 0
        if len(entry.body) > _MOST_BYTES:
            return
        self._entries[key] = entry
        self._bytes += len(entry.body)
        while self._bytes > _MOST_BYTES:
            _, oldest = self._entries.popitem(last=False)
            self._bytes -= len(oldest.body)


def _now() -> float:
    return asyncio.get_running_loop().time()
