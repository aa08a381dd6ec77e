"""The record of each consult that is over, as a file of the home: `persona/consults/<day>/<id>.json`.

The database has the same; the file is for those who read without Gemba. It is written whole in one step, and again
when something of the consult is applied or it is closed. A row says whether its file is of its version, so that a crash
before the file is there is made up for. Called by the server after each change, and by commands without one.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import structlog
from sqlalchemy import Row, select, update

from gemba import clock, wire
from gemba.event import Filter
from gemba.personas import consults
from gemba.personas.consult import ConsultDetail
from gemba.store.database import Database
from gemba.store.hub import Hub
from gemba.store.patience import after_each

_PAGE = 100
# What changes which records must be on disk.
_NEWS = Filter(
    frozenset({"consult.started", "consult.applied", "consult.unapplied", "consult.finished", "consult.closed"})
)

log = structlog.get_logger("gemba.consults")


def record_path(home: Path, id: str, started_at: int) -> Path:
    return home / "persona" / "consults" / clock.rfc3339(started_at)[:10] / f"{id}.json"


class Records:
    """Those of one home. `trouble` is why some could not be written when it was tried last."""

    def __init__(self, database: Database, home: Path, origin: str) -> None:
        self.trouble: str | None = None
        self._database = database
        self._home = home
        self._origin = origin

    async def keep(self, hub: Hub) -> None:
        """For ever: after each change, and again while the disk refuses."""
        await after_each(hub, _NEWS, self.write, "records", lambda: self.trouble)

    def write(self) -> None:
        """What is missing; one that cannot be written does not stand in the others' way."""
        trouble, last = None, ""
        while found := self._missing(last):
            for row, view in found:
                trouble = self._write_one(row, view) or trouble
            last = found[-1][0].id
        if trouble and trouble != self.trouble:  # said once, not at every attempt
            log.warning("records of consults wait to be written, trying again", reason=trouble)
        self.trouble = trouble

    def _missing(self, after: str) -> list[tuple[Row[Any], ConsultDetail]]:
        table = consults.consults
        missing = (table.c.unrecorded, table.c.origin == self._origin, table.c.id > after)
        with self._database.read() as connection:
            found = connection.execute(select(table).where(*missing).order_by(table.c.id).limit(_PAGE)).all()
            return [(row, consults.detail(connection, row)) for row in found]

    def _write_one(self, row: Row[Any], view: ConsultDetail) -> str | None:
        """The reason when it failed. A change meanwhile leaves it to be written again."""
        try:
            _write_whole(record_path(self._home, row.id, row.started_at), msgspec.json.encode(view))
        except OSError as error:
            return error.strerror or str(error)
        table = consults.consults
        same = (table.c.id == row.id, table.c.version == row.version)
        with self._database.transaction() as tx:
            tx.connection.execute(update(table).where(*same).values(unrecorded=False))
        return None


def _write_whole(target: Path, data: bytes) -> None:
    """In one step for its reader; two that write the same do so one after the other."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.partial")
    file = wire.open_locked(str(partial))
    try:
        os.ftruncate(file, 0)  # what a killed writer left
        view = memoryview(data)
        while view:
            view = view[os.write(file, view) :]
        os.fsync(file)
        partial.replace(target)
    except OSError:
        partial.unlink(missing_ok=True)
        raise
    finally:
        os.close(file)
    wire.sync_folder(str(target.parent))
