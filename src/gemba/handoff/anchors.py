"""The anchors of an audit log: a file outside of the workspace with one line for each head that there was.

It is appended to and never rewritten. A line is a number and a hash; `begin` before them says that with this entry the
operator began a new log, since the one before was gone or was changed: what stands above it is remembered by the file,
and no longer asked of the table.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import NamedTuple

from gemba.handoff.chain import BEGINNING, Anchor

_MOST_DIGITS = 18
_BEGIN = "begin "


class Known(NamedTuple):
    """What the file remembers of the log that is kept now, and the entry with which it began if it is not the first."""

    anchors: list[Anchor]
    begun: Anchor | None = None

    @property
    def last(self) -> Anchor:
        return max(self.anchors, default=BEGINNING)


class Anchors(NamedTuple):
    file: Path

    def keep(self, anchor: Anchor) -> None:
        """On disk when this returns. Several processes may do so at once, in any order."""
        self._write(f"{anchor.number} {anchor.hash}\n")

    def begin(self, anchor: Anchor) -> None:
        """From this entry on it is another log."""
        self._write(f"{_BEGIN}{anchor.number} {anchor.hash}\n")

    def read(self) -> Known:
        """What was kept since the log began, the first word on each number: another is of a log written anew later.

        A line that a crash left torn is none."""
        try:
            lines = self.file.read_text("ascii", "replace").splitlines()
        except FileNotFoundError:
            return Known([])
        begun: Anchor | None = None
        kept: dict[int, Anchor] = {}
        for line in lines:
            anchor = _anchor(line.removeprefix(_BEGIN))
            if anchor is None:
                continue
            if line.startswith(_BEGIN):
                begun, kept = anchor, {anchor.number: anchor}
            elif begun is None or anchor.number > begun.number:  # one of before may come late
                kept.setdefault(anchor.number, anchor)
        return Known(list(kept.values()), begun)

    def _write(self, line: str) -> None:
        self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(self.file, flags, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            size = os.fstat(fd).st_size
            torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
            os.write(fd, (f"\n{line}" if torn else line).encode())
            os.fsync(fd)
        finally:
            os.close(fd)


def _anchor(line: str) -> Anchor | None:
    number, _, kept = line.partition(" ")
    if number.isdecimal() and len(number) <= _MOST_DIGITS and len(kept) == len(BEGINNING.hash):
        return Anchor(int(number), kept)
    return None
