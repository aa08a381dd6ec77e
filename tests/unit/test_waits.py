"""Waits: woken by an event or by time, never lost, never endless, and cheap however many there are."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine

from gemba import clock
from gemba.event import Draft
from gemba.flows.waits import Waits, passed
from gemba.store.database import Database
from gemba.store.hub import Hub
from gemba.store.migrate import open_database

pytestmark = pytest.mark.anyio

SOON = clock.SECOND // 20
LONG = 3_600 * clock.SECOND


class Row:
    """Something that may be over, and how often it was looked at."""

    def __init__(self, *, over: bool = False) -> None:
        self.is_over = over
        self.looks = 0

    async def look(self) -> bool:
        self.looks += 1
        return self.is_over


async def begun(waits: Waits, row: Row, delay: int | None = None, ref: str = "a") -> "asyncio.Task[bool]":
    """A wait that has looked at its row once."""
    task = asyncio.create_task(waits.until(ref, row.look, delay))
    await idle()
    assert row.looks
    return task


async def idle() -> None:
    """Everything that can go on now has."""
    for _ in range(10):
        await asyncio.sleep(0)


# ---- woken -----------------------------------------------------------------------------------------------------------


async def test_what_is_over_already_is_not_waited_for() -> None:
    waits = Waits()

    assert await waits.until("a", Row(over=True).look, LONG)
    assert len(waits) == 0


async def test_an_event_about_it_ends_a_wait_when_the_row_says_so() -> None:
    waits, row = Waits(), Row()
    task = await begun(waits, row, LONG)
    row.is_over = True

    waits.wake("a")

    assert await asyncio.wait_for(task, 5)
    assert (row.looks, len(waits)) == (2, 0)


async def test_an_event_that_changes_nothing_is_looked_at_and_waited_on() -> None:
    waits, row = Waits(), Row()
    task = await begun(waits, row)

    for looks in (2, 3, 4):
        waits.wake("a")
        await idle()
        assert (row.looks, task.done(), len(waits)) == (looks, False, 1)

    row.is_over = True
    waits.wake("a")
    assert await asyncio.wait_for(task, 5)


async def test_events_about_others_or_about_nothing_wake_nobody() -> None:
    waits, row = Waits(), Row()
    task = await begun(waits, row)

    for ref in ("b", "", None, "aa"):
        waits.wake(ref)
    await idle()

    assert row.looks == 1
    task.cancel()


async def test_everybody_who_waits_for_the_same_is_woken() -> None:
    waits, row = Waits(), Row()
    tasks = [await begun(waits, row) for _ in range(5)]
    row.is_over = True

    waits.wake("a")

    assert await asyncio.wait_for(asyncio.gather(*tasks), 5) == [True] * 5
    assert len(waits) == 0


async def test_an_event_while_the_row_is_read_is_not_lost() -> None:
    """The row was read before it changed, and the event came before the wait began: only the subscription knows."""
    waits = Waits()
    reading, changed = asyncio.Event(), asyncio.Event()
    looks = 0

    async def read() -> bool:
        nonlocal looks
        looks += 1
        found = changed.is_set()
        if looks == 1:
            reading.set()
            await changed.wait()
            await asyncio.sleep(0)
        return found

    task = asyncio.create_task(waits.until("a", read))
    await reading.wait()
    changed.set()
    waits.wake("a")

    assert await asyncio.wait_for(task, 5)
    assert looks == 2


# ---- time ------------------------------------------------------------------------------------------------------------


async def test_a_wait_ends_when_its_time_has_passed_and_not_before() -> None:
    waits, begin = Waits(), clock.elapsed()

    assert not await waits.until("a", Row().look, SOON)

    assert SOON <= clock.elapsed() - begin < 40 * SOON
    assert len(waits) == 0


@pytest.mark.parametrize("delay", [0, -1, -LONG])
async def test_a_moment_that_has_passed_is_not_waited_for_but_the_row_is_read_first(delay: int) -> None:
    over, waiting = Row(over=True), Row()

    assert await Waits().until("a", over.look, delay)
    assert not await Waits().until("a", waiting.look, delay)
    assert waiting.looks == 1


async def test_events_do_not_make_a_wait_longer() -> None:
    waits, row = Waits(), Row()
    begin = clock.elapsed()
    task = await begun(waits, row, SOON)

    while not task.done():
        waits.wake("a")
        await asyncio.sleep(0.005)

    assert not task.result()
    assert clock.elapsed() - begin < 40 * SOON


async def test_an_event_in_the_last_moment_is_seen() -> None:
    """Both at once: what is over is told as over, not as too late."""
    waits, row = Waits(), Row()
    task = await begun(waits, row, SOON)
    row.is_over = True
    time.sleep(2 * SOON / clock.SECOND)  # noqa: ASYNC251 - the loop stands still: time and event are there together
    waits.wake("a")

    assert await asyncio.wait_for(task, 5)


@pytest.mark.parametrize("days", [1, -1, 365])
async def test_a_clock_that_is_set_while_something_waits_changes_nothing(days: int) -> None:
    waits, patient, quick = Waits(), Row(), Row()
    with time_machine.travel(datetime.now(UTC), tick=True) as travelling:
        long = await begun(waits, patient, LONG, "long")
        short = await begun(waits, quick, SOON, "short")

        travelling.shift(timedelta(days=days))

        assert not await asyncio.wait_for(short, 5)
        assert not long.done()
    long.cancel()


def test_how_long_ago_a_moment_was_is_never_less_than_nothing() -> None:
    with time_machine.travel(datetime(2026, 1, 1, tzinfo=UTC), tick=False):
        now = clock.now()

        assert passed(now - LONG) == LONG
        assert passed(now) == 0
        assert passed(now + LONG) == 0


# ---- ended -----------------------------------------------------------------------------------------------------------


async def test_a_wait_that_is_cancelled_leaves_nothing_behind() -> None:
    waits, row = Waits(), Row()
    task = await begun(waits, row, LONG)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(waits) == 0
    waits.wake("a")


async def test_a_row_that_cannot_be_read_ends_its_wait_with_that() -> None:
    waits = Waits()

    async def broken() -> bool:
        raise RuntimeError("no such row")

    with pytest.raises(RuntimeError, match="no such row"):
        await waits.until("a", broken)
    assert len(waits) == 0


# ---- through the hub -------------------------------------------------------------------------------------------------


@asynccontextmanager
async def hub_of(database: Database, waits: Waits) -> AsyncIterator[Hub]:
    hub = Hub(database)
    await hub.start()
    database.on_commit.append(hub.tell)
    tasks = [asyncio.create_task(hub.run()), asyncio.create_task(waits.run(hub))]
    await idle()
    try:
        yield hub
    finally:
        database.on_commit.remove(hub.tell)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(f"sqlite:///{tmp_path / 'gemba.db'}")
    yield opened
    opened.close()


def commit(database: Database, *refs: str) -> None:
    with database.transaction() as tx:
        for ref in refs:
            tx.emit(Draft("escalation.acknowledged", {}, None, ref))


async def test_a_commit_wakes_whoever_waits_for_what_it_is_about(database: Database) -> None:
    waits, row, other = Waits(), Row(), Row()
    async with hub_of(database, waits):
        task, others = await begun(waits, row), await begun(waits, other, ref="b")
        row.is_over = True

        await asyncio.to_thread(commit, database, "c", "a")

        assert await asyncio.wait_for(task, 5)
        assert (others.done(), other.looks) == (False, 1)
        others.cancel()


async def test_ten_thousand_waits_for_one_thing_cost_one_look_each_and_those_for_others_none(
    database: Database,
) -> None:
    waits, row, other = Waits(), Row(), Row()
    async with hub_of(database, waits):
        tasks = [asyncio.create_task(waits.until("a", row.look)) for _ in range(10_000)]
        others = [asyncio.create_task(waits.until(f"b{number}", other.look)) for number in range(10_000)]
        await idle()
        assert other.looks == 10_000
        row.is_over = True
        spent = time.process_time()

        await asyncio.to_thread(commit, database, "a")
        assert all(await asyncio.gather(*tasks))

        assert time.process_time() - spent < 2.0
        assert (row.looks, other.looks, len(waits)) == (20_000, 10_000, 10_000)
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
    assert len(waits) == 0
