"""What sessions leave behind, cleared away when nobody can want it any more. One round can be repeated at any time.

Worktrees of sessions that are over go by themselves when nothing is only there. What an agent printed goes some days
after its end. Nothing of a session that lives is touched, nor what another home or workspace started. What cannot be
cleared now is left for the next round. Called by `app.py`, at its start and every hour.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import structlog
from sqlalchemy import ColumnElement, Row, or_, select

from gemba import clock
from gemba.errors import GembaError
from gemba.event import Draft
from gemba.sessions.backends.backend import run_folder
from gemba.sessions.backends.clearing import clear_leftovers, clear_run
from gemba.sessions.releasing import Releasing, write_down
from gemba.sessions.runs import change, get_locked, runs
from gemba.sessions.session import Lifecycle
from gemba.sessions.store import sessions
from gemba.store import events
from gemba.store.database import REFUSALS, Database

log = structlog.get_logger("gemba.sessions")


class Housekeeping:
    """Of one home and workspace."""

    def __init__(self, database: Database, workspace: Path, home: Path, origin: str, keep_days: int) -> None:
        self._database = database
        self._home = home
        self._keep_days = keep_days
        self._mine = (runs.c.origin == origin, runs.c.workspace == str(workspace))
        self.releasing = Releasing(database, workspace, home, origin)

    def tidy(self) -> None:
        # One without a branch may have a part of a worktree; with a folder, that is the workspace itself.
        may_have_one = or_(runs.c.branch.is_not(None), runs.c.folder.is_(None))
        own = (runs.c.own_tree, runs.c.tree.is_(None))
        for row in self._over(*own, runs.c.released_at.is_(None), may_have_one):
            self._alone(self._release, row)
        clear_leftovers(self._home / "runs")
        for row in self._over(runs.c.cleared_at.is_(None), runs.c.ended_at < self._oldest()):
            self._alone(self._clear, row)

    def _alone(self, step: Callable[[Row[Any]], None], row: Row[Any]) -> None:
        """What goes wrong with one is told, and no other one's trouble."""
        try:
            step(row)
        except REFUSALS:
            raise  # the database's, which concerns all
        except Exception:
            log.warning("what a session left cannot be cleared away", session_id=row.session_id, exc_info=True)

    def _over(self, *chosen: ColumnElement[bool]) -> Sequence[Row[Any]]:
        """Sessions that have ended, and have not been taken up again by hand."""
        lives = sessions.c.lifecycle.in_((Lifecycle.STARTING, Lifecycle.RUNNING))
        query = select(runs).join(sessions, sessions.c.id == runs.c.session_id)
        query = query.where(*self._mine, runs.c.ended_at.is_not(None), ~lives, *chosen).order_by(runs.c.ended_at)
        with self._database.read() as connection:
            return connection.execute(query).all()

    def _oldest(self) -> int:
        with self._database.read() as connection:
            # A clock that was set ahead by mistake must not make everything old.
            now = min(clock.now(), events.last_at(connection))
        return now - self._keep_days * clock.DAY

    def _release(self, row: Row[Any]) -> None:
        try:
            released = self.releasing.let_go(row.session_id)
        except GembaError as error:  # usually: something is only there
            log.debug("a worktree stays", session_id=row.session_id, reason=error.message)
            return
        with self._database.transaction() as tx:
            write_down(tx, row.session_id, released)

    def _clear(self, row: Row[Any]) -> None:
        if not clear_run(run_folder(self._home, row.workspace, row.session_id), row.run_id):
            return
        with self._database.transaction() as tx:
            if get_locked(tx, row.session_id).cleared_at is None:
                change(tx, row.session_id, cleared_at=tx.now)
                tx.emit(Draft("transcript.removed", {"run": row.run_id}, row.session_id, row.session_id))
