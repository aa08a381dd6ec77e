"""Whether the code moved since an ask: looked up when it is shown, from git's files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Row

from gemba import wire
from gemba.escalations.escalation import Stale


def stale_of(row: Row[Any], head_of: Callable[[str], tuple[str | None, str | None]] = wire.git_head) -> Stale | None:
    """As long as the answer matters."""
    if row.resolved or row.commit_hash is None or row.cwd is None:
        return None
    head, branch = head_of(row.cwd)
    if head is None or head == row.commit_hash:
        return None
    return Stale(row.commit_hash, head, row.branch, branch, gone=False)
