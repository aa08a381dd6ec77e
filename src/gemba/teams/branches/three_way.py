"""The tree of a merge, made without any working tree, and the check that both sides are in it.

Built-in ways to merge a file that the repository's attributes ask for are used (union, binary); a program that it
names for that is not run: git's own way stands in its place. Folders that were renamed on one side are not guessed.
An older git, which cannot merge without a working tree, gets an empty one and an index for the purpose; there a file
that one side renamed and the other changed is a conflict.

Called by `merging`, by `saving` for work that an agent has left on two branches, and by `homecoming`.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gemba import shell
from gemba.errors import Unusable
from gemba.teams.branches.changes import from_workspace
from gemba.teams.branches.plumbing import WITH_OBJECTS, Place, refused

_SETTINGS = tuple(
    part
    for setting in (
        "merge.directoryRenames=false",
        "merge.renormalize=false",
        "merge.renames=true",
        "merge.conflictStyle=merge",
        "submodule.recurse=false",
    )
    for part in ("-c", setting)
)
_OWN_WAY = "git merge-file -q %A %O %B"
_USAGE = 129  # the exit code of a git that does not know an option
_GONE = "000000"

Entry = tuple[str, str]  # mode and object of a file
Side = Mapping[str, Entry]  # what became of each file that is not as it was


class Clash(NamedTuple):
    """The files that two commits do not merge in, as they lie from the workspace."""

    files: tuple[str, ...]


def merged_tree(place: Place, shared: Path, ours: str, theirs: str, bases: Sequence[str]) -> str | Clash:
    """The tree in which both commits are, or what stands against it."""
    asked = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
    done = place.run(*_SETTINGS, *WITH_OBJECTS, *asked, env=_drivers(place))
    parts = done.stdout.split("\0")[:-1]
    if done.code == 0 and parts:
        return parts[0]
    if done.code == 1 and len(parts) > 1:
        return Clash(tuple(dict.fromkeys(parts[1:])))
    if _is_unknown(done):
        return _in_a_tree_of_its_own(place, shared, ours, theirs, bases)
    raise refused(place.folder, done, asked)


def _is_unknown(done: shell.Result) -> bool:
    return done.code == _USAGE or "unknown option" in done.stderr or "usage: git merge-tree" in done.stderr


def _drivers(place: Place) -> dict[str, str]:
    """Settings by which every program that the repository names for merging files is git's own."""
    told = place.run("config", "-z", "--name-only", "--get-regexp", r"^merge\..*\.driver$").stdout
    names = sorted({*told.split("\0")[:-1]})
    settings = {"GIT_CONFIG_COUNT": str(len(names))} if names else {}
    for number, name in enumerate(names):
        settings |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": _OWN_WAY}
    return settings


# -- an older git ------------------------------------------------------------------------------------------------------


def _in_a_tree_of_its_own(place: Place, shared: Path, ours: str, theirs: str, bases: Sequence[str]) -> str | Clash:
    if len(bases) != 1:
        told = "two commits that have several common ancestors are merged by git 2.38 and later"
        raise Unusable(told, code="git_too_old")
    folder = tempfile.mkdtemp(prefix="merging-", dir=shared / "gemba")
    surroundings = {"GIT_DIR": str(shared), "GIT_WORK_TREE": folder, "GIT_INDEX_FILE": f"{folder}.index"}
    inside = place._replace(folder=folder)
    try:
        read = ("read-tree", "-i", "-m", "--aggressive", bases[0], ours, theirs)
        done = inside.run(*WITH_OBJECTS, *read, env=surroundings)
        if done.code != 0:
            raise refused(place.folder, done, read)
        inside.run(*WITH_OBJECTS, "merge-index", "-o", "-q", "git-merge-one-file", "-a", env=surroundings)
        left = inside.run("ls-files", "--unmerged", "-z", env=surroundings).stdout.split("\0")[:-1]
        if left:
            prefix = place.told("rev-parse", "--show-prefix").removesuffix("\n")
            paths = (line.partition("\t")[2] for line in left)
            return Clash(tuple(dict.fromkeys(from_workspace(path, prefix) for path in paths)))
        written = inside.run(*WITH_OBJECTS, "write-tree", env=surroundings)
        if written.code != 0:
            raise refused(place.folder, written, ("write-tree",))
        return written.stdout.strip()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        Path(f"{folder}.index").unlink(missing_ok=True)


# -- the check ---------------------------------------------------------------------------------------------------------


def sides(place: Place, base: str, ours: str, theirs: str, merged: str) -> tuple[Side, Side, Side]:
    """What each of two commits changed since their base, and what their merge changes of the first: one git for all."""
    asked = f"{ours} {base}\n{theirs} {base}\n{merged} {ours}\n".encode()
    told = place.told("diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", given=asked)
    found: dict[str, dict[str, Entry]] = {ours: {}, theirs: {}, merged: {}}
    side = found[ours]
    parts = iter(told.split("\0")[:-1])
    for part in parts:
        if part.startswith(":"):
            _, mode, _, object_id, _ = part.split(" ")
            side[next(parts)] = (mode, object_id)
        else:
            side = found[part]
    return found[ours], found[theirs], found[merged]


def lost(ours: Side, theirs: Side, merged: Side) -> list[str]:
    """The files that one side alone has changed, and that are not so in the merge. Pure.

    `merged` is what the merge changes of ours. A file that one side has renamed takes along what the other one did to
    it, so that a new name need not have the content that its side gave it.
    """
    both = {path for path in theirs if path in ours}
    renamed_by_them = any(theirs[path][0] == _GONE for path in both)
    renamed_by_us = any(ours[path][0] == _GONE for path in both)
    wrong = [
        path
        for path, entry in theirs.items()
        if path not in both and merged.get(path) != entry and not (renamed_by_them and path in merged)
    ]
    wrong += [path for path in ours if path not in theirs and path in merged and not renamed_by_us]
    return sorted(wrong)
