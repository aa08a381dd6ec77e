"""How one process learns that another one has committed: NOTIFY on PostgreSQL, a touched file beside SQLite.

Both cost nothing while nothing happens. A signal that got lost, because a process died between its commit and its
signal or because the network did, is made up for at the next one or after `_AT_LEAST_EVERY` seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import structlog

from gemba.store.database import Database
from gemba.store.events import CHANNEL
from gemba.threads import repeat_in_thread
from gemba.watch import FolderWatch

_AT_LEAST_EVERY = 5.0

log = structlog.get_logger("gemba.signal")


class Signal(Protocol):
    def tell(self) -> None:
        """Say that this process has committed; from any thread."""

    async def listen(self, heard: Callable[[], None]) -> None:
        """Call `heard` whenever another process has committed, and now and then, until cancelled."""

    def close(self) -> None:
        """Give back what it holds; nothing is told afterwards."""


def signal_for(database: Database, folder: Path) -> Signal:
    return FileSignal(folder) if database.is_sqlite else PostgresSignal(database)


class FileSignal:
    """A byte written to a file of its own in a shared folder, which is watched by whoever wants to know.

    The name tells a listener others' commits from its own, of which it knows already. The file is locked for as long
    as its process lives; what dead ones left is removed by the next listener.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        self._folder = folder
        self._name, self._file = "", -1
        # A full disk has no room for a file; what is told in vain others find within _AT_LEAST_EVERY.
        with contextlib.suppress(OSError):
            self._name, self._file = _own_file(folder)

    def tell(self) -> None:
        # Nor does it undo the commit that is told of.
        with contextlib.suppress(OSError):
            os.pwrite(self._file, b".", 0)

    async def listen(self, heard: Callable[[], None]) -> None:
        _remove_orphans(self._folder)
        with FolderWatch(str(self._folder)) as watch:

            def wait() -> None:
                if watch.wait(_AT_LEAST_EVERY) != {self._name}:
                    heard()

            heard()
            await repeat_in_thread(wait, interrupt=watch.wake)

    def close(self) -> None:
        file, self._file = self._file, -1
        if file != -1:
            with contextlib.suppress(OSError):
                (self._folder / self._name).unlink()
            os.close(file)


def _own_file(folder: Path) -> tuple[str, int]:
    """A new file, locked; its name and its descriptor."""
    while True:
        name = secrets.token_hex(8)
        file = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        fcntl.flock(file, fcntl.LOCK_SH)
        if os.fstat(file).st_nlink:  # else it was taken for an orphan before it was locked
            return name, file
        os.close(file)


def _remove_orphans(folder: Path) -> None:
    for path in folder.iterdir():
        with contextlib.suppress(OSError):  # locked, so somebody's; or gone
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
            finally:
                os.close(file)


class PostgresSignal:
    """LISTEN and NOTIFY on a connection of its own, made anew when the server goes away."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def tell(self) -> None:
        """Nothing to do: the append itself notifies, when and only when it commits."""

    async def listen(self, heard: Callable[[], None]) -> None:
        import psycopg

        url = self._database.engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
                    await connection.execute(f"LISTEN {CHANNEL}")
                    while True:
                        heard()
                        async for notice in connection.notifies(timeout=_AT_LEAST_EVERY):
                            if notice.payload != self._database.name:
                                heard()
            except psycopg.Error as error:
                log.warning("database signal lost, connecting again", reason=str(error).strip())
            await asyncio.sleep(1)

    def close(self) -> None:
        """Nothing is held outside of `listen`."""
