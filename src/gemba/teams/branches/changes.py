"""What a commit changed, and whether somebody wrote into the workspace itself. Looks, and changes nothing.

Paths are as they lie from the workspace: what a workspace in a part of its repository has above it begins with `..`.
Called by the gates and the engine of team runs.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from gemba import git
from gemba.errors import Unusable
from gemba.teams.branches.plumbing import Place, check_commit
from gemba.text import storable

_OURS = ".gemba"


class ChangedFile(NamedTuple):
    path: str
    added: int  # lines; none of a file that has no lines
    removed: int
    binary: bool


class WorkspaceStatus(NamedTuple):
    """`digest` is another one once anything is written: a commit, a branch, or a file that is not as committed."""

    digest: str
    commit: str | None
    branch: str | None
    files: Mapping[str, str]  # each that is not as committed, with a mark of its content


def changed_files(workspace: str, base: str, commit: str) -> list[ChangedFile]:
    """The files in which two commits differ, in order of their paths."""
    asked = ("diff-tree", "-r", "-z", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv")
    place = Place(workspace)
    told = place.told(*asked, check_commit(base), check_commit(commit), "--")
    prefix = place.told("rev-parse", "--show-prefix").removesuffix("\n") if told else ""
    found = []
    for line in told.split("\0")[:-1]:
        added, removed, path = line.split("\t", 2)
        is_binary = added == "-"
        counts = (0, 0) if is_binary else (int(added), int(removed))
        found.append(ChangedFile(storable(from_workspace(path, prefix)), *counts, is_binary))
    return found


def from_workspace(path: str, prefix: str) -> str:
    return os.path.relpath(path, prefix) if prefix else path


def workspace_status(workspace: str) -> WorkspaceStatus | None:
    """What the workspace itself is like now; None where there is no repository. Gemba's own folder is not looked at."""
    tree = git.tree(workspace)
    if tree is None:
        if git.shared_folder(workspace) is None:
            return None
        raise Unusable(f"git cannot tell the state of {workspace}", code="workspace_unreadable")
    changed = (path for path in tree.changed if path.split("/", 1)[0] != _OURS)
    files = {storable(path): _mark(Path(workspace, path)) for path in changed}
    whole = json.dumps([tree.commit, tree.branch, sorted(files.items())])
    return WorkspaceStatus(hashlib.sha256(whole.encode()).hexdigest()[:16], tree.commit, tree.branch, files)


def written_since(before: WorkspaceStatus, now: WorkspaceStatus) -> list[str]:
    """The files that were written in between, or put back; `HEAD` where something was committed there. Pure."""
    names = {*before.files, *now.files}
    files = sorted(name for name in names if before.files.get(name) != now.files.get(name))
    return (["HEAD"] if (before.commit, before.branch) != (now.commit, now.branch) else []) + files


def _mark(path: Path) -> str:
    try:
        found = path.stat(follow_symlinks=False)
    except OSError:
        return "gone"
    return f"{found.st_mode:o}-{found.st_size}-{found.st_mtime_ns}-{found.st_ctime_ns}"
