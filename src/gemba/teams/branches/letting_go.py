"""A task's worktree goes once its work is saved and merged: its artifacts are in the database, its commits on the
run's branch. Whatever is nowhere else keeps it.

Artifacts are ignored by git, so that no commit takes them; git would let them go without a word. Here only those go
whose content the database has. Called by the engine of team runs, for sessions that are over.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from gemba.errors import Conflict, Unusable
from gemba.sessions.worktrees import worktree
from gemba.sessions.worktrees.worktree import Released, Worktree
from gemba.text import storable

_FOLDERS = (".gemba", "artifacts")
_IGNORE = ".gitignore"
_LARGEST = 16 * 1024 * 1024
_MOST_NAMED = 20


def prepare_artifacts(made: Worktree) -> None:
    """Make the folder of artifacts in a worktree, whose files no commit of the agent's takes along."""
    if made.branch is None:
        return
    try:
        with _opened(Path(made.folder), make=True) as descriptor:
            _ignore_all(descriptor)
    except OSError as error:
        raise _unusable(made, error) from None


def _ignore_all(folder: int) -> None:
    """One that is empty was left by somebody who was killed before it was written; any other is as it is to be."""
    with contextlib.suppress(FileNotFoundError):
        found = os.stat(_IGNORE, dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode) or found.st_size:
            return
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(_IGNORE, flags, 0o666, dir_fd=folder), "w") as stream:
        stream.write("*\n")


def let_go(workspace: str, session_id: str, artifacts: Mapping[str, str]) -> Released:
    """Release a session's worktree; `artifacts` are those that the database has, by their names, each with its digest.
    A Conflict names what is only there. What is released already stays so."""
    found = worktree.find(workspace, session_id)
    if found is not None and found.branch is None:
        return worktree.release(found)
    if found is not None:
        clear_artifacts(found, artifacts)
    return worktree.release_of(workspace, session_id)


def clear_artifacts(made: Worktree, artifacts: Mapping[str, str]) -> None:
    """Take away the artifacts of a worktree, if all of them are in the database; else a Conflict, and all stay."""
    try:
        with _opened(Path(made.folder)) as folder:
            with os.scandir(folder) as entries:
                names = sorted(entry.name for entry in entries if entry.name != _IGNORE)
            alone = [name for name in names if not _is_known(folder, name, artifacts)]
            if alone:
                named = [*map(storable, alone[:_MOST_NAMED])]
                told = f"{made.folder}/{'/'.join(_FOLDERS)} has files that are nowhere else ({', '.join(named)})"
                raise Conflict(f"{told}: it stays until they are moved", code="artifacts_unsaved", files=named)
            for name in names:
                os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unusable(made, error) from None


def _is_known(folder: int, name: str, artifacts: Mapping[str, str]) -> bool:
    if name.startswith(".") and name.endswith(".partial"):
        return True  # what was being laid down when its writer was killed
    if name not in artifacts:
        return False
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return False
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            return False
        data = stream.read(_LARGEST + 1)
    # As the database has it: text, in which what is no text was replaced.
    kept = storable(data.decode("utf-8", "replace")).encode()
    return hashlib.sha256(kept).hexdigest() == artifacts[name]


@contextlib.contextmanager
def _opened(folder: Path, make: bool = False) -> Iterator[int]:
    """The folder of artifacts, in which no link leads elsewhere."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in _FOLDERS:
            above = descriptor
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=above)
            descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
            os.close(above)
        yield descriptor
    finally:
        os.close(descriptor)


def _unusable(made: Worktree, error: OSError) -> Unusable:
    reason = "a link lies in its place" if error.errno in (errno.ELOOP, errno.ENOTDIR) else error.strerror
    return Unusable(f"{made.folder}/{'/'.join(_FOLDERS)}: {reason}", code="artifacts_folder")
