"""Reading a session log from where one stopped: whole lines only, whatever happened to the file meanwhile.

A log that was truncated, replaced or rotated is read from its beginning; frames seen before are recognised by their
id. A last line without its newline waits. A line too long to be a frame is passed over. Effects: reads one file.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from pathlib import Path
from typing import NamedTuple

from gemba import wire

_NAME = re.compile(r"(?P<stem>.+)\.jsonl(?:\.\d+)?\Z", re.DOTALL)
_HEAD = 256
_CHUNK = 1024 * 1024


class Position(NamedTuple):
    """How far a log was read, and enough to notice that it is no longer the same file."""

    inode: str = ""
    offset: int = 0
    head: str = ""
    skipping: bool = False


class Chunk(NamedTuple):
    """Some whole lines, and where to go on."""

    lines: list[bytes]
    position: Position
    too_long: int
    more: bool


def stem_of(name: str) -> str | None:
    """The session part of a log's file name (`x.jsonl`, rotated `x.jsonl.1`); None for any other file."""
    found = _NAME.match(name)
    return found["stem"] if found else None


def read_log(path: Path, position: Position) -> Chunk | None:
    """The next whole lines; None when there is no such log (any more)."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (FileNotFoundError, OSError):
        return None
    try:
        return _read(file, position)
    finally:
        os.close(file)


def _read(file: int, position: Position) -> Chunk | None:
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode):
        return None
    inode = f"{status.st_dev}:{status.st_ino}"
    if not _is_same(file, inode, status.st_size, position):
        position = Position(inode)
    data = os.pread(file, _CHUNK, position.offset)
    end = data.rfind(b"\n") + 1
    if end == 0 and len(data) == _CHUNK:
        data = os.pread(file, wire.MAX_LINE + 1, position.offset)
        end = data.rfind(b"\n") + 1
    too_long = 0
    skipping = position.skipping
    if end == 0 and len(data) > wire.MAX_LINE:
        # No newline within the longest frame there may be: give this line up, and go on behind it.
        too_long, skipping, end, lines = 1 - skipping, True, len(data), []
    else:
        lines = data[:end].split(b"\n")[:-1]
        if skipping and lines:
            lines, skipping = lines[1:], False
    offset = position.offset + end
    head = position.head if position.offset >= _HEAD else _head_of(file, offset)
    return Chunk(lines, Position(inode, offset, head, skipping), too_long, more=offset < status.st_size and end > 0)


def _is_same(file: int, inode: str, size: int, position: Position) -> bool:
    return position.inode == inode and size >= position.offset and _head_of(file, position.offset) == position.head


def _head_of(file: int, offset: int) -> str:
    """A digest of the first bytes that were read; a file cut and filled again under the same inode has others."""
    return hashlib.sha256(os.pread(file, min(offset, _HEAD), 0)).hexdigest()[:16] if offset else ""
