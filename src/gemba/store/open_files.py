"""The SQLite files that this process has open. Nobody else in it may open one of them to read it: whoever closes it
again gives up every lock that SQLite has on it, another process writes meanwhile, and what was committed is lost.

Told by `database`; asked by whoever reads files that others name.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

_ENDS = ("", "-wal", "-shm", "-journal")
_files: set[str] = set()


def note(file: str) -> None:
    """It is a database of this process from now on, for as long as that lives."""
    _files.add(str(Path(file).absolute()))


def is_one(found: os.stat_result) -> bool:
    """Whether a file, under whatever name somebody looked at it, is one of them or of their journals."""
    for file in (f"{each}{end}" for each in tuple(_files) for end in _ENDS):
        with contextlib.suppress(OSError):
            if os.path.samestat(os.stat(file), found):  # noqa: PTH116 - asked for every file of a snapshot
                return True
    return False
