"""The hub: what the log holds reaches every reader of this process, in order, once."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text
from structlog.testing import capture_logs

from gemba.event import ALL, Draft, Event, Filter
from gemba.store import events, hub
from gemba.store.database import Database
from gemba.store.hub import Hub
from gemba.store.migrate import open_database
from gemba.testing import retry_until

pytestmark = pytest.mark.anyio


@pytest.fixture
def database(sqlite_url: str) -> Iterator[Database]:
    opened = open_database(sqlite_url)
    yield opened
    opened.close()


@asynccontextmanager
async def running(database: Database) -> AsyncIterator[Hub]:
    """A hub that moves events, as in a server."""
    made = Hub(database)
    await made.start()
    database.on_commit.append(made.tell)
    moving = asyncio.create_task(made.run())
    try:
        yield made
    finally:
        database.on_commit.remove(made.tell)
        moving.cancel()
        with suppress(asyncio.CancelledError):
            await moving


def emit(database: Database, *names: str, session: str | None = None, ref: str | None = None, size: int = 0) -> None:
    with database.transaction() as tx:
        for name in names:
            tx.emit(Draft(name, {"fill": "x" * size}, session, ref))


async def read_all(of: Hub, after: int, limit: int = 100, wanted: Filter = ALL) -> list[Event]:
    found: list[Event] = []
    while after < of.last:
        page, after = await of.read(after, limit, wanted)
        found += page
    return found


async def test_a_reader_gets_what_comes_after_its_place_in_order(database: Database) -> None:
    emit(database, "before")
    async with running(database) as made:
        assert made.last == 1
        emit(database, "a", "b")
        emit(database, "c")
        await made.beyond(3)

        found, seen = await made.read(1, 2)
        assert ([event.name for event in found], seen) == (["a", "b"], 3)
        found, seen = await made.read(seen, 2)
        assert ([event.name for event in found], seen) == (["c"], 4)
        assert await made.read(seen, 2) == ([], 4)


async def test_what_this_process_committed_is_not_read_again(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(database) as made:
        monkeypatch.setattr(events, "read_after", None)
        emit(database, "a", "b")
        emit(database, "c")
        await made.beyond(2)

        assert [(event.id, event.name) for event in await read_all(made, 0)] == [(1, "a"), (2, "b"), (3, "c")]


async def test_commits_that_are_told_in_another_order_come_in_their_own(database: Database) -> None:
    told: list[Sequence[Event]] = []
    database.on_commit.append(told.append)
    async with running(database) as made:
        database.on_commit.remove(made.tell)
        for name in "abcd":
            emit(database, name)
        first, second, third, fourth = told
        for one in (second, first, second, fourth, third):
            made.tell(one)
            await asyncio.sleep(0)
        async with asyncio.timeout(30):
            await made.beyond(3)

        assert [event.name for event in await read_all(made, 0)] == ["a", "b", "c", "d"]
        database.on_commit.append(made.tell)


async def test_a_reader_from_before_the_hub_began_is_served_from_the_log(database: Database) -> None:
    emit(database, *(f"n{n}" for n in range(5)))
    async with running(database) as made:
        emit(database, "n5")
        await made.beyond(5)

        assert not made.holds(2)
        assert made.holds(5)
        assert [event.name for event in await read_all(made, 2, limit=2)] == ["n2", "n3", "n4", "n5"]


async def test_what_is_not_wanted_moves_the_place_without_being_told(database: Database) -> None:
    async with running(database) as made:
        emit(database, "a", "b", "a", session="s-1", ref="r-1")
        emit(database, "a", session="s-2")
        await made.beyond(3)

        assert await made.read(0, 100, Filter(frozenset({"none"}))) == ([], 4)
        found = await read_all(made, 0, 1, Filter(frozenset({"a"}), session_id="s-1", ref="r-1"))
        assert [event.id for event in found] == [1, 3]


@pytest.mark.parametrize(("events_kept", "bytes_kept"), [(3, 10**9), (10**9, 2_500)])
async def test_the_ring_keeps_the_newest_up_to_a_number_and_a_size(
    database: Database, monkeypatch: pytest.MonkeyPatch, events_kept: int, bytes_kept: int
) -> None:
    monkeypatch.setattr(hub, "_RING_EVENTS", events_kept)
    monkeypatch.setattr(hub, "_RING_BYTES", bytes_kept)
    async with running(database) as made:
        for n in range(10):
            emit(database, f"n{n}", size=800)
        await made.beyond(9)

        assert made.holds(7)
        assert not made.holds(6)
        assert [event.id for event in await read_all(made, 0)] == list(range(1, 11))


async def test_one_event_larger_than_the_ring_is_still_handed_on(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "_RING_BYTES", 100)
    async with running(database) as made:
        emit(database, "huge", size=10_000)
        await made.beyond(0)

        assert [event.name for event in await read_all(made, 0)] == ["huge"]


async def test_a_hole_that_retention_left_begins_the_ring_anew(database: Database) -> None:
    made = Hub(database)
    await made.start()
    emit(database, "a")
    await made._catch_up()
    emit(database, "b", "c", "d")
    with database.transaction() as tx:
        events.prune(tx.connection, older_than=0, keep_at_most=1)

    await made._catch_up()

    assert made.last == 4
    assert not made.holds(1)
    assert [event.name for event in await read_all(made, 1)] == ["d"]


async def test_closing_ends_every_reader_and_no_work_in_the_background(database: Database) -> None:
    async with running(database) as made:
        readers = [asyncio.create_task(made.beyond(0)), asyncio.create_task(made.beyond(10))]
        work = asyncio.create_task(made.wait_for(0, Filter(frozenset({"never"}))))
        await asyncio.sleep(0)
        made.close()
        async with asyncio.timeout(30):
            await asyncio.gather(*readers, made.beyond(99))
        # It would begin anew at once, and again, until its owner cancels it.
        assert made.closed
        assert not work.done()
        work.cancel()


async def test_one_who_waits_for_a_name_is_not_woken_by_others(database: Database) -> None:
    async with running(database) as made:
        waiting = asyncio.create_task(made.wait_for(0, Filter(frozenset({"wanted"}))))
        emit(database, "other")
        await made.beyond(0)
        assert not waiting.done()

        emit(database, "wanted")
        async with asyncio.timeout(30):
            await waiting


async def test_events_of_many_threads_reach_every_reader_once_and_in_order(database: Database) -> None:
    many, threads = 20, 4
    async with running(database) as made:

        async def follow() -> list[int]:
            seen, found = 0, list[int]()
            while seen < many * threads:
                await made.beyond(seen)
                page, seen = await made.read(seen, 7)
                found += [event.id for event in page]
            return found

        def write() -> None:
            for _ in range(many):
                emit(database, "n")

        readers = [asyncio.create_task(follow()) for _ in range(3)]
        writers = [threading.Thread(target=write) for _ in range(threads)]
        for writer in writers:
            writer.start()
        async with asyncio.timeout(60):
            assert await asyncio.gather(*readers) == [list(range(1, many * threads + 1))] * 3
        for writer in writers:
            writer.join()


async def test_a_log_that_cannot_be_read_for_a_while_loses_nothing(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "_RETRY_SECONDS", 0.01)
    async with running(database) as made:
        emit(database, "a")
        await made.beyond(0)
        with capture_logs() as logged:
            rename(database, "events", "away")
            made.nudge()
            await asyncio.to_thread(retry_until, lambda: logged)
            rename(database, "away", "events")
            emit(database, "b")
            async with asyncio.timeout(30):
                await made.beyond(1)

        assert [event.name for event in await read_all(made, 0)] == ["a", "b"]
        assert logged[0]["event"] == "event log unreadable, trying again"


def rename(database: Database, table: str, name: str) -> None:
    with database.transaction() as tx:
        tx.connection.execute(text(f"alter table {table} rename to {name}"))


@given(
    names=st.lists(st.sampled_from("abc"), max_size=30),
    ring=st.integers(1, 12),
    begin=st.integers(0, 30),
    after=st.integers(0, 30),
    limit=st.integers(1, 7),
    wanted=st.sets(st.sampled_from("abc")),
)
def test_whatever_the_ring_holds_a_reader_gets_the_same(
    names: list[str], ring: int, begin: int, after: int, limit: int, wanted: set[str]
) -> None:
    stored = [Event(number, "", name, None, None, b"{}") for number, name in enumerate(names, 1)]  # type: ignore[arg-type]

    class Log(Hub):
        """A hub whose log is a list."""

        def _read_page(self, after: int, limit: int, wanted: Filter) -> list[Event]:
            return [event for event in stored if event.id > after and wanted.wants(event)][:limit]

        def _read_last(self) -> int:
            return min(begin, len(stored))

    async def read() -> list[Event]:
        made = Log(None)  # type: ignore[arg-type]
        await made.start()
        await made._catch_up()
        return await read_all(made, after, limit, Filter(frozenset(wanted)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hub, "_RING_EVENTS", ring)
        patch.setattr(hub, "_PAGE", 5)
        found = asyncio.run(read())

    expected = [event for event in stored if event.id > after and (not wanted or event.name in wanted)]
    assert found == expected


async def test_a_version_is_another_one_as_soon_as_a_commit_is_told(database: Database) -> None:
    made = Hub(database)
    await made.start()
    database.on_commit.append(made.tell)
    before = made.version
    assert made.version == before

    emit(database, "a")
    told = made.version
    # Whoever gets the event from the ring finds another one again: a nudge may come after the reading it was for.
    await made._catch_up()

    assert before != told != made.version
