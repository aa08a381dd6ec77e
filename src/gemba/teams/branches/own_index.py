"""A copy of a worktree's index, to prepare a commit in, which takes the place of the original afterwards.

git trusts an index by its age, so the copy is as old as the original. It takes its place only while that is as it was
copied, under the lock by which git itself changes it; that lock has our name in it, and is gone with the next copy if
a kill left it. Called by `saving`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from gemba import wire

_OURS = b"gemba\n"


class OwnIndex:
    def __init__(self, entry: Path) -> None:
        self.file = entry / "gemba-index"
        self._index, self._lock = entry / "index", entry / "index.lock"
        self._seen: os.stat_result | None = None

    @contextlib.contextmanager
    def copied(self) -> Iterator[OwnIndex]:
        """Whoever calls this is alone with the worktree among us."""
        self._unlock()
        self._clear()
        with contextlib.suppress(FileNotFoundError), self._index.open("rb") as source:
            self._seen = os.fstat(source.fileno())
            with self.file.open("wb") as copy:
                shutil.copyfileobj(source, copy)
            os.utime(self.file, ns=(self._seen.st_atime_ns, self._seen.st_mtime_ns))
        try:
            yield self
        finally:
            self._clear()

    def install(self) -> None:
        """Where somebody else changes the index now, it is theirs."""
        try:
            descriptor = os.open(self._lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except FileExistsError:
            return
        try:
            os.write(descriptor, _OURS)
        finally:
            os.close(descriptor)
        if self._is_as_seen() and self.file.exists():
            self.file.replace(self._index)
        self._unlock()

    def _is_as_seen(self) -> bool:
        try:
            now = self._index.stat()
        except FileNotFoundError:
            return self._seen is None
        seen = self._seen
        return seen is not None and (now.st_ino, now.st_mtime_ns, now.st_size) == (
            seen.st_ino,
            seen.st_mtime_ns,
            seen.st_size,
        )

    def _unlock(self) -> None:
        """Take away a lock of ours."""
        with contextlib.suppress(OSError):
            if wire.read_file(str(self._lock), len(_OURS)) == _OURS:
                self._lock.unlink()

    def _clear(self) -> None:
        for file in (self.file, self.file.with_name(f"{self.file.name}.lock")):
            file.unlink(missing_ok=True)
