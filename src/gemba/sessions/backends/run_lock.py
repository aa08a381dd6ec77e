"""The lock of a run's folder: whoever starts the run holds it, and whoever takes away what an earlier one left.

The folder may be cleared away with its lock, so a lock counts only while it is the one that lies there. Called by
`run_folder`, `clearing` and whoever must not meet a start.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator

from gemba.errors import Conflict
from gemba.sessions.backends.backend import RunFolder

ALREADY_STARTING = "run_starting"  # the code of a Conflict


@contextlib.contextmanager
def held(run: RunFolder) -> Iterator[None]:
    """While nobody else has it; the folder is made for it. Conflict when somebody has it at this moment."""
    run.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = _taken(run)
    if lock is None:
        raise Conflict(f"session {run.session_id} is being started already", code=ALREADY_STARTING)
    try:
        yield
    finally:
        os.close(lock)


def _taken(run: RunFolder) -> int | None:
    file = run.path / "lock"
    try:
        run.path.mkdir(mode=0o700, exist_ok=True)
        lock = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:  # it was cleared away between the two
        return None
    with contextlib.suppress(BlockingIOError, FileNotFoundError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(lock), file.stat()):
            return lock
    os.close(lock)
    return None
