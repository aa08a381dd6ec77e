"""The workspace itself as what a session works in, one at a time: where there is no repository, or no commit yet.

Who has it stands in `.gemba/worktrees/.workspace.json`, which no session's own folder is called. It stays with that
session until it is given back, whatever becomes of the repository meanwhile.

Called by `worktree`.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

from gemba.errors import Conflict, Unusable
from gemba.sessions.worktrees.place import Worktree, alone, ignore_all, worktrees_folder, write_whole


def held_by(workspace: Path, session_id: str) -> Worktree | None:
    """The workspace, if it is this session's."""
    return _as_worktree(workspace, session_id) if _holder(workspace) == session_id else None


def take(workspace: Path, session_id: str, is_live: Callable[[str], bool]) -> Worktree:
    """The workspace for a session; a Conflict while another that is live has it."""
    with _alone(workspace):
        holder = _holder(workspace)
        if holder is not None and holder != session_id and is_live(holder):
            told = f"{workspace} has no repository with a commit, so one session at a time works in it: {holder!r} does"
            raise Conflict(told, code="workspace_taken", session_id=holder)
        write_whole(_file(workspace, "json"), json.dumps({"session_id": session_id}).encode())
    return _as_worktree(workspace, session_id)


def give_back(workspace: Path, session_id: str) -> None:
    with _alone(workspace):
        if _holder(workspace) == session_id:
            _file(workspace, "json").unlink()


@contextlib.contextmanager
def _alone(workspace: Path) -> Iterator[None]:
    try:
        ignore_all(worktrees_folder(workspace))
        with alone(_file(workspace, "lock"), f"the hold on {workspace}"):
            yield
    except OSError as error:
        raise Unusable(f"{error.filename or workspace}: {error.strerror}", code="worktree_failed") from None


def _holder(workspace: Path) -> str | None:
    file = _file(workspace, "json")
    try:
        told = json.loads(file.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise Unusable(f"{file} does not say who works in the workspace: {error}", code="worktree_record") from None
    holder = told.get("session_id") if isinstance(told, dict) else None
    return holder if isinstance(holder, str) else None


def _as_worktree(workspace: Path, session_id: str) -> Worktree:
    return Worktree(session_id, str(workspace), str(workspace), str(workspace), None, None, None)


def _file(workspace: Path, suffix: str) -> Path:
    return worktrees_folder(workspace) / f".workspace.{suffix}"
