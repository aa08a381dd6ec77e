"""Whether the code moved since an ask: another commit, another branch, or a worktree that is no more.

Looked up when an escalation is shown, as long as its answer matters. A list reads git's files only; how much changed
is asked of git itself for a single one, once for each pair of commits. An ask from another home says nothing here: its
paths are another machine's.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec
from sqlalchemy import Row

from gemba import git, wire
from gemba.escalations.escalation import Escalation, Stale

Place = tuple[str | None, str | None, str | None]  # commit, branch and worktree, as `wire.git_place` tells them


def stale_of(
    row: Row[Any], origin: str | None = None, place_of: Callable[[str], Place] = wire.git_place
) -> Stale | None:
    """None when nothing moved, or when that cannot be told. `origin`: the home that we see the folders of."""
    folder = row.worktree or row.cwd
    if row.resolved or row.commit_hash is None or folder is None or origin not in (None, row.origin):
        return None
    head, branch, worktree = place_of(folder)
    # Where a worktree was removed, the folder above may be another one.
    if row.worktree is not None and worktree != row.worktree and not _is_same(worktree, row.worktree):
        return Stale(row.commit_hash, None, row.branch, None, gone=True)
    if head is None or (head == row.commit_hash and row.branch in (None, branch)):
        return None
    return Stale(row.commit_hash, head, row.branch, branch, gone=False)


def measured(shown: Escalation) -> Escalation:
    """The same with how much changed, if git can tell. Waits for git: not while a connection is held."""
    stale, folder = shown.stale, shown.worktree or shown.cwd
    if stale is None or stale.head is None or folder is None:
        return shown
    stat = _figures.between(folder, stale.commit, stale.head)
    if stat is None:
        return shown
    told = msgspec.structs.replace(stale, files=stat.files, insertions=stat.insertions, deletions=stat.deletions)
    return msgspec.structs.replace(shown, stale=told)


class Figures:
    """What git told, by worktree and commits; those who ask for the same at once wait for one git."""

    def __init__(self, most: int = 256) -> None:
        self._most = most
        self._lock = Lock()
        self._known: dict[tuple[str, str, str], Future[git.DiffStat | None]] = {}

    def between(self, folder: str, before: str, after: str) -> git.DiffStat | None:
        key = (folder, before, after)
        with self._lock:
            known = self._known.get(key)
            asks = known is None
            if known is None:
                known = self._known[key] = Future()
                while len(self._known) > self._most:
                    del self._known[next(iter(self._known))]
        if asks:
            try:
                known.set_result(git.diff_stat(folder, before, after))
            except BaseException as error:
                known.set_exception(error)
                with self._lock:
                    self._known.pop(key, None)
                raise
        return known.result()


_figures = Figures()


def _is_same(found: str | None, expected: str) -> bool:
    """The same folder by another name: a link above it may have moved. What an agent wrote may be no path at all."""
    try:
        return found is not None and Path(expected).is_dir() and Path(found).samefile(expected)
    except (OSError, ValueError):
        return False
