"""A run is put away: its folder gets a manifest with the digest of every file, and is removed only where that is asked.

The verb says what is wanted; `folder.py` does it, and again after a crash: first all files and the manifest, then, if
that was asked for, what the manifest lists and is as it says. What somebody edited or added stays, and so do the rows.
Called by the API and the command line.
"""

from __future__ import annotations

import msgspec

from gemba import clock
from gemba.errors import Conflict
from gemba.event import Draft
from gemba.store.database import Transaction
from gemba.teams import store
from gemba.teams.run import OPEN, RunState


class ArchiveRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`remove`: the files of its folder are removed once the manifest is there; the database keeps everything."""

    remove: bool = False


class Archived(msgspec.Struct, frozen=True):
    """`folder` is where the manifest lies, in the workspace."""

    id: str
    archived_at: str
    removed: bool
    folder: str


def archive(tx: Transaction, body: ArchiveRun, *, id: str) -> Archived:
    """Archive a run that is over. Once more keeps the time of the first; its files can be removed later, too."""
    run = store.lock_run(tx, id)
    if RunState(run.state) in OPEN:
        raise Conflict(
            f"{run.id} is {run.state}: it is archived when it is over",
            code="illegal_move",
            found=run.state,
            allowed=sorted(each for each in RunState if each not in OPEN),
        )
    at: int = tx.now if run.archived_at is None else run.archived_at
    removed = body.remove or bool(run.folder_removed)
    if run.archived_at is None or removed != bool(run.folder_removed):
        store.change_run(tx, run.id, archived_at=at, folder_removed=removed)
        tx.emit(Draft("team.archived", {"removed": removed, "by": tx.actor}, ref=run.id))
    return Archived(run.id, clock.rfc3339(at), removed, f".gemba/teams/{run.id}")


def bring_back(tx: Transaction, id: str) -> None:
    """A run goes on after all: its folder is written again, without a manifest. Its row is locked by the caller."""
    store.change_run(tx, id, archived_at=None, folder_removed=False)
