"""What Gemba asks git. Reading only; `wire.git_head` answers the commonest question without starting a process."""

from __future__ import annotations

import os
from pathlib import Path

from gemba import shell
from gemba.errors import Unusable

# A repository's own configuration can name programs for git to run, and an agent can write that configuration. What we
# ask shows no signatures, pages nothing, fetches nothing and takes no locks, so that none of them is run.
_GIT = ("git", "--no-pager", "--no-optional-locks", "-c", "log.showSignature=false", "-c", "core.fsmonitor=false")
_ALONE = {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "", "LC_ALL": "C"}


def commits_since(folder: str, commit: str, most: int = 20) -> list[str]:
    """`<short hash> <subject>` of what was committed after a commit, newest first; empty when that cannot be told."""
    if not folder or not commit or not all(letter in "0123456789abcdef" for letter in commit):
        return []
    command = [*_GIT, "log", f"--max-count={most}", "--format=%h %s", f"{commit}..HEAD", "--"]
    try:
        result = shell.run(command, cwd=Path(folder), env={**os.environ, **_ALONE})
    except Unusable:
        return []
    return result.stdout.splitlines() if result.code == 0 else []
