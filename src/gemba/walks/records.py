"""The summary of each walk that has ended, as a file of the workspace: `.gemba/walks/<day>-<id>.md`.

The database has the same; the file is for those who read without Gemba. It is written whole in one step. A row says
whether its file is there, so that a crash before it is made up for. Called by the server after each end, and by
commands without one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import structlog
from sqlalchemy import Row, select, update

from gemba import clock
from gemba.event import Filter
from gemba.store.database import Database
from gemba.store.hub import Hub
from gemba.store.patience import after_each
from gemba.teams.guarded_folder import guarded
from gemba.walks.tables import walks

_NEWS = Filter(frozenset({"walk.ended"}))
_PAGE = 100
_FOLDER = "walks"

log = structlog.get_logger("gemba.walks")


def file_name(id: str, started_at: int) -> str:
    return f"{clock.rfc3339(started_at)[:10]}-{id}.md"


class Summaries:
    """Those of one home. `trouble` is why some could not be written when it was tried last."""

    def __init__(self, database: Database, workspace: Path, origin: str) -> None:
        self.trouble: str | None = None
        self._database = database
        self._workspace = workspace
        self._origin = origin

    async def keep(self, hub: Hub) -> None:
        """For ever: after each end, and again while the disk refuses."""
        await after_each(hub, _NEWS, self.write, "summaries", lambda: self.trouble)

    def write(self) -> None:
        """What is missing; one that cannot be written does not stand in the others' way."""
        trouble = None
        for row in self._missing():
            trouble = self._write_one(row) or trouble
        if trouble and trouble != self.trouble:  # said once, not at every attempt
            log.warning("summaries of walks wait to be written, trying again", reason=trouble)
        self.trouble = trouble

    def _missing(self) -> list[Row[Any]]:
        mine = (walks.c.unrecorded, walks.c.origin == self._origin, walks.c.workspace == str(self._workspace))
        with self._database.read() as connection:
            return list(connection.execute(select(walks).where(*mine).order_by(walks.c.id).limit(_PAGE)))

    def _write_one(self, row: Row[Any]) -> str | None:
        try:
            with guarded(self._workspace / ".gemba", _FOLDER, make=True) as folder, folder.locked():
                folder.write(file_name(row.id, row.started_at), [(row.summary or "").encode()])
        except OSError as error:
            return error.strerror or str(error)
        with self._database.transaction() as tx:
            tx.connection.execute(update(walks).where(walks.c.id == row.id).values(unrecorded=False))
        return None
