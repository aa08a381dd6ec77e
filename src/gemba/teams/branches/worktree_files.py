"""What of a worktree's files goes into a commit, and what stays out of it. Pure but for `block_texts`, which reads.

A file stays out when it lies where artifacts do, is too large, is no file at all, or a repository of its own. What
Gemba put into an agent's instructions file stays out of that file. What an agent told git to overlook goes in all the
same. Called by `saving`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gemba import wire
from gemba.errors import Conflict
from gemba.sessions.agents import preamble
from gemba.sessions.agents.preamble_file import LONGEST

LARGEST = 50 * 1024 * 1024  # bytes of a file that is committed
_SUBMODULE = "160000"
_OVERLOOKED = frozenset("abcdefghijklmnopqrstuvwxyzS")  # tags of files that git was told not to look at
_FIELDS = {"1": 7, "2": 8, "u": 9}  # before its path an entry has so many further ones


class LeftOut(NamedTuple):
    """Something in a worktree that is not in the commit: `why` is large, no_file, repository or submodule."""

    path: str
    why: str


class Status(NamedTuple):
    """What git says of a worktree."""

    commit: str | None
    unmerged: tuple[str, ...]
    changed: tuple[str, ...]


class Tracked(NamedTuple):
    """What git tracks in a worktree that needs a look of ours."""

    outside: tuple[str, ...]  # it lies where nothing is committed from
    overlooked: tuple[str, ...]
    submodules: tuple[str, ...]
    objects: Mapping[str, str]  # of the files outside, and of those that were asked for


class Choice(NamedTuple):
    gone: tuple[str, ...]
    put: tuple[str, ...]
    left_out: tuple[LeftOut, ...]


def read_status(told: str) -> Status:
    commit: str | None = None
    unmerged: list[str] = []
    changed: list[str] = []
    for item in told.split("\0")[:-1]:
        kind, _, rest = item.partition(" ")
        if kind == "#":
            name, _, value = rest.partition(" ")
            commit = value if name == "branch.oid" and value != "(initial)" else commit
            continue
        fields = rest.split(" ", _FIELDS.get(kind, 0))
        (unmerged if kind == "u" else changed).append(fields[-1])
    return Status(commit, tuple(unmerged), tuple(changed))


def read_tracked(told: str, leave_out: Sequence[str], wanted: Collection[str]) -> Tracked:
    """From `ls-files --stage -v -z`."""
    outside, overlooked, submodules, objects = [], [], [], {}
    for line in told.split("\0")[:-1]:
        about, _, path = line.partition("\t")
        is_outside = is_within(path, leave_out)
        if is_outside or path in wanted:
            objects[path] = about.split(" ")[2]
        if is_outside:
            outside.append(path)
        elif about[2:8] == _SUBMODULE:
            submodules.append(path)
        elif about[0] in _OVERLOOKED:
            overlooked.append(path)
    return Tracked(tuple(outside), tuple(overlooked), tuple(submodules), objects)


def is_within(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def choose(
    changed: Sequence[str],
    submodules: Sequence[str],
    leave_out: Sequence[str],
    look: Callable[[str], os.stat_result | None],
) -> Choice:
    """What is to be committed of the changed files. What is gone comes first: a folder may lie in its place."""
    gone, put, left = [], [], []
    for path in dict.fromkeys(changed):
        if is_within(path.rstrip("/"), leave_out):
            continue
        found = None if path.endswith("/") else look(path)
        if path.endswith("/"):
            left.append(LeftOut(path, "repository"))
        elif found is None or (stat.S_ISDIR(found.st_mode) and path not in submodules):
            gone.append(path)
        elif stat.S_ISREG(found.st_mode) and found.st_size > LARGEST:
            left.append(LeftOut(path, "large"))
        elif stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode) or path in submodules:
            put.append(path)
        else:
            left.append(LeftOut(path, "no_file"))
    return Choice(tuple(gone), tuple(put), tuple(left))


class Cleaned(NamedTuple):
    """An instructions file without the session's block; without any text when it was made for the block alone."""

    path: str  # in the worktree
    text: bytes | None
    mode: str


def block_texts(root: Path, folder: Path, names: Sequence[str], session_id: str) -> Iterator[Cleaned]:
    """Those of the instructions files that have a block now: of the session that the worktree is named for, or of one
    of the same run (`team-….IMPL-001` for those of one task, which share it)."""
    family = wire.safe_id(session_id).partition(".")[0]
    for name in names:
        file = folder / name
        try:
            found = file.stat(follow_symlinks=False)
            if not stat.S_ISREG(found.st_mode):
                continue
            text = wire.read_file(str(file), LONGEST)
        except OSError:
            continue
        own = [id for id in preamble.sessions_in(text) if id.partition(".")[0] == family]
        if not own:
            continue
        path = os.path.relpath(file, root)
        try:
            clean = preamble.take_out(text, own)
        except preamble.Broken as error:
            told = (
                f"{path}:{error.line}: the session's block has no end any more, so that nobody can tell what is its own"
            )
            raise Conflict(f"{told}; write <!-- gemba:end --> in a line behind it", code="block_broken") from None
        yield Cleaned(path, clean, "100755" if found.st_mode & 0o100 else "100644")
