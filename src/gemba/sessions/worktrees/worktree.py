"""One worktree of git a session: made, found again, released; never shared by two sessions, never lost.

`make` gives a session a folder and a branch of its own, from what the workspace has checked out; what is not committed
there stays where it is. It can be called again at any time, and mends what a kill left, at whatever point it came.
Where the workspace has no repository, or nothing is committed yet, the session works in the workspace itself, one at
a time.

`release` takes away only what is committed and merged. A person who was shown the rest can have it taken away as well;
then the branch stays, and what was not committed is kept as `refs/gemba/released/<name>`. A kill at any point is made
up for by the next call.

No program that the repository's configuration names is run: no hook, no filter, so that a file which a filter makes
(as of Git LFS) is there as it is committed. Submodules are left to the agent. Blocking: call it from a thread.

Called by the lifecycle of sessions.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from gemba.errors import Conflict, Invalid, Unusable
from gemba.sessions.worktrees import workspace_hold
from gemba.sessions.worktrees.place import (
    Ground,
    Phase,
    Record,
    Repository,
    Worktree,
    find_ground,
    find_repository,
    ground_at_top,
    is_linked,
    read_record,
)
from gemba.sessions.worktrees.state import State, commits, reference_of, refuse_loss, save, state
from gemba.sessions.worktrees.steps import (
    LEAVING,
    MAKING,
    WITHDRAWING,
    Base,
    Site,
    begun,
    file_of,
    is_there,
    worktree_of,
)
from gemba.text import storable

__all__ = ["Released", "State", "Worktree", "find", "make", "release", "release_of", "state"]


_HASH = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")


class Released(NamedTuple):
    """What stays of a released worktree: its branch if that is not merged, and what was not committed."""

    branch: str | None = None
    saved: str | None = None


def _until_released(holder: str) -> bool:
    return True


def make(
    workspace: str,
    session_id: str,
    is_live: Callable[[str], bool] = _until_released,
    base: str | None = None,
    into: str | None = None,
) -> Worktree:
    """The session's own worktree, as it is if it was made before. `is_live` tells of a session that has the workspace
    itself whether it still needs it; usually it does until it is released. `base`: the commit to make it from instead
    of what the workspace has checked out, and `into` the branch that its work is merged into then."""
    root = Path(workspace).resolve()
    if (worktree := workspace_hold.held_by(root, session_id)) is not None:
        return worktree
    if not root.is_dir():
        raise Unusable(f"{root} is not a folder", code="no_folder")
    ground = ground_at_top(root)
    if ground is not None and (worktree := _as_it_is(ground, session_id)) is not None:
        return worktree
    if ground is not None and base is not None and into is not None and _stands_at(ground, into, base):
        given = Base(base, into, pinned=True)
    else:
        repository = find_repository(root)
        if repository is None:
            return workspace_hold.take(root, session_id, is_live)
        ground, given = repository.ground, Base(repository.head, repository.branch)
        if base is not None:
            given = Base(_known(repository, base), into, pinned=True)
    with begun(ground, session_id, given) as site:
        try:
            for step in MAKING:
                step(site)
        except BaseException:
            _withdraw(site)
            raise
        return _made(site)


def _as_it_is(ground: Ground, session_id: str) -> Worktree | None:
    """One that was made before and is whole; None where something has to be made."""
    if not file_of(ground, session_id, "json").exists():
        return None
    with begun(ground, session_id) as site:
        record = site.record
        if record is None or record.phase is not Phase.WHOLE or not is_there(site):
            return None
        return site.worktree(record)


def _stands_at(ground: Ground, branch: str, base: str) -> bool:
    """Whether a branch stands at a commit, which is one then."""
    ref = f"refs/heads/{branch}"
    return commits(str(ground.workspace), ref).get(ref) == base


def _known(repository: Repository, base: str) -> str:
    workspace = repository.ground.workspace
    found = commits(str(workspace), base) if _HASH.fullmatch(base) else {}
    if base not in found:
        told = f"{storable(base[:80])!r} is no commit of {workspace}; allowed: the hash of one"
        raise Invalid(told, code="no_commit", found=base[:80])
    return found[base]


def find(workspace: str, session_id: str) -> Worktree | None:
    """The session's worktree as it was made; None when there is none, or only a part of one."""
    root = Path(workspace).resolve()
    if (worktree := workspace_hold.held_by(root, session_id)) is not None:
        return worktree
    ground = find_ground(root)
    record = None if ground is None else read_record(file_of(ground, session_id, "json"))
    if ground is None or record is None or record.session_id != session_id or record.phase is not Phase.WHOLE:
        return None
    return worktree_of(ground, session_id, record)


def release(worktree: Worktree, force_by_person: bool = False) -> Released:
    """Remove a worktree that holds nothing of its own, and its branch if that is merged; a Conflict names what it
    holds. A person can force it: then that is kept in the repository. What is released already stays so."""
    root = Path(worktree.workspace)
    if worktree.branch is None:
        workspace_hold.give_back(root, worktree.session_id)
        return Released()
    with _leaving(root, worktree.session_id) as site:
        return _released(site, force_by_person=force_by_person)


def release_of(workspace: str, session_id: str, shown: str | None = None) -> Released:
    """The same by name, of a part of a worktree too, with all that stays of it. `shown` is the seal of what a person
    has seen to be only there, and wants taken away: a Conflict where it is something else."""
    root = Path(workspace).resolve()
    with _leaving(root, session_id) as site:
        released = _released(site, shown=shown)
        # Whoever began this may have been killed before they could tell.
        kept = reference_of(session_id)
        return released._replace(saved=kept if commits(str(root), kept) else None)


@contextlib.contextmanager
def _leaving(root: Path, session_id: str) -> Iterator[Site]:
    ground = find_ground(root)
    if ground is None:
        raise Unusable(f"{root} has no repository any more", code="repository_gone")
    with begun(ground, session_id) as site:
        yield site


def _released(site: Site, **allowed: Any) -> Released:
    record = site.record
    if record is None:
        return Released()
    saved = _kept(site, record, **allowed) if record.phase is Phase.WHOLE else None
    for step in LEAVING:
        step(site)
    return Released(site.branch if site.tip else None, saved)


def _kept(site: Site, record: Record, force_by_person: bool = False, shown: str | None = None) -> str | None:
    """Make sure that nothing is lost with the worktree; the reference under which a part of it was kept."""
    entry, worktree = site.entry, site.worktree(record)
    if os.path.lexists(site.path) and (entry is None or not is_linked(site.path, entry)):
        told = f"{site.path} is no worktree that git knows any more, so that nobody can tell what is only there"
        raise Conflict(told, code="worktree_replaced")
    if entry is None:
        return None
    found = state(worktree)
    if found.locked is not None:
        raise Conflict(f"somebody locked the worktree {site.path}: {found.locked}", code="worktree_locked")
    if found.seal is None:
        return None
    if not force_by_person and found.seal != shown:
        refuse_loss(worktree, found, shown)
    return save(worktree, entry)


def _withdraw(site: Site) -> None:
    """Take back what was begun, as far as that goes now; the next `make` clears the rest."""
    with contextlib.suppress(OSError, Unusable, Conflict):
        if site.is_making:
            for step in WITHDRAWING:
                step(site)


def _made(site: Site) -> Worktree:
    record = site.record
    if record is None:
        raise Unusable(f"the record of {site.path} is gone", code="worktree_record")
    return site.worktree(record)
