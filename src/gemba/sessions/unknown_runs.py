"""Runs that live in a home though the database has none of them: it was lost, or another one is used in its place.

Nobody could stop such a run any more, nor see it. Only those of the workspace are meant, by what their keepers say:
several workspaces have their runs in one home. `gemba serve` stops them when it starts, since it alone knows that no
other server keeps the workspace's; `gemba doctor` tells of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import structlog

from gemba.errors import GembaError
from gemba.sessions import runs
from gemba.sessions.backends.backend import RunFolder
from gemba.sessions.backends.run_folder import read_keeper, stop_kept
from gemba.store.database import Database

_AT_ONCE = 8
_GRACE = 5.0  # seconds between a request to end and force

log = structlog.get_logger("gemba.sessions")


def find(database: Database, home: Path, workspace: Path) -> list[RunFolder]:
    """The folders come first: a run has its row before it has a folder."""
    found: dict[str, RunFolder] = {}
    for path in sorted((home / "runs").glob("*")):
        run = RunFolder(path.name, path)
        keeper = read_keeper(run)
        if keeper is not None and keeper.workspace == str(workspace) and keeper.lives:
            found[keeper.run_id] = run
    with database.read() as connection:
        known = runs.living(connection, list(found))
    return [run for run_id, run in found.items() if run_id not in known]


def stop(unknown: Sequence[RunFolder]) -> None:
    """End them, each with all that it started; what they printed stays, and so do their worktrees."""
    with ThreadPoolExecutor(_AT_ONCE, "unknown-runs") as pool:
        list(pool.map(_stop, unknown))


def _stop(run: RunFolder) -> None:
    try:
        stop_kept(run, _GRACE)
    except GembaError as error:
        log.warning("a run that the database has no row of cannot be ended", folder=str(run.path), reason=error.message)
    else:
        log.warning("a run that the database has no row of was ended", folder=str(run.path))
