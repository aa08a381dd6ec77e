"""A session's worktree, let go once the session is over: by a person, or by itself when nothing is only there.

What is not committed, or not merged, goes only for a person who gives the seal of what they were shown; even then the
branch stays and the rest is kept under `refs/gemba/released/`. The worktree goes first and the row follows, each once:
a kill in between is made up for by the next call. Nothing is touched while the run's folder says that somebody starts
or keeps it, whatever the rows say. Called by the action, and by housekeeping.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from sqlalchemy import Row

from gemba.action import Action
from gemba.errors import Conflict, Unusable
from gemba.event import Draft
from gemba.sessions import runs, store
from gemba.sessions.backends.backend import RunFolder, run_folder
from gemba.sessions.backends.run_folder import read_keeper
from gemba.sessions.backends.run_lock import held
from gemba.sessions.session import Lifecycle, SessionView
from gemba.sessions.worktrees import worktree
from gemba.sessions.worktrees.worktree import Released
from gemba.store.database import Database, Transaction


class Release(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`shown`: the seal of what is only in the worktree, as it was read; without it nothing of that goes."""

    shown: Annotated[str, msgspec.Meta(min_length=1, max_length=64)] | None = None


class Releasing:
    """The worktrees of one home and workspace."""

    def __init__(self, database: Database, workspace: Path, home: Path, origin: str) -> None:
        self._database = database
        self._workspace = str(workspace)
        self._home = home
        self._origin = origin

    def let_go(self, session_id: str, shown: str | None = None) -> Released:
        """Take the worktree away; what stays of it. Conflict where there is none, or the session lives."""
        with self._database.read() as connection:
            session = store.get_session(connection, session_id)
            row = runs.find(connection, session_id)
        run = self._over(session, row)
        if run.released_at is not None:
            return Released(run.branch, run.kept_as)
        folder = run_folder(self._home, self._workspace, session_id)
        try:
            # One that never started, or whose folder was cleared, has nothing to hold.
            with held(folder) if folder.path.is_dir() else contextlib.nullcontext():
                return self._release(run, folder, shown)
        except OSError as error:
            raise Unusable(f"{error.filename or folder.path}: {error.strerror}", code="run_unusable") from None

    def _release(self, run: Row[Any], folder: RunFolder, shown: str | None) -> Released:
        keeper = read_keeper(folder)
        if keeper is not None and keeper.run_id == run.run_id and keeper.lives:
            raise _lives(run.session_id)
        return worktree.release_of(self._workspace, run.session_id, shown)

    def _over(self, session: Row[Any], run: Row[Any] | None) -> Row[Any]:
        if run is None:
            told = f"somebody else started the session {session.id}: Gemba made no worktree for it"
            raise Conflict(told, code="no_worktree", found=session.id)
        if (run.origin, run.workspace) != (self._origin, self._workspace):
            told = f"session {session.id} was started in another home or workspace: its worktree is not here"
            raise Conflict(told, code="elsewhere", found=session.id)
        if run.ended_at is None or session.lifecycle in (Lifecycle.STARTING, Lifecycle.RUNNING):
            raise _lives(session.id)
        if run.tree is not None:
            told = f"session {session.id} worked in {run.tree}, which other sessions share; it goes with their work"
            raise Conflict(told, code="no_worktree", found=session.id)
        if not run.own_tree or (run.folder is not None and run.branch is None):  # no repository, or nothing committed
            told = f"session {session.id} worked in {run.workspace} itself: it has no worktree of its own"
            raise Conflict(told, code="no_worktree", found=session.id)
        return run


def _lives(session_id: str) -> Conflict:
    told = f"the session {session_id} is not over, and works in its worktree; allowed: stop it first"
    return Conflict(told, code="session_lives", found=session_id)


def write_down(tx: Transaction, session_id: str, released: Released) -> None:
    """That it is gone, once."""
    if runs.get_locked(tx, session_id).released_at is not None:
        return
    gone: dict[str, Any] = {"folder": None, "dirty": None, "unmerged": None, "seen_at": None, "released_at": tx.now}
    runs.change(tx, session_id, **gone, branch=released.branch, kept_as=released.saved)
    told = {"branch": released.branch, "kept_as": released.saved}
    tx.emit(Draft("worktree.released", told, session_id, session_id))


def prepare(surroundings: Mapping[str, Any], wanted: Release, *, id: str) -> Released:
    released: Released = surroundings["let_go"](id, wanted.shown)
    return released


def release_session(tx: Transaction, released: Released, *, id: str) -> SessionView:
    """What is released stays so."""
    write_down(tx, id, released)
    return store.view_session(tx.connection, id)


ACTIONS = (
    Action(
        "/api/sessions/{id}/release",
        release_session,
        Release,
        SessionView,
        "Let the worktree of a session that is over go",
        prepare=prepare,
    ),
)
