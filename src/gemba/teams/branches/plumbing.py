"""How the branches of team runs ask git: few processes, as Gemba, without a program that the repository names.

What is read from git's own files (where a reference stands) is read without a process where it lies loose, as it does
after each of our own changes. A git that changes something inherits the lock of whoever started it: nobody begins
before it has ended, also when its starter was killed. A lock on a reference that a killed git left is cleared away.

Called by the other modules of this folder.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from gemba import git, shell, wire
from gemba.errors import Invalid, NotFound, Unusable
from gemba.sessions.worktrees.place import words_of

_HASH = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_BRANCH = re.compile(r"gemba/[A-Za-z0-9_][A-Za-z0-9_-]*")
SLOW = 120.0  # seconds for what reads every file
_NAME, _ADDRESS = "Gemba", "gemba@localhost"
_IDENTITY = {
    "GIT_AUTHOR_NAME": _NAME,
    "GIT_AUTHOR_EMAIL": _ADDRESS,
    "GIT_COMMITTER_NAME": _NAME,
    "GIT_COMMITTER_EMAIL": _ADDRESS,
}
# Nothing is signed, encoded otherwise or tidied up; objects are on disk before anything names them.
_OURS = (
    "commit.gpgSign=false",
    "i18n.commitEncoding=UTF-8",
    "maintenance.auto=false",
    "gc.auto=0",
    "rerere.enabled=false",
)
_SETTINGS = tuple(part for setting in (*_OURS, "core.safecrlf=false") for part in ("-c", setting))
WITH_OBJECTS = ("-c", "core.fsync=objects", "-c", "core.fsyncMethod=batch")
WITH_REFERENCES = ("-c", "core.fsync=committed")
_LOCKED = re.compile(r"Unable to create '([^']+\.lock)': File exists")
_MOST_LOCKS = 5
_LEFT_BEHIND, _GLANCE = 1.0, 0.05  # seconds after which a lock that nobody moved is taken for left behind


class Place(NamedTuple):
    """Where git works: a folder, who waits for it, and what else it is told."""

    folder: str
    lock: int | None = None
    unset: Sequence[str] = ()  # filters not to run
    surroundings: Mapping[str, str] = MappingProxyType({})

    def run(self, *arguments: str, given: bytes = b"", env: Mapping[str, str] | None = None) -> shell.Result:
        return git.run(
            self.folder,
            *_SETTINGS,
            *arguments,
            given=given,
            unset=self.unset,
            env={**_IDENTITY, **self.surroundings, **(env or {})},
            inherited=() if self.lock is None else (self.lock,),
            seconds=SLOW,
        )

    def told(self, *arguments: str, given: bytes = b"") -> str:
        """What git prints; an Unusable with its words when it refuses."""
        done = self.run(*arguments, given=given)
        if done.code != 0 or done.cut:
            raise refused(self.folder, done, arguments)
        return done.stdout

    def change(self, *arguments: str, given: bytes = b"") -> shell.Result:
        """A git that moves references. One that was killed may have left its locks on them: what has not moved for a
        while is cleared away, since whoever calls this is alone."""
        done = self.run(*arguments, given=given)
        for _ in range(_MOST_LOCKS):
            if done.code == 0 or (found := _LOCKED.search(done.stderr)) is None:
                break
            _clear_if_left_behind(Path(found[1]))
            done = self.run(*arguments, given=given)
        return done


def refused(folder: str, done: shell.Result, arguments: Sequence[str]) -> Unusable:
    verb = next((word for word in arguments if not word.startswith("-") and "=" not in word), "")
    why = "it printed too much" if done.cut else words_of(done.stderr)
    return Unusable(f"git {verb} failed in {folder}: {why}", code="git_failed")


def check_commit(commit: str) -> str:
    if not _HASH.fullmatch(commit):
        raise Invalid(f"{commit[:80]!r} is no commit; allowed: its whole hash", code="no_commit", found=commit[:80])
    return commit


def check_branch(branch: str) -> str:
    if not _BRANCH.fullmatch(branch):
        told = f"{branch[:80]!r} is no branch of a team run; allowed: gemba/ and its id"
        raise Invalid(told, code="no_branch", found=branch[:80])
    return branch


# -- where things are, without a process -------------------------------------------------------------------------------


def shared_folder(workspace: str) -> Path:
    """The git folder of a workspace; a NotFound where there is none."""
    try:
        found = _shared_folder(workspace)
        if (found / "HEAD").exists():
            return found
    except NotFound:
        pass
    _shared_folder.cache_clear()
    return _shared_folder(workspace)


@lru_cache(maxsize=256)
def _shared_folder(workspace: str) -> Path:
    found = git.shared_folder(workspace)
    if found is None:
        raise NotFound(f"{workspace} has no repository", code="no_repository")
    return Path(found)


def tip_of(place: Place, shared: Path, reference: str) -> str | None:
    """The commit of a reference; None when there is no such."""
    with contextlib.suppress(OSError):
        found = wire.read_file(str(shared / reference), 4096).decode("ascii", "replace").strip()
        if _HASH.fullmatch(found):
            return found
    done = place.run("rev-parse", "--verify", "--quiet", f"{reference}^{{commit}}")
    return done.stdout.strip() or None if done.code == 0 else None


def line_of(file: Path) -> str:
    try:
        return os.fsdecode(wire.read_file(str(file), 65536)).removesuffix("\n")
    except OSError:
        return ""


def _clear_if_left_behind(lock: Path) -> None:
    """Wait for a lock to go; one that stays as it is for longer than anybody holds one is taken away."""
    until = time.monotonic() + _LEFT_BEHIND
    with contextlib.suppress(FileNotFoundError):
        first = lock.stat()
        while os.path.samestat(lock.stat(), first):
            if time.monotonic() > until:
                lock.unlink()
                return
            time.sleep(_GLANCE)


# -- commits -----------------------------------------------------------------------------------------------------------


def ancestors(place: Place, one: str, other: str) -> list[str]:
    """The best common ancestors of two commits; none when they have nothing in common."""
    done = place.run("merge-base", "--all", one, other)
    if done.code not in (0, 1):
        raise refused(place.folder, done, ("merge-base",))
    return done.stdout.split()


def commit_tree(place: Place, tree: str, parents: Sequence[str], message: str) -> str:
    named = [part for parent in parents for part in ("-p", parent)]
    told = place.told(*WITH_OBJECTS, "commit-tree", *named, "-F", "-", tree, given=message.encode("utf-8", "replace"))
    return told.strip()
