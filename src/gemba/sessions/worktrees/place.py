"""Where a session's worktree lies, and what is kept of it: its name, its record, its lock, git's own entry.

A session has one name, which no other session has: as a folder in `<workspace>/.gemba/worktrees/`, as the branch
`gemba/<name>`, and as the record `<git folder>/gemba/<name>.json`. The record says whether what is there is whole; it
lies with the repository, where no cleaning of the working tree takes it away. Whoever changes any of these holds the
lock, and so does every git that they have started, until it ends.

Called by `worktree` and `worktree_state`.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import time
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec

from gemba import git, git_folder, typed, wire
from gemba.errors import Conflict, Unusable

# What a file, a branch and git's entry of a worktree may be called without a change: git takes no `..`, no `.` at
# either end and no `.lock`; a leading `-` would be taken for an option.
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*")
_LONGEST_PLAIN = 100
_LONGEST_STEM = 60
_GLANCE = 0.02  # seconds between two tries to take a lock
_HASH = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_NO_REPOSITORY = "not a git repository (or any"


class Worktree(NamedTuple):
    """What a session works in. Without a branch it is the workspace itself, which has no repository with a commit."""

    session_id: str
    workspace: str
    path: str
    folder: str  # where the agent starts: the part of `path` that the workspace is of its repository
    branch: str | None
    base: str | None  # the commit that it was made from
    base_branch: str | None  # the branch that it is merged into: what was checked out then; None on a detached HEAD
    pinned: bool = False  # its base was given, and need not be on any branch


class Ground(NamedTuple):
    """Where a workspace's repository is."""

    workspace: Path
    shared: Path  # the git folder that all its worktrees have in common
    prefix: str  # where in the repository the workspace is


class Repository(NamedTuple):
    """The repository of a workspace, and what is checked out there."""

    ground: Ground
    head: str
    branch: str | None


class Phase(StrEnum):
    """How far a worktree is. Nobody works in one that is not whole, so what is there then may be cleared away."""

    MAKING = "making"
    WHOLE = "whole"
    LEAVING = "leaving"
    LEFT = "left"  # the branch alone is still there


class Record(msgspec.Struct, frozen=True):
    session_id: str
    base: str
    base_branch: str | None
    phase: Phase
    pinned: bool = False


def name_of(session_id: str) -> str:
    """The id itself where it will do. Any other becomes one with a `+`, which no plain one has, and a digest."""
    is_plain = _PLAIN.fullmatch(session_id) and not session_id.endswith(".lock")
    if is_plain and len(session_id) <= _LONGEST_PLAIN:
        return session_id
    stem = wire.safe_id(session_id)[:_LONGEST_STEM].replace(".", "_").lstrip("-")
    return f"{stem}+{hashlib.sha256(session_id.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def branch_of(session_id: str) -> str:
    return f"gemba/{name_of(session_id)}"


def worktrees_folder(workspace: Path) -> Path:
    return (workspace / ".gemba" / "worktrees").resolve()


def ignore_all(folder: Path) -> None:
    """Make the folder of worktrees, whose content no repository around it takes for its own."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / ".gitignore").exists():
        (folder / ".gitignore").write_text("*\n")


def find_repository(workspace: Path) -> Repository | None:
    """None where there is no repository, only one that ignores the workspace, or nothing is committed yet.

    An Unusable where there is one that git refuses to use: nobody should work there as if there was none.
    """
    folder = str(workspace)
    if git.is_in_none(folder):
        return None
    if (quickly := _at_top(workspace)) is not None:
        return quickly
    shared = git.run(folder, "rev-parse", "--git-common-dir")
    if shared.code != 0:
        if _NO_REPOSITORY in shared.stderr and wire.git_place(folder)[2] is None:
            return None
        raise Unusable(
            f"git cannot use the repository of {folder}: {words_of(shared.stderr)}", code="repository_broken"
        )
    prefix = git.prefix_of(folder)
    head = git.run(folder, "rev-parse", "--verify", "--quiet", "HEAD").stdout.strip()
    if prefix is None or not head:
        return None
    branch = git.run(folder, "symbolic-ref", "--quiet", "HEAD").stdout.removesuffix("\n")
    common = Path(folder, shared.stdout.removesuffix("\n")).resolve()
    return Repository(Ground(workspace, common, prefix), head, branch.removeprefix("refs/heads/") or None)


def _at_top(workspace: Path) -> Repository | None:
    """The same with one question to git, where the workspace is the whole of a repository in which something is
    committed; None where more has to be asked."""
    ground = ground_at_top(workspace)
    if ground is None:
        return None
    asked = git.run(str(workspace), "rev-parse", "HEAD", "--symbolic-full-name", "HEAD")
    lines = asked.stdout.split("\n")
    if asked.code != 0 or len(lines) != 3:
        return None
    head, branch, _ = lines
    name = branch.removeprefix("refs/heads/") if branch.startswith("refs/heads/") else None
    return Repository(ground, head, name) if _HASH.fullmatch(head) else None


def find_ground(workspace: Path) -> Ground | None:
    """Where the repository is, for whoever looks for what was made there before."""
    if (ground := ground_at_top(workspace)) is not None:
        return ground
    repository = find_repository(workspace)
    return None if repository is None else repository.ground


def ground_at_top(workspace: Path) -> Ground | None:
    """The same without a process of git, where the repository's own files tell; else None."""
    found = git_folder.at_top(str(workspace))
    return None if found is None else Ground(workspace, Path(found.shared), "")


def words_of(stderr: str) -> str:
    """What git says is wrong, on one line."""
    lines = stderr.strip().splitlines()
    told = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines[-1:]
    return "; ".join(line.partition(": ")[2] if ": " in line else line for line in told[:3]) or "it does not say why"


# -- git's own entry ---------------------------------------------------------------------------------------------------


def entry_of(shared: Path, path: Path, branch: str) -> Path | None:
    """The folder in which git keeps what it knows of a worktree: of the one at this path, else of one that has the
    branch and whose folder is gone, as after the whole repository was moved."""
    named = entry_named_by(path)  # there may be hundreds: the one that is named is not looked for
    if named is not None and named.parent == shared / "worktrees":
        return named
    gone = None
    for entry in sorted((shared / "worktrees").glob("*")):
        place = place_of(entry)
        if place == path:
            return entry
        if place is not None and not os.path.lexists(place) and _line(entry / "HEAD") == f"ref: refs/heads/{branch}":
            gone = entry
    return gone


def place_of(entry: Path) -> Path | None:
    """Where a worktree is, as its entry says."""
    told = _line(entry / "gitdir")
    return Path(os.path.normpath(entry / told)).parent if told else None


def is_linked(path: Path, entry: Path) -> bool:
    """Whether a folder says that it is the worktree of this entry, and git would find it so."""
    return not path.is_symlink() and place_of(entry) == path and _target(path) == entry


def entry_named_by(path: Path) -> Path | None:
    """The entry that a folder says it is the worktree of, if both name each other."""
    entry = _target(path)
    return entry if entry is not None and is_linked(path, entry) else None


def link(path: Path, entry: Path) -> None:
    """Have both name each other, where somebody moved or deleted what did; what is another's is refused."""
    if is_linked(path, entry):
        return
    marker, target = path / ".git", _target(path)
    is_another = marker.is_dir() or (target not in (None, entry) and os.path.lexists(str(target)))
    if path.is_symlink() or not path.is_dir() or is_another:
        raise Conflict(f"{path} is no longer the worktree that was made there", code="worktree_replaced")
    write_whole(entry / "gitdir", os.fsencode(f"{marker}\n"))
    marker.write_bytes(os.fsencode(f"gitdir: {entry}\n"))


def _target(path: Path) -> Path | None:
    told = _line(path / ".git")
    return Path(os.path.normpath(path / told.removeprefix("gitdir: "))) if told.startswith("gitdir: ") else None


def _line(file: Path) -> str:
    try:
        return os.fsdecode(wire.read_file(str(file), 65536)).removesuffix("\n")
    except OSError:
        return ""


def lock_reason(entry: Path) -> str | None:
    """Why a person locked a worktree; None when nobody did."""
    return (_line(entry / "locked").strip() or "no reason was given") if (entry / "locked").exists() else None


# -- the record --------------------------------------------------------------------------------------------------------


def read_record(file: Path) -> Record | None:
    try:
        return typed.convert(json.loads(file.read_bytes()), Record)
    except FileNotFoundError:
        return None
    except (ValueError, msgspec.ValidationError) as error:
        raise Unusable(f"{file} is no record of a worktree: {error}", code="worktree_record") from None


def write_record(file: Path, record: Record) -> None:
    write_whole(file, json.dumps(msgspec.to_builtins(record)).encode())


def write_whole(file: Path, data: bytes) -> None:
    """A file's new content, on disk when this returns; what cannot be written whole changes nothing."""
    partial = file.with_name(f"{file.name}.partial")
    try:
        with partial.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(file)
    except OSError:
        partial.unlink(missing_ok=True)
        raise
    wire.sync_folder(str(file.parent))


@contextlib.contextmanager
def alone(file: Path, what: str, seconds: float = 60.0, glance: float = _GLANCE) -> Iterator[int]:
    """Hold a lock, whose descriptor a git inherits; a Conflict when another holds it for too long."""
    file.parent.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + seconds
    while (descriptor := _taken(file)) is None:
        if time.monotonic() > until:
            raise Conflict(f"{what} is being changed at this moment: see {file}", code="worktree_busy")
        time.sleep(glance)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _taken(file: Path) -> int | None:
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with contextlib.suppress(BlockingIOError, FileNotFoundError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Whoever has removed a worktree has removed its lock as well.
        if os.path.samestat(os.fstat(descriptor), file.stat()):
            return descriptor
    os.close(descriptor)
    return None
