"""What a repository's own files tell without a process of git, which takes longer to start than to answer.

Only what is certain: where a layout is unusual (references in tables, a working tree that the configuration puts
elsewhere, a folder below the top of one) the answer is None, and whoever asks has git itself tell. Reads, and never
raises. Standard library only, since agents of ours load it. Called by `git` and by whoever keeps worktrees.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator
from typing import NamedTuple

from gemba import wire

_SMALL = 65_536
_LARGEST_CONFIGURATION = 1_000_000
_MOST_REFERENCES = 64 * 1024 * 1024
_HASH = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_NAMED = "ref: "
# Each worktree has its own of the others, and a tag may stand for something else than a commit.
_SHARED_BY_ALL = ("refs/heads/", "refs/remotes/", "refs/gemba/")
# A file that was changed so short a time ago may change again without looking otherwise.
_UNSETTLED = 2_000_000_000  # nanoseconds

Stamp = tuple[tuple[str, int, int, int, int] | None, ...]


class GitFolder(NamedTuple):
    """Where git keeps what it knows of a working tree: its own folder, and the one that all worktrees share."""

    own: str
    shared: str


def at_top(folder: str) -> GitFolder | None:
    """Of a folder in which a working tree begins; None where only git can tell whether that is so."""
    try:
        return _at_top(os.path.realpath(folder)) if folder else None
    except (OSError, ValueError):
        return None


def _at_top(folder: str) -> GitFolder | None:
    marker = f"{folder}/.git"
    own = marker if os.path.isdir(marker) else _target(folder, marker)
    if own is None or os.path.islink(marker) or _head(own) is None:
        return None
    above = _line(f"{own}/commondir") if os.path.lexists(f"{own}/commondir") else None
    shared = own if above is None else os.path.join(own, above)
    if not (os.path.isdir(f"{shared}/objects") and os.path.isdir(f"{shared}/refs")):
        return None
    if above is None and b"worktree" in wire.read_file(f"{shared}/config", _LARGEST_CONFIGURATION).lower():
        return None
    if above is not None and os.path.lexists(f"{own}/config.worktree"):
        return None
    return GitFolder(own, os.path.realpath(shared))


def _target(folder: str, marker: str) -> str | None:
    told = _line(marker)
    return os.path.join(folder, told.removeprefix("gitdir: ")) if told.startswith("gitdir: ") else None


def _line(file: str) -> str:
    return os.fsdecode(wire.read_file(file, _SMALL)).rstrip("\r\n")


def _head(own: str) -> str | None:
    """What a HEAD says: a commit, or `ref: ` and the name of a reference."""
    file = f"{own}/HEAD"
    told = None if os.path.islink(file) else _line(file).strip()
    is_known = told is not None and (told.startswith(f"{_NAMED}refs/") or _HASH.fullmatch(told))
    return told if is_known else None


# -- references --------------------------------------------------------------------------------------------------------


def commit_of(found: GitFolder, name: str) -> str | None:
    """The commit of a reference, or of `HEAD` or `worktrees/<name>/HEAD`: "" where there is none, None where only git
    can tell."""
    try:
        if _has_tables(found):
            return None
        if name == "HEAD" or name.startswith("worktrees/"):
            told = _head(found.own if name == "HEAD" else f"{found.shared}/{name.removesuffix('/HEAD')}")
            if told is None or not told.startswith(_NAMED):
                return told
            name = told.removeprefix(_NAMED)
        return _commit_of(found.shared, name) if name.startswith(_SHARED_BY_ALL) else None
    except (OSError, ValueError):
        return None


def _commit_of(shared: str, name: str) -> str | None:
    try:
        told = _line(f"{shared}/{name}").strip()
        return told if _HASH.fullmatch(told) else None
    except (FileNotFoundError, NotADirectoryError):
        pass
    # Whoever packs references writes them there before the loose ones go, so this comes second.
    before, there, _ = _packed(shared).partition(b" " + os.fsencode(name) + b"\n")
    told = before.rpartition(b"\n")[2].decode("ascii", "replace") if there else ""
    return told if not there or _HASH.fullmatch(told) else None


def has_none(found: GitFolder, folder: str) -> bool:
    """Whether certainly no reference stands below a folder, as `refs/remotes`."""
    try:
        if _has_tables(found) or any(files for _, _, files in os.walk(f"{found.shared}/{folder}")):
            return False
        return b" " + os.fsencode(folder) + b"/" not in _packed(found.shared)
    except (OSError, ValueError):
        return False


def others_on(found: GitFolder, branch: str) -> list[str] | None:
    """The folders of git in which a branch is checked out; None where only git can tell."""
    wanted = f"{_NAMED}refs/heads/{branch}"
    try:
        heads = {own: _head(own) for own in _all_of(found.shared)}
    except (OSError, ValueError):
        return None
    if None in heads.values() or _has_tables(found):
        return None
    return [own for own, told in heads.items() if told == wanted]


def _all_of(shared: str) -> Iterator[str]:
    yield shared
    if os.path.isdir(f"{shared}/worktrees"):
        with os.scandir(f"{shared}/worktrees") as entries:
            yield from (entry.path for entry in entries)


def _packed(shared: str) -> bytes:
    try:
        return b"\n" + wire.read_file(f"{shared}/packed-refs", _MOST_REFERENCES)
    except FileNotFoundError:
        return b""


def _has_tables(found: GitFolder) -> bool:
    return os.path.lexists(f"{found.shared}/reftable")


# -- settings ----------------------------------------------------------------------------------------------------------


def settings_stamp(found: GitFolder) -> Stamp | None:
    """Another one once any file is written that git reads its settings from, but for those that one of them includes.
    None while one of them is so new that it may be written again without a trace, and where settings come otherwise."""
    given = {name: value for name, value in os.environ.items() if name.startswith("GIT_CONFIG")}
    if given.keys() & {"GIT_CONFIG", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS"}:
        return None
    home = os.environ.get("HOME", "")
    own = os.environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
    users = (
        [given["GIT_CONFIG_GLOBAL"]] if "GIT_CONFIG_GLOBAL" in given else [f"{home}/.gitconfig", f"{own}/git/config"]
    )
    machines = given.get("GIT_CONFIG_SYSTEM", "/etc/gitconfig")
    files = [f"{found.shared}/config", f"{found.own}/config.worktree", *users, machines]
    try:
        stamps = tuple(map(_stamp, files))
    except (OSError, ValueError):
        return None
    settled = time.time_ns() - _UNSETTLED
    return None if any(each is not None and each[4] > settled for each in stamps) else stamps


def _stamp(file: str) -> tuple[str, int, int, int, int] | None:
    try:
        seen = os.stat(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    # A device, as /dev/null, is what it is however often somebody writes to it.
    changed = seen.st_ctime_ns if stat.S_ISREG(seen.st_mode) else 0
    return file, seen.st_ino, seen.st_size, seen.st_mtime_ns if changed else 0, changed
