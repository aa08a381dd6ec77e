"""Answers that are kept: the same bytes while nothing is committed, none of them afterwards."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from gemba.api import cache
from gemba.api.cache import Cache
from gemba.event import Draft
from gemba.store.database import Database
from gemba.store.hub import Hub
from gemba.store.migrate import open_database

pytestmark = pytest.mark.anyio

KEY = ("/api/things", b"limit=1")


@pytest.fixture
def database(sqlite_url: str) -> Iterator[Database]:
    opened = open_database(sqlite_url)
    yield opened
    opened.close()


async def hub_of(database: Database) -> Hub:
    """A hub that hears of commits and reads nothing by itself."""
    made = Hub(database)
    await made.start()
    database.on_commit.append(made.tell)
    return made


def commit(database: Database) -> None:
    with database.transaction() as tx:
        tx.emit(Draft("a", {}))


async def test_an_answer_is_kept_until_the_next_commit(database: Database) -> None:
    kept = Cache(await hub_of(database))
    assert kept.find(KEY) is None
    assert await kept.make(KEY, lambda: b"one") == b"one"
    assert kept.find(KEY) == b"one"
    assert kept.find((KEY[0], b"limit=2")) is None

    commit(database)

    assert kept.find(KEY) is None


async def test_what_was_read_while_somebody_committed_is_not_kept_as_new(database: Database) -> None:
    kept = Cache(await hub_of(database))

    def read() -> bytes:
        commit(database)  # after this reading, as far as anybody can tell
        return b"old"

    assert await kept.make(KEY, read) == b"old"
    assert kept.find(KEY) is None


async def test_an_answer_grows_old_by_itself(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_LONGEST_SECONDS", -1.0)
    kept = Cache(await hub_of(database))

    await kept.make(KEY, lambda: b"one")

    assert kept.find(KEY) is None


async def test_those_who_ask_at_once_share_one_reading(database: Database) -> None:
    kept = Cache(await hub_of(database))
    go_on = threading.Event()
    readings: list[int] = []

    def read() -> bytes:
        readings.append(1)
        assert go_on.wait(30)
        return b"one"

    asking = [asyncio.create_task(kept.make(KEY, read)) for _ in range(5)]
    await asyncio.sleep(0)
    # One who goes away takes nothing from the others.
    asking[0].cancel()
    await asyncio.sleep(0)
    # One who comes after a commit gets a reading of its own.
    commit(database)
    late = asyncio.create_task(kept.make(KEY, read))
    await asyncio.sleep(0)
    go_on.set()

    assert await asyncio.gather(*asking[1:], late) == [b"one"] * 5
    assert len(readings) == 2


async def test_a_reading_that_fails_is_told_to_all_and_kept_for_nobody(database: Database) -> None:
    kept = Cache(await hub_of(database))

    def fail() -> bytes:
        raise ValueError("not now")

    told = await asyncio.gather(*(kept.make(KEY, fail) for _ in range(3)), return_exceptions=True)

    assert [str(error) for error in told] == ["not now"] * 3
    assert kept.find(KEY) is None
    assert await kept.make(KEY, lambda: b"now") == b"now"


async def test_what_was_not_asked_for_lately_makes_room(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_MOST_BYTES", 100)
    kept = Cache(await hub_of(database))
    a, b, c = (("/api/things", name) for name in (b"a", b"b", b"c"))
    await kept.make(a, lambda: b"a" * 40)
    await kept.make(b, lambda: b"b" * 40)
    assert kept.find(a)

    await kept.make(c, lambda: b"c" * 40)
    assert [kept.find(key) is not None for key in (a, b, c)] == [True, False, True]

    # The same again takes no more room, and what is larger than all of it is not kept.
    await kept.make(c, lambda: b"c" * 60)
    assert await kept.make(b, lambda: b"b" * 101) == b"b" * 101
    assert [kept.find(key) is not None for key in (a, b, c)] == [True, False, True]
