"""What would be lost with the submodules of a worktree: a submodule that was fetched there lies there alone, all of it.

Each is asked by itself. Git would ask them as well, but then with their own configuration, which can name programs.

Called by `worktree_state`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from gemba import git
from gemba.errors import Unusable

_SLOW = 120.0  # seconds for what reads every file
_SUBMODULE = "160000"  # its mode in the index
# Files that git was told not to look at: assumed unchanged (a lower-case tag) or left out of a sparse checkout.
_OVERLOOKED = frozenset("abcdefghijklmnopqrstuvwxyzS")
_INSIDE_GIT = ("objects", "refs", "logs", "hooks", "info")


class Indexed(NamedTuple):
    """A line of what git tracks."""

    tag: str
    mode: str
    object_id: str
    name: str


def changed_files(path: Path, index: Sequence[Indexed] | None = None) -> list[str]:
    """The files of a repository's folder that are not as committed, those of its submodules among them. `index`, here
    and below: what git tracks there, for whoever has asked already."""
    tree = git.tree(str(path), _SLOW)
    if tree is None:
        raise Unusable(f"git cannot tell the state of {path}", code="worktree_unreadable")
    found = set(tree.changed)
    for tag, mode, commit, name in index_of(path) if index is None else index:
        if mode == _SUBMODULE:
            if os.path.lexists(path / name / ".git"):
                found |= _changed_in_submodule(path, name, commit)
        elif tag in _OVERLOOKED and os.path.lexists(path / name):
            found.add(name)
    return sorted(found)


def lone_commits(path: Path, entry: Path, index: Sequence[Indexed] | None = None) -> list[str]:
    """`<submodule> (<count> commits that no remote has)` of those that have such; `entry` is git's of the worktree."""
    found = []
    for name, folder in {**dict(_kept_in(entry / "modules")), **dict(_fetched_in(path, "", index))}.items():
        asked = ("rev-list", "--count", "HEAD", "--branches", "--glob=refs/stash", "--not", "--remotes")
        told = git.run(str(folder), *asked)
        count = told.stdout.strip() if told.code == 0 else "unknown"
        if count != "0":
            found.append(f"{name} ({count} commits that no remote has)")
    return found


def _changed_in_submodule(path: Path, name: str, commit: str) -> set[str]:
    folder = path / name
    head = git.run(str(folder), "rev-parse", "--verify", "--quiet", "HEAD").stdout.strip()
    return {f"{name}/{file}" for file in changed_files(folder)} | ({name} if head != commit else set())


def _fetched_in(path: Path, prefix: str, index: Sequence[Indexed] | None = None) -> Iterator[tuple[str, Path]]:
    for indexed in index_of(path) if index is None else index:
        folder = path / indexed.name
        if indexed.mode == _SUBMODULE and os.path.lexists(folder / ".git"):
            yield prefix + indexed.name, folder
            yield from _fetched_in(folder, f"{prefix}{indexed.name}/")


def _kept_in(modules: Path) -> Iterator[tuple[str, Path]]:
    """The repositories of submodules, those that are no longer checked out too."""
    for folder, folders, files in os.walk(modules):
        folders[:] = [name for name in folders if name not in _INSIDE_GIT]
        if "HEAD" in files:
            yield str(Path(folder).relative_to(modules)), Path(folder)


def index_of(path: Path) -> list[Indexed]:
    told = git.run(str(path), "ls-files", "--stage", "-v", "-z", seconds=_SLOW)
    if told.code != 0 or told.cut:
        raise Unusable(f"git cannot tell what is tracked in {path}", code="worktree_unreadable")
    found = []
    for line in told.stdout.split("\0")[:-1]:
        about, _, name = line.partition("\t")
        tag, mode, object_id, _ = about.split(" ")
        found.append(Indexed(tag, mode, object_id, name))
    return found
