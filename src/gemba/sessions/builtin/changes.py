"""What a turn changed in its folder, by git: how the files were when it began, compared with how they are at its end.

What nobody can tell (no repository, too many files) is nothing changed. What lies in the folder of artifacts is no
change. Called by the built-in agent around the commands of a team's task. Standard library only.
"""

import os
import stat

from gemba import git
from gemba.errors import Unusable
from gemba.sessions.builtin.contract import Changes
from gemba.sessions.builtin.steps import ARTIFACTS

_MOST_FILES = 500  # that are compared
_LARGEST = 16 * 1024 * 1024  # bytes of one
_BINARY = 8000  # a NUL among this many bytes at the start: no lines, as git too has it


class State:
    """A file at one moment: a digest, and its lines unless it is binary."""

    def __init__(self, data: bytes) -> None:
        import hashlib  # where nothing changed, nobody pays for it

        self.digest = hashlib.sha256(data).digest()
        self.is_empty = not data
        is_open = bool(data) and not data.endswith(b"\n")
        self.lines = None if b"\0" in data[:_BINARY] else data.count(b"\n") + is_open


class Before:
    """How a folder was: its commit, and the files that were not as committed."""

    def __init__(self, commit: str | None, changed: dict[str, State | None]) -> None:
        self.commit = commit
        self.changed = changed


def look(folder: str) -> Before | None:
    """How a folder is now; None where git cannot tell."""
    tree = git.tree(folder)
    if tree is None or len(tree.changed) > _MOST_FILES:
        return None
    return Before(tree.commit, {path: _state(folder, path) for path in tree.changed})


def changes_since(folder: str, before: Before) -> Changes:
    tree = git.tree(folder)
    if tree is None:
        return Changes([], [])
    paths = {*tree.changed, *before.changed, *_committed_since(folder, before.commit, tree.commit)}
    looked = sorted(path for path in paths if not path.startswith(ARTIFACTS) and path.isprintable())[:_MOST_FILES]
    was = _states_before(folder, before, looked)
    produced: list[str] = []
    modified: list[dict[str, object]] = []
    for path in looked:
        old, new = was.get(path), _state(folder, path)
        if old is None and new is not None and not new.is_empty:
            produced.append(path)
        elif old is not None and (new is None or new.digest != old.digest):
            lines_after = 0 if new is None else new.lines
            modified.append({"path": path, "lines_before": old.lines, "lines_after": lines_after})
    return Changes(produced, modified)


def _committed_since(folder: str, before: str | None, after: str | None) -> list[str]:
    if before is None or after is None or before == after:
        return []
    try:
        asked = ("diff-tree", "-r", "-z", "--name-only", "--relative", "--no-ext-diff", before, after, "--")
        told = git.run(folder, *asked)
    except Unusable:
        return []
    return told.stdout.split("\0")[:-1] if told.code == 0 else []


def _states_before(folder: str, before: Before, paths: list[str]) -> dict[str, State | None]:
    found = {path: before.changed[path] for path in paths if path in before.changed}
    rest = [path for path in paths if path not in found]
    blobs = (git.committed_files(folder, before.commit, rest) if before.commit and rest else None) or {}
    contents = git.contents(folder, list(blobs.values()))
    for path, blob in blobs.items():
        if blob.hash in contents and not blob.link:
            found[path] = State(contents[blob.hash])
    return found


def _state(folder: str, path: str) -> State | None:
    """None for what is not there, is no regular file, or is too large."""
    full = os.path.join(folder, path)
    try:
        seen = os.lstat(full)
        if not stat.S_ISREG(seen.st_mode) or seen.st_size > _LARGEST:
            return None
        with open(full, "rb") as file:
            return State(file.read(_LARGEST))
    except (OSError, ValueError):
        return None
