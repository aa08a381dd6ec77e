"""How one process hears of another's commit: NOTIFY on PostgreSQL, a touched file beside SQLite."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from gemba.event import Draft
from gemba.store import signal
from gemba.store.database import Database, connect
from gemba.store.migrate import open_database
from gemba.store.signal import FileSignal, Signal, signal_for
from tests.fixtures.cluster import Cluster

pytestmark = pytest.mark.anyio


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with closing(open_database(database_url)) as opened:
        yield opened


class Listener:
    """Counts what it hears, and waits for more."""

    def __init__(self, listening: Signal) -> None:
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._task = asyncio.create_task(listening.listen(self._heard))

    def _heard(self) -> None:
        self._loop.call_soon_threadsafe(self._news.set)

    async def more(self) -> None:
        async with asyncio.timeout(30):
            await self._news.wait()
        self._news.clear()

    async def close(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task


def commit(database: Database, *, by: Signal) -> None:
    database.on_commit[:] = [lambda _: by.tell()]
    with database.transaction() as tx:
        tx.emit(Draft("a", {}))


async def test_a_commit_elsewhere_is_heard(
    database: Database, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signal, "_AT_LEAST_EVERY", 3600.0)
    with closing(connect(database_url)) as elsewhere:
        here, there = (signal_for(used, tmp_path / "signal") for used in (database, elsewhere))
        listener = Listener(here)
        # What happened before it listened may be news as well.
        await listener.more()

        for _ in range(3):
            await asyncio.to_thread(commit, elsewhere, by=there)
            await listener.more()

        await listener.close()
        here.close()
        there.close()


async def test_an_own_commit_is_not_heard(
    database: Database, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signal, "_AT_LEAST_EVERY", 3600.0)
    loop, begun, answered = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
    heard: list[int] = []
    own = 0

    def hear() -> None:
        heard.append(own)
        loop.call_soon_threadsafe((answered if begun.is_set() else begun).set)

    with closing(connect(database_url)) as elsewhere:
        here, there = (signal_for(used, tmp_path / "signal") for used in (database, elsewhere))
        listening = asyncio.create_task(here.listen(hear))
        async with asyncio.timeout(30):
            await begun.wait()
            for _ in range(20):
                own += 1
                await asyncio.to_thread(commit, database, by=here)
            await asyncio.to_thread(commit, elsewhere, by=there)
            await answered.wait()

        # The other's may be read together with our last ones; ours alone never are.
        assert heard == [0, 20]
        listening.cancel()
        with suppress(asyncio.CancelledError):
            await listening
        here.close()
        there.close()


async def test_a_lost_signal_is_made_up_for(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signal, "_AT_LEAST_EVERY", 0.02)
    listening = signal_for(database, tmp_path / "signal")
    listener = Listener(listening)

    for _ in range(3):
        await listener.more()

    await listener.close()
    listening.close()


async def test_postgresql_is_listened_to_again_after_it_went_away(
    durable_postgres: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signal, "_AT_LEAST_EVERY", 3600.0)
    url = durable_postgres.url()
    with closing(open_database(url)) as database, closing(connect(url)) as elsewhere:
        listening = signal_for(database, tmp_path)
        listener = Listener(listening)
        await listener.more()
        with capture_logs() as logged:
            await asyncio.to_thread(durable_postgres.stop, "fast")
            await asyncio.to_thread(durable_postgres.start)
            await listener.more()

            await asyncio.to_thread(commit, elsewhere, by=listening)
            await listener.more()

        assert {line["event"] for line in logged} == {"database signal lost, connecting again"}
        await listener.close()


def test_a_closed_signal_tells_nobody_and_writes_into_no_other_file(tmp_path: Path) -> None:
    telling = FileSignal(tmp_path / "signal")
    telling.close()
    telling.close()
    other = os.open(tmp_path / "other", os.O_RDWR | os.O_CREAT)

    telling.tell()

    os.close(other)
    assert (tmp_path / "other").read_bytes() == b""


def test_the_file_is_private_and_gone_with_its_process(tmp_path: Path) -> None:
    telling = FileSignal(tmp_path / "signal")
    (file,) = (tmp_path / "signal").iterdir()

    assert (tmp_path / "signal").stat().st_mode & 0o777 == 0o700
    assert file.stat().st_mode & 0o777 == 0o600
    telling.close()
    assert not file.exists()


async def test_what_dead_processes_left_is_removed_and_nothing_of_living_ones(tmp_path: Path) -> None:
    folder = tmp_path / "signal"
    here, there = FileSignal(folder), FileSignal(folder)
    living = set(folder.iterdir())
    (folder / "left-behind").write_bytes(b".")

    listener = Listener(here)
    await listener.more()

    assert set(folder.iterdir()) == living
    await listener.close()
    here.close()
    there.close()
