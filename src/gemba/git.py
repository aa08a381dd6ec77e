"""What Gemba asks git. Reading only; `wire.git_head` answers the commonest question without starting a process."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from gemba import shell
from gemba.errors import Unusable

# A repository's own configuration can name programs for git to run, and an agent can write that configuration. What we
# ask shows no signatures, pages nothing, fetches nothing, compares without drivers and takes no locks, so that none of
# them is run.
_GIT = ("git", "--no-pager", "--no-optional-locks", "-c", "log.showSignature=false", "-c", "core.fsmonitor=false")
_ALONE = {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "", "LC_ALL": "C"}


_HASH = re.compile("[0-9a-f]{4,64}")
_COUNTED = {"file": re.compile(r"(\d+) files? "), "+": re.compile(r"(\d+) ins"), "-": re.compile(r"(\d+) del")}


class DiffStat(NamedTuple):
    """How much two commits differ."""

    files: int
    insertions: int
    deletions: int


def commits_since(folder: str, commit: str, most: int = 20) -> list[str]:
    """`<short hash> <subject>` of what was committed after a commit, newest first; empty when that cannot be told."""
    if not _HASH.fullmatch(commit):
        return []
    told = _ask(folder, "log", f"--max-count={most}", "--format=%h %s", f"{commit}..HEAD", "--")
    return [] if told is None else told.splitlines()


def diff_stat(folder: str, before: str, after: str, seconds: float = 3.0) -> DiffStat | None:
    """What changed from one commit to another; None when that cannot be told: one is gone, or it takes too long."""
    if not _HASH.fullmatch(before) or not _HASH.fullmatch(after):
        return None
    told = _ask(
        folder, "diff-tree", "-r", "--shortstat", "--no-ext-diff", "--no-textconv", before, after, "--", seconds=seconds
    )
    if told is None:
        return None
    counts = (pattern.search(told) for pattern in _COUNTED.values())
    return DiffStat(*(int(found[1]) if found else 0 for found in counts))


def _ask(folder: str, *arguments: str, seconds: float = 10.0) -> str | None:
    """What git prints, None when it refuses or cannot be run."""
    if not folder:
        return None
    try:
        result = shell.run([*_GIT, *arguments], cwd=Path(folder), env={**os.environ, **_ALONE}, timeout=seconds)
    except Unusable:
        return None
    return result.stdout if result.code == 0 else None
