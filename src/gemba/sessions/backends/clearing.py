"""What a run printed and how it ended, taken away: its folder goes whole, under the lock that a start takes.

A folder has one run at a time: where a database was lost, a session of the same id may have it now. The keeper's file
says whose it is: another run's is left as it is. A kill half-way leaves the folder under a name that no session has,
for the next call. Called by housekeeping.
"""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from gemba.errors import Conflict
from gemba.sessions.backends.backend import RunFolder
from gemba.sessions.backends.run_folder import read_keeper
from gemba.sessions.backends.run_lock import held

_REMOVED = "removed+"  # no session's folder has a +


def clear_run(run: RunFolder, run_id: str) -> bool:
    """Whether nothing of the run is left; False while somebody starts or keeps something there."""
    if not run.path.is_dir():
        return True
    try:
        with held(run):
            return _clear(run, run_id)
    except Conflict:
        return False


def clear_leftovers(runs_folder: Path) -> None:
    """What killed processes did not get to."""
    for left in runs_folder.glob(f"{_REMOVED}*"):
        shutil.rmtree(left, ignore_errors=True)


def _clear(run: RunFolder, run_id: str) -> bool:
    keeper = read_keeper(run)
    if keeper is not None and keeper.run_id != run_id:
        return True  # what it has is another run's
    if keeper is not None and keeper.lives:
        return False
    aside = run.path.with_name(f"{_REMOVED}{run_id}")
    shutil.rmtree(aside, ignore_errors=True)
    with contextlib.suppress(FileNotFoundError):
        run.path.rename(aside)
    shutil.rmtree(aside, ignore_errors=True)
    return True
