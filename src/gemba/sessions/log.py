"""Reading a session log from where one stopped: whole lines only, whatever happened to the file meanwhile.

A log is the same one as long as what was read of it is still there, at its beginning and just before the place where
one stopped; rotated to another name it is read on. One that was truncated, replaced or rewritten is read from its
beginning: frames seen before are recognised by their id. A last line without its newline waits. A line too long to be
a frame is passed over. Effects: reads one file. Called by the tailer.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from pathlib import Path
from typing import NamedTuple

from gemba import wire

_NAME = re.compile(r"(?P<stem>.+)\.jsonl(?:\.(?P<rotation>\d+))?\Z", re.DOTALL | re.ASCII)
_MARKED = 256
_CHUNK = 256 * 1024


class LogName(NamedTuple):
    """`x.jsonl` is what is written to; `x.jsonl.1`, `x.jsonl.2` … were rotated away from it, the higher the earlier."""

    stem: str
    rotation: int

    @property
    def earlier(self) -> tuple[str, ...]:
        """The names this file may have had before it was rotated to this one."""
        if self.rotation == 0:
            return ()
        nearest = f"{self.stem}.jsonl.{self.rotation - 1}" if self.rotation > 1 else f"{self.stem}.jsonl"
        return (nearest, f"{self.stem}.jsonl")


class Position(NamedTuple):
    """How far a log was read, and enough to notice that it is no longer the same file."""

    inode: str = ""
    offset: int = 0
    mark: str = ""
    skipping: bool = False


class Chunk(NamedTuple):
    """Some whole lines, and where to go on."""

    lines: list[bytes]
    position: Position
    too_long: int
    more: bool


def parse_name(name: str) -> LogName | None:
    """What a log's file name says; None for any other file. Names that are no Unicode are nobody's: ours are ASCII."""
    found = _NAME.match(name)
    if found is None or name != wire.valid_unicode(name):
        return None
    return LogName(found["stem"], int(found["rotation"] or 0))


def read_log(path: Path, *known: Position) -> Chunk | None:
    """The next whole lines after the first of the known positions that is one of this file, else from its beginning.

    None when there is no such log (any more); OSError when it cannot be read.
    """
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.EINVAL, "a symbolic link, not a file") from None
        raise
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        inode = f"{status.st_dev}:{status.st_ino}"
        read_on = (_read(file, position) for position in known if position.inode == inode)
        return next(filter(None, read_on), None) or _read(file, Position(inode))
    finally:
        os.close(file)


def _read(file: int, position: Position) -> Chunk | None:
    """The next lines; None when the file is not the one that the position was taken in."""
    data = os.pread(file, _CHUNK, position.offset)
    end = data.rfind(b"\n") + 1
    if end == 0 and len(data) == _CHUNK:
        data = os.pread(file, wire.MAX_LINE, position.offset)
        end = data.find(b"\n") + 1
    too_long = 0
    skipping = position.skipping
    if end == 0 and len(data) == wire.MAX_LINE:
        # No newline within the longest frame there may be: give this line up, and go on behind it.
        too_long, skipping, end, lines = 1 - skipping, True, len(data), []
    else:
        lines = data[:end].split(b"\n")[:-1]
        if skipping and lines:
            lines, skipping = lines[1:], False
    # Looked at after the lines were read: if it is still the same file now, it was the same then. What is noted is made
    # of these very bytes: a moment later the file may hold others.
    head = os.pread(file, min(position.offset, _MARKED), 0)
    tail = os.pread(file, min(position.offset, _MARKED), max(position.offset - _MARKED, 0))
    if _mark(head, tail) != position.mark:
        return None
    taken = data[:end]
    mark = _mark((head + taken)[:_MARKED], (tail + taken)[-_MARKED:])
    reached = Position(position.inode, position.offset + end, mark, skipping)
    return Chunk(lines, reached, too_long, more=end > 0 and os.fstat(file).st_size > reached.offset)


def _mark(head: bytes, tail: bytes) -> str:
    """A digest of the first bytes that were read and of the last; a file cut and filled again has others."""
    return hashlib.sha256(head + b"\n" + tail).hexdigest()[:16] if head else ""
