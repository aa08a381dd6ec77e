"""Work that the database may refuse for a while, because it is gone, locked or full: tried again, not given up."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TypeVar

import structlog
from sqlalchemy import Connection

from gemba.event import Filter
from gemba.store.database import REFUSALS, Database, Transaction, reason_of
from gemba.store.hub import Hub

_RETRY_SECONDS = 1.0
_DISK_RETRY_SECONDS = 2.0

T = TypeVar("T")

log = structlog.get_logger("gemba.store")


async def patiently(work: Callable[[], T], name: str) -> T:
    """Run a blocking step in a thread until the database takes it; what refuses is told once, not at every attempt."""
    told = ""
    while True:
        try:
            return await asyncio.to_thread(work)
        except REFUSALS as error:
            reason = reason_of(error)
            if reason != told:
                log.warning("the database refuses, trying again", work=name, reason=reason)
            told = reason
            await asyncio.sleep(_RETRY_SECONDS)


async def after_each(
    hub: Hub, news: Filter, work: Callable[[], None], name: str, trouble: Callable[[], object]
) -> None:
    """For ever: a blocking step after each of these events, and again after a while as long as there is `trouble`."""
    while True:
        seen = hub.last
        await patiently(work, name)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DISK_RETRY_SECONDS if trouble() else None):
                await hub.wait_for(seen, news)


async def read_patiently(database: Database, read: Callable[[Connection], T], name: str) -> T:
    """What the database says, as soon as it says anything."""

    def run() -> T:
        with database.read() as connection:
            return read(connection)

    return await patiently(run, name)


async def change_patiently(database: Database, verb: Callable[[Transaction], T], name: str) -> T:
    """A transaction, as soon as the database takes one."""

    def run() -> T:
        with database.transaction() as tx:
            return verb(tx)

    return await patiently(run, name)
