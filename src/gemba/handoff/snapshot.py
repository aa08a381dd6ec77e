"""How a folder's files were when a dispatch started, so that a claim to have changed one can be compared.

In a git repository that is the commit and the files that were not as committed; elsewhere every file, up to limits
that are stated below. A snapshot is plain data, kept with the dispatch. Nothing here raises, follows a link out of the
folder, waits at a pipe or runs a program that the repository names. Called when a dispatch starts, and by `world.py`.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

import msgspec

from gemba import git
from gemba.store import open_files
from gemba.text import storable
from gemba.together import Together

MOST_FILES = 5_000  # of one snapshot
MOST_ENTRIES = 50_000  # files and folders that are looked at for it, where there is no repository
LARGEST_FILE = 64 * 1024 * 1024  # bytes; of a larger file only the size is known
MOST_BYTES = 512 * 1024 * 1024  # read for one snapshot, or for one comparison with it
# Folders that are not looked into where git does not say what to ignore.
PASSED_OVER = frozenset({".git", ".venv", "__pycache__", "node_modules"})

_CHUNK = 1 << 20
_BINARY = 8000  # a NUL among this many bytes at the start: no lines, as git too has it


class FileState(msgspec.Struct, frozen=True):
    """A file at one moment. What was not read, being too large or unreadable, has no hash; a binary file no lines."""

    kind: Literal["file", "link", "other"]
    size: int = 0
    executable: bool | None = None
    sha256: str | None = None
    newlines: int | None = None
    ends_open: bool = False  # no newline after the last line

    def same_as(self, other: FileState) -> bool | None:
        """None when it cannot be told."""
        if self.kind != other.kind or self.size != other.size or {self.executable, other.executable} == {True, False}:
            return False
        return None if self.sha256 is None or other.sha256 is None else self.sha256 == other.sha256

    @property
    def line_counts(self) -> frozenset[int]:
        """How many lines it has, in both ways to count a last one that does not end; none when it cannot be told."""
        return frozenset() if self.newlines is None else frozenset({self.newlines, self.newlines + self.ends_open})


class Snapshot(msgspec.Struct, frozen=True):
    """Where a dispatch started. A file that is not listed was as committed; without a repository, it was not there."""

    repository: bool
    commit: str | None = None
    branch: str | None = None
    files: dict[str, FileState | None] = {}  # None: it was gone
    complete: bool = True  # False: there were more than could be listed


class Before(NamedTuple):
    """How a file was; None: it was not there. `trouble`: why that cannot be told."""

    state: FileState | None = None
    trouble: str | None = None
    committed: bool = False  # its state is that of the commit, whose newlines a folder may have in another form


class Reading:
    """Reads files, and no more bytes of them than it may in all."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._left = most

    def state(self, path: Path) -> FileState | None:
        """How a file is now, a link as itself; None when nothing is there."""
        try:
            found = path.lstat()
            if stat.S_ISLNK(found.st_mode):
                return state_of(os.fsencode(path.readlink()), FileState("link"))
        except (OSError, ValueError):
            return None
        if not stat.S_ISREG(found.st_mode):
            return FileState("other")
        seen = FileState("file", found.st_size, bool(found.st_mode & stat.S_IXUSR))
        if found.st_size > min(LARGEST_FILE, self._left):
            return seen
        self._left -= found.st_size
        try:
            return _digest(_chunks(path, LARGEST_FILE), seen)
        except OSError:
            return seen

    def differs_in_newlines_alone(self, path: Path, committed: FileState) -> bool:
        """Whether a file is what is committed but for its newlines, which git may have converted."""
        try:
            content = b"".join(_chunks(path, min(git.LARGEST_CONTENT, self._left)))
        except OSError:
            return False
        self._left -= len(content)
        return state_of(content.replace(b"\r\n", b"\n")).sha256 == committed.sha256


# ---- taking one ------------------------------------------------------------------------------------------------------


def take_snapshot(folder: str | Path) -> Snapshot:
    """How a folder is now. What cannot be read is left out or known by its size alone."""
    tree = git.tree(str(folder))
    if tree is None:
        paths, complete = _walk(Path(folder))
        return Snapshot(repository=False, files=_states(folder, paths), complete=complete)
    filtered = git.filtered_files(str(folder))
    paths = sorted({*tree.changed, *(filtered or ())})
    return Snapshot(
        repository=True,
        commit=tree.commit,
        branch=None if tree.branch is None else storable(tree.branch),
        files=_states(folder, paths[:MOST_FILES]),
        complete=len(paths) <= MOST_FILES and filtered is not None,
    )


_together = Together(take_snapshot)


def snapshot_together(folder: str | Path) -> Snapshot:
    """The same for a folder that many look at, as a workspace in which a crowd of tasks begins: those who look at the
    same moment share one that was begun after each of them asked."""
    return _together.get(str(folder))


def key_of(path: str) -> str:
    """A path as a snapshot names it: a name that is no UTF-8 is spelled out, since nothing stores such a text."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def state_of(content: bytes, seen: FileState = FileState("file")) -> FileState:  # noqa: B008 - it is frozen
    return _digest([content], seen)


def _states(folder: str | Path, paths: Iterable[str]) -> dict[str, FileState | None]:
    reading = Reading()
    return {key_of(path): reading.state(Path(folder, path)) for path in paths}


def _walk(folder: Path) -> tuple[list[str], bool]:
    """Every file, nearest first, and whether that is all of them."""
    found: list[str] = []
    folders = deque([""])
    looked_at = 0
    while folders:
        inside = folders.popleft()
        try:
            with os.scandir(folder / inside) as entries:
                some = sorted(islice(entries, MOST_ENTRIES), key=lambda entry: entry.name)
        except (OSError, ValueError):
            continue
        looked_at += len(some)
        for entry in some:
            path = f"{inside}{entry.name}"
            if not entry.is_dir(follow_symlinks=False):
                found.append(path)
            elif entry.name not in PASSED_OVER:
                folders.append(f"{path}/")
        if len(found) > MOST_FILES or looked_at >= MOST_ENTRIES:
            return found[:MOST_FILES], False
    return found, True


def _chunks(path: Path, most: int) -> Iterator[bytes]:
    if open_files.is_one(path.lstat()):
        raise OSError(errno.EBUSY, "it is a database of ours")
    # Since somebody looked it may have become a link, or a pipe that would let us wait.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        while chunk := file.read(_CHUNK):
            most -= len(chunk)
            if most < 0:
                raise OSError(errno.EFBIG, "it has grown")
            yield chunk


def _digest(chunks: Iterable[bytes], seen: FileState) -> FileState:
    digest = hashlib.sha256()
    size = newlines = 0
    last = b"\n"
    binary = False
    for chunk in chunks:
        binary |= size < _BINARY and b"\0" in chunk[: _BINARY - size]
        digest.update(chunk)
        size += len(chunk)
        newlines += chunk.count(b"\n")
        last = chunk[-1:] or last
    lines = None if binary else newlines
    return FileState(seen.kind, size, seen.executable, digest.hexdigest(), lines, last != b"\n")


# ---- comparing with it -----------------------------------------------------------------------------------------------


def states_before(folder: str | Path, snapshot: Snapshot, paths: Sequence[str]) -> dict[str, Before]:
    """How these files were when the snapshot was taken."""
    unlisted = [path for path in paths if key_of(path) not in snapshot.files]
    known = {path: Before(snapshot.files[key_of(path)]) for path in paths if key_of(path) in snapshot.files}
    if not snapshot.complete:
        trouble = Before(trouble="there were more files than a snapshot lists")
        return known | dict.fromkeys(unlisted, trouble)
    unlisted_before = _committed_before if snapshot.repository else _passed_over_before
    return known | unlisted_before(str(folder), snapshot, unlisted)


def _passed_over_before(folder: str, snapshot: Snapshot, paths: Sequence[str]) -> dict[str, Before]:
    passed = Before(trouble="a snapshot does not look into its folder")
    return {path: passed if PASSED_OVER.intersection(PurePosixPath(path).parts[:-1]) else Before() for path in paths}


def _committed_before(folder: str, snapshot: Snapshot, paths: Sequence[str]) -> dict[str, Before]:
    if not paths:
        return {}
    blobs = {} if snapshot.commit is None else git.committed_files(folder, snapshot.commit, paths)
    listed = git.listed_files(folder, paths)
    if blobs is None or listed is None:
        return dict.fromkeys(paths, Before(trouble="git does not tell what was committed"))
    contents = git.contents(folder, blobs.values())
    keeps_modes = git.keeps_modes(folder)
    found: dict[str, Before] = {}
    for path in paths:
        if (blob := blobs.get(path)) is not None:
            content = contents.get(blob.hash)
            executable = blob.executable if keeps_modes and not blob.link else None
            seen = FileState("link" if blob.link else "file", blob.size, executable)
            found[path] = Before(seen if content is None else state_of(content, seen), committed=True)
        else:
            found[path] = Before() if path in listed else Before(trouble="git ignores it, and so does a snapshot")
    return found
