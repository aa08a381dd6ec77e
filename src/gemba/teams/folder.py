"""The folder of each run, `<workspace>/.gemba/teams/<id>/`, written from the rows for people and tools.

The database is the truth: what is deleted or edited here is written again with the run's next change, and nothing is
ever read back. A file is there whole or not at all; messages are appended as long as their file is as it was left, else
it is written anew. A row says that its folder is not as the rows are, or was being written: whatever is killed, the
next server makes up for it. One process writes at a time. Called by the server after each change of a run, and by
commands without one.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import structlog
from sqlalchemy import Connection, Row, or_, select, update

from gemba import clock
from gemba.event import NAMES, Filter
from gemba.store.database import Database
from gemba.store.hub import Hub
from gemba.store.lists import among
from gemba.store.patience import patiently
from gemba.teams.folder_files import MANIFEST, MESSAGES, Contents, Stored, Wanted, contents_of, manifest, message_lines
from gemba.teams.guarded_folder import GuardedFolder, guarded
from gemba.teams.loading import content_of
from gemba.teams.run import OPEN, check_id
from gemba.teams.tables import runs

_RETRY_SECONDS = 2.0
_REST = 4  # for each moment that writing took, so many without it: who only reads the folder can wait a little
_SHORTEST_REST = 0.5
_LONGEST_REST = 5.0
_PAGE = 500
_NEWS = Filter(frozenset(name for name in NAMES if name.startswith("team.")))

log = structlog.get_logger("gemba.teams")


def folder_of(root: Path, run_id: str) -> Path:
    return root / ".gemba" / "teams" / check_id(run_id)


class _Seen(NamedTuple):
    """How a file was when it was written or compared last: as long as it is so, it has this digest."""

    identity: tuple[int, int, int, int]
    digest: str


class _Told(NamedTuple):
    """The file of messages as it was left, and the number of the last one in it."""

    identity: tuple[int, int, int, int]
    last: int


class Folders:
    """Those of one workspace. `trouble` is why some could not be written when it was tried last."""

    def __init__(self, database: Database, root: Path, origin: str) -> None:
        self.trouble: str | None = None
        self._database = database
        self._root = root
        self._origin = origin
        self._seen: dict[tuple[str, ...], _Seen] = {}
        self._told: dict[str, _Told] = {}
        self._moved: set[str] = set()  # runs of which a task moved
        self._all_open = False  # which ones moved is not known

    # ---- when --------------------------------------------------------------------------------------------------------

    async def keep(self, hub: Hub) -> None:
        """For ever: after each change, and again while the disk refuses."""
        seen = hub.last
        self._all_open = True
        while True:
            began = clock.elapsed()
            await patiently(self.write, "folders of teams")
            spent = (clock.elapsed() - began) / clock.SECOND
            await asyncio.sleep(min(max(spent * _REST, _SHORTEST_REST), _LONGEST_REST))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_RETRY_SECONDS if self.trouble else None):
                    await hub.wait_for(seen, _NEWS)
            seen = await self._take_news(hub, seen)

    async def _take_news(self, hub: Hub, seen: int) -> int:
        if not hub.holds(seen) and hub.last > seen:
            self._all_open = True
            return hub.last
        while seen < hub.last:
            found, seen = await hub.read(seen, _PAGE, _NEWS)
            self._moved.update(event.ref.partition("/")[0] for event in found if event.ref)
        return seen

    def write(self) -> None:
        """What is not as the rows are; one that cannot be written does not stand in the others' way."""
        moved, self._moved = self._moved, set()
        missing = self._missing(moved, self._all_open)
        self._all_open = False
        trouble = None
        for id in missing:
            failed = self._write_run(id)
            if failed is not None:
                trouble = failed
                self._moved.add(id)
        if trouble and trouble != self.trouble:  # said once, not at every attempt
            log.warning("folders of team runs wait to be written, trying again", reason=trouble)
        self.trouble = trouble

    def _missing(self, moved: set[str], all_open: bool) -> list[str]:
        with self._database.read() as connection:
            wanted = [runs.c.unwritten, runs.c.writing, among(connection, runs.c.id, sorted(moved))]
            if all_open:
                wanted.append(runs.c.state.in_(sorted(OPEN)))
            ours = (runs.c.workspace == str(self._root), runs.c.origin == self._origin)
            found = select(runs.c.id).where(or_(*wanted), *ours).order_by(runs.c.created_at, runs.c.id)
            return [*connection.execute(found).scalars()]

    # ---- one run -----------------------------------------------------------------------------------------------------

    def _write_run(self, id: str) -> str | None:
        """The reason when it failed. What changes while it is written leaves it to be written again."""
        try:
            with guarded(self._root / ".gemba", "teams", make=True) as teams, teams.locked():
                self._mark(id, unwritten=False, writing=True)
                with self._database.read() as connection:
                    run = connection.execute(select(runs).where(runs.c.id == check_id(id))).one()
                    contents = contents_of(connection, run)
                self._write_files(teams, run, contents)
                self._mark(id, writing=False)
        except OSError as error:
            return error.strerror or str(error)
        return None

    def _mark(self, id: str, **values: bool) -> None:
        with self._database.transaction() as tx:
            tx.connection.execute(update(runs).where(runs.c.id == id).values(values))

    def _write_files(self, teams: GuardedFolder, run: Row[Any], contents: Contents) -> None:
        with teams.inside(run.id, make=True) as folder:
            if run.archived_at is None:
                self._write_all(folder, run, contents)
                folder.remove(MANIFEST)  # of a run that went on after all
                return
            listed = [*contents.files, self._messages_file(run)]
            last = manifest(run, listed)
            if not (run.folder_removed and self._is_as(folder, run.id, last)):
                self._write_all(folder, run, contents)
                self._write_one(folder, run.id, last)
            if run.folder_removed:
                self._remove(folder, listed)
                self._forget(run.id)

    def _write_all(self, folder: GuardedFolder, run: Row[Any], contents: Contents) -> None:
        for wanted in contents.files:
            with folder.inside(*wanted.path[:-1], make=True) as place:
                self._write_one(place, run.id, wanted)
        for path in contents.outdated:
            with contextlib.suppress(FileNotFoundError), folder.inside(*path[:-1]) as place:
                place.remove(path[-1])
        self._write_messages(folder, run)

    def _write_one(self, place: GuardedFolder, run_id: str, wanted: Wanted) -> None:
        if self._is_as(place, run_id, wanted):
            return
        content = wanted.content
        data = self._read_stored(run_id, content) if isinstance(content, Stored) else content
        written = place.write(wanted.path[-1], [data])
        self._seen[run_id, *wanted.path] = _Seen(_identity(written), wanted.digest)

    def _read_stored(self, run_id: str, artifact: Stored) -> bytes:
        with self._database.read() as connection:
            return (content_of(connection, run_id, artifact.name, artifact.version) or "").encode()

    def _is_as(self, place: GuardedFolder, run_id: str, wanted: Wanted) -> bool:
        """Whether a file is what it should be; one that nobody touched since it was compared is not read again."""
        found = place.look(wanted.path[-1])
        if found is None or not stat.S_ISREG(found.st_mode) or found.st_size != wanted.size:
            return False
        key = (run_id, *wanted.path)
        known = self._seen.get(key)
        if known is None or known.identity != _identity(found):
            known = _Seen(_identity(found), digest_of(place.chunks(wanted.path[-1])))
            self._seen[key] = known
        return known.digest == wanted.digest

    # ---- messages ----------------------------------------------------------------------------------------------------

    def _write_messages(self, folder: GuardedFolder, run: Row[Any]) -> None:
        found, told = folder.look(MESSAGES), self._told.get(run.id)
        if found is not None and told is not None and told.identity == _identity(found) and told.last <= run.messages:
            if told.last == run.messages:
                return
            written = folder.append(MESSAGES, self._messages(run, told.last))
        else:
            written = folder.write(MESSAGES, self._messages(run, 0))
        self._told[run.id] = _Told(_identity(written), run.messages)

    def _messages(self, run: Row[Any], after: int) -> Iterator[bytes]:
        while after < run.messages:
            with self._database.read() as connection:
                lines = message_lines(connection, run.id, after, run.messages)
            if not lines:
                return
            after += len(lines)
            yield b"".join(lines)

    def _messages_file(self, run: Row[Any]) -> Wanted:
        digest, size = hashlib.sha256(), 0
        for part in self._messages(run, 0):
            digest.update(part)
            size += len(part)
        return Wanted((MESSAGES,), digest.hexdigest(), size, b"")

    # ---- removing ----------------------------------------------------------------------------------------------------

    def _remove(self, folder: GuardedFolder, listed: Iterable[Wanted]) -> None:
        """What the manifest lists and is as it says; whatever else lies there stays, and so do the folders with it."""
        places: set[tuple[str, ...]] = set()
        for wanted in listed:
            places.update(wanted.path[:depth] for depth in range(1, len(wanted.path)))
            with contextlib.suppress(FileNotFoundError), folder.inside(*wanted.path[:-1]) as place:
                if _is_exactly(place, wanted):
                    place.remove(wanted.path[-1])
        for path in sorted(places, key=len, reverse=True):
            with contextlib.suppress(FileNotFoundError), folder.inside(*path[:-1]) as place:
                place.remove_folder(path[-1])
        folder.sync()

    def _forget(self, run_id: str) -> None:
        self._told.pop(run_id, None)
        for key in [key for key in self._seen if key[0] == run_id]:
            del self._seen[key]


def runs_to_write(connection: Connection, root: Path, origin: str) -> int:
    """How many folders are not as the rows are."""
    behind = or_(runs.c.unwritten, runs.c.writing)
    found = select(runs.c.id).where(behind, runs.c.workspace == str(root), runs.c.origin == origin)
    return len(connection.execute(found).all())


def digest_of(chunks: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    return digest.hexdigest()


def _is_exactly(place: GuardedFolder, wanted: Wanted) -> bool:
    found = place.look(wanted.path[-1])
    if found is None or not stat.S_ISREG(found.st_mode) or found.st_size != wanted.size:
        return False
    return digest_of(place.chunks(wanted.path[-1])) == wanted.digest


def _identity(found: os.stat_result) -> tuple[int, int, int, int]:
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
