"""What Gemba asks git. Reading only; `wire.git_head` answers the commonest question without starting a process."""

from __future__ import annotations

import os
from pathlib import Path

from gemba import shell
from gemba.errors import Unusable

# Hooks, pagers, prompts and configuration of others have no say in what we read.
_QUIET = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat", "LC_ALL": "C"}


def commits_since(folder: str, commit: str, most: int = 20) -> list[str]:
    """`<short hash> <subject>` of what was committed after a commit, newest first; empty when that cannot be told."""
    if not commit or not all(letter in "0123456789abcdef" for letter in commit):
        return []
    command = ["git", "log", f"--max-count={most}", "--format=%h %s", f"{commit}..HEAD", "--"]
    try:
        result = shell.run(command, cwd=Path(folder), env={**os.environ, **_QUIET})
    except Unusable:
        return []
    return result.stdout.splitlines() if result.code == 0 else []
