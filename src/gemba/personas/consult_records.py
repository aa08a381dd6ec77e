"""The record of each consult that is over, as a file of the home: `persona/consults/<day>/<id>.json`.

The database has the same; the file is for those who read without Gemba. It is written whole in one step, and again
when something of the consult is applied or it is closed. A row says whether its file is of its version, so that a crash
before the file is there is made up for. Called by the server after each change, and by commands without one.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import structlog
from sqlalchemy import select, update

from gemba import clock, wire
from gemba.personas import consults
from gemba.store.database import Database

_PAGE = 100

log = structlog.get_logger("gemba.consults")


def record_path(home: Path, id: str, started_at: int) -> Path:
    return home / "persona" / "consults" / clock.rfc3339(started_at)[:10] / f"{id}.json"


def write_records(database: Database, home: Path, origin: str) -> str | None:
    """Write what is missing; the reason when some could not be written."""
    table, last, trouble = consults.consults, "", None
    while True:
        missing = (table.c.unrecorded, table.c.origin == origin, table.c.id > last)
        with database.read() as connection:
            found = connection.execute(select(table).where(*missing).order_by(table.c.id).limit(_PAGE)).all()
            views = [consults.detail(connection, row) for row in found]
        if not found:
            return trouble
        for row, view in zip(found, views, strict=True):
            try:
                _write_whole(record_path(home, row.id, row.started_at), msgspec.json.encode(view))
            except OSError as error:
                trouble = error.strerror or str(error)
                continue
            with database.transaction() as tx:
                same = (table.c.id == row.id, table.c.version == row.version)
                tx.connection.execute(update(table).where(*same).values(unrecorded=False))
        last = found[-1].id


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
