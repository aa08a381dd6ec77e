"""The files of a worktree that are not as they were in a commit, with what was added to each.

Committed or not, new files among them; what git ignores and what lies in `.gemba/` is left out. Bounded: what is beyond
the limits is told as trouble. Nothing here raises, follows a link, waits at a pipe or runs a program that the
repository names. Called by `looking.py`.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gemba import git
from gemba.errors import Unusable
from gemba.handoff.snapshot import key_of
from gemba.teams.seen import is_of_gemba
from gemba.teams.submitted import ChangedFile
from gemba.text import storable

MOST_FILES = 2_000
LONGEST_TEXT = 65_536  # characters that are kept of a file, and of what was added to it
MOST_TEXT = 4_000_000  # of all files together
_HASH = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_ASKED = ("--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all")
_SECONDS = 60.0
_BINARY = 8_000  # a NUL among this many bytes at the start, as git has it


class Changes(NamedTuple):
    """`compared` is False where nobody can tell what changed."""

    files: list[ChangedFile]
    trouble: list[str]
    compared: bool = True


class _Counted(NamedTuple):
    path: str
    added: int
    removed: int
    binary: bool


def changes_since(folder: Path, commit: str | None, saved: str | None = None) -> Changes:
    """What differs from a commit now, or in the one that all of it was saved as. Without one to compare with, or where
    git cannot tell, nothing, and the trouble says so."""
    if commit is None or not all(_HASH.fullmatch(each) for each in (commit, saved or commit)):
        return Changes([], ["there is no commit to compare with"], compared=False)
    if saved == commit:
        return Changes([], [])
    unset = git.filters(str(folder)) or []
    between = (commit,) if saved is None else (commit, saved)
    counted, trouble = _counted(folder, between, unset)
    if counted is None:
        return Changes([], [trouble], compared=False)
    new = _untracked(folder) if saved is None else []
    found = [each for each in counted if not is_of_gemba(each.path)]
    troubles = [] if new is not None else ["git cannot tell which files are new"]
    fresh = [path for path in new or () if not is_of_gemba(path)]
    if len(found) + len(fresh) > MOST_FILES:
        troubles.append(f"{len(found) + len(fresh):,} files changed, the first {MOST_FILES:,} were looked at")
    found = found[:MOST_FILES]
    added = _added_lines(folder, between, found, unset)
    if added is None:
        troubles.append("git cannot tell which lines were added")
    return Changes(_files(folder, found, added or {}, fresh[: MOST_FILES - len(found)]), troubles)


def _files(folder: Path, counted: Sequence[_Counted], added: dict[str, str], fresh: Sequence[str]) -> list[ChangedFile]:
    left, files = MOST_TEXT, []
    for path, numbers, lines in (
        *((each.path, each, added.get(each.path, "")) for each in counted),
        *((path, None, None) for path in fresh),
    ):
        most = min(LONGEST_TEXT, max(0, left))
        text = read_text(folder / path, most)
        new = (text or "") if lines is None else lines[:most]
        many, removed, binary = numbers[1:] if numbers else (_count(new), 0, text is None)
        gone = not os.path.lexists(folder / path)
        files.append(
            ChangedFile(
                storable(key_of(path)), many, removed, new, "" if text is None or binary else text, binary, gone
            )
        )
        left -= len(new) + len(files[-1].text)
    return files


def _count(text: str) -> int:
    return len(text.splitlines())


def _counted(folder: Path, between: Sequence[str], unset: Sequence[str]) -> tuple[list[_Counted] | None, str]:
    told = _ask(folder, "diff", "--numstat", "-z", *_ASKED, *between, "--", unset=unset)
    if told is None:
        return None, "git cannot tell what changed since the task began"
    found = []
    within = _within(folder)
    for entry in told.split("\0"):
        added, tab, rest = entry.partition("\t")
        removed, other, path = rest.partition("\t")
        if tab and other:
            binary = added == "-"
            path = os.path.relpath(path, within) if within else path
            found.append(_Counted(path, 0 if binary else int(added), 0 if binary else int(removed), binary))
    return found, ""


def _within(folder: Path) -> str:
    """Where the folder is in its worktree; empty at the top. git counts from the top, all others from the folder."""
    return "" if (folder / ".git").exists() else (_ask(folder, "rev-parse", "--show-prefix") or "").rstrip("\n")


def _untracked(folder: Path) -> list[str] | None:
    told = _ask(folder, "ls-files", "-zo", "--exclude-standard", ":/")
    return None if told is None else sorted(told.split("\0")[:-1])


def _added_lines(
    folder: Path, between: Sequence[str], files: Sequence[_Counted], unset: Sequence[str]
) -> dict[str, str] | None:
    """By path the lines that a patch without context adds. Its parts come in the order in which git counted them."""
    asked = [each.path for each in files if not each.binary]
    found: dict[str, str] = {}
    for start in range(0, len(asked), 200):
        some = asked[start : start + 200]
        told = _ask(folder, "--literal-pathspecs", "diff", "-U0", *_ASKED, *between, "--", *some, unset=unset)
        parts = (told or "").split("\ndiff --git ") if told else []
        if len(parts) != len(some):
            return None
        found |= {path: _added(part) for path, part in zip(some, parts, strict=True)}
    return found


def _added(part: str) -> str:
    """The added lines of one file's part of a patch: in its hunks each of them stands behind a plus."""
    lines = part.split("\n")
    first = next((at for at, line in enumerate(lines) if line.startswith("@@")), len(lines))
    added = (line[1:] for line in lines[first:] if line.startswith("+"))
    return storable("\n".join(added)[:LONGEST_TEXT])


def read_text(path: Path, most: int) -> str | None:
    """The beginning of a regular file as text; None for what is none: a link, a pipe, something binary or gone."""
    content = read_bytes(path, most)
    if content is None or b"\0" in content[:_BINARY]:
        return None
    return storable(content.decode("utf-8", "replace"))


def read_bytes(path: Path, most: int) -> bytes | None:
    """The beginning of a regular file that is no link."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    with os.fdopen(descriptor, "rb") as file:
        try:
            return file.read(most) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
        except OSError:
            return None


def _ask(folder: Path, *arguments: str, unset: Sequence[str] = ()) -> str | None:
    try:
        result = git.run(str(folder), *arguments, unset=unset, seconds=_SECONDS)
    except Unusable:
        return None
    return result.stdout if result.code == 0 and not result.cut else None
