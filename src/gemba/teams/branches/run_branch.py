"""A run's own branch, `gemba/<run id>`: made once at what the workspace has checked out, moved by merges alone.

Beside the branch stands `refs/gemba/runs/<run id>`, which moves with it: a branch that somebody has set back or deleted
loses nothing, and is put back where it was. What a person commits on the branch itself stays. What is known of a run's
branch lies in `<git folder>/gemba/runs/<run id>.json`; whoever changes it holds the lock beside it.

Called by the engine of team runs, and by `merging`.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from gemba import typed, wire
from gemba.errors import Conflict, Unusable
from gemba.sessions.worktrees.place import alone, branch_of, find_repository, write_whole
from gemba.teams.branches.plumbing import (
    WITH_REFERENCES,
    Place,
    ancestors,
    check_branch,
    refused,
    shared_folder,
    tip_of,
)
from gemba.teams.run import check_id

_GLANCE = 0.003  # seconds between two tries to take the lock: a merge takes a few of them
_PATIENCE = 300.0  # seconds


class Opened(NamedTuple):
    branch: str
    base: str  # the commit that it began at


class _Record(msgspec.Struct, frozen=True):
    run_id: str
    base: str
    made: bool


class RunBranch:
    """A run's branch while nobody else of us changes it."""

    def __init__(self, workspace: str, shared: Path, branch: str, lock: int) -> None:
        self.place = Place(workspace, lock)
        self.branch, self.shared = branch, shared
        self.reference = f"refs/heads/{branch}"
        self._kept = f"refs/gemba/runs/{branch.removeprefix('gemba/')}"

    def tip(self) -> str:
        """Where the branch stands; put back first if it was set back or deleted."""
        tip = tip_of(self.place, self.shared, self.reference)
        kept = tip_of(self.place, self.shared, self._kept)
        if kept is None and tip is not None:
            return tip
        if kept is None:
            raise Conflict(f"there is no branch {self.branch} in {self.place.folder}", code="branch_gone")
        if tip == kept:
            return kept
        common = [] if tip is None else ancestors(self.place, tip, kept)
        if tip is not None and kept in common:
            return tip
        if tip is not None and tip not in common:
            told = f"somebody has rewritten {self.branch}: what was merged is at {self._kept}, and not on it any more"
            raise Conflict(f"{told}; merge that into it", code="branch_rewritten", found=tip, kept=kept)
        if not self.move(kept, tip):
            return self.tip()
        return kept

    def move(self, to: str, since: str | None) -> bool:
        """Have the branch at a commit; False when it is not where it was seen."""
        first = f"create {self.reference} {to}" if since is None else f"update {self.reference} {to} {since}"
        asked = f"{first}\nupdate {self._kept} {to}\n"
        done = self.place.change(*WITH_REFERENCES, "update-ref", "-m", "gemba", "--stdin", given=asked.encode())
        if done.code == 0:
            return True
        if tip_of(self.place, self.shared, self.reference) != since:
            return False
        raise refused(self.place.folder, done, ("update-ref",))


@contextlib.contextmanager
def held(workspace: str, branch: str) -> Iterator[RunBranch]:
    """A run's branch to change, one after the other; whoever is checked out on it in the workspace is left alone."""
    shared = shared_folder(workspace)
    with _lock(shared, check_branch(branch)) as lock:
        if wire.git_place(workspace)[1] == branch:
            told = f"{workspace} has {branch} checked out, so that nothing is merged into it; switch to another branch"
            raise Conflict(told, code="branch_checked_out", found=branch)
        yield RunBranch(workspace, shared, branch, lock)


def open_branch(workspace: str, run_id: str) -> Opened | None:
    """The run's branch, at what the workspace has checked out when it is first asked for. None where there is no
    repository, or nothing is committed: then tasks work in the workspace itself and nothing is merged."""
    branch = branch_of(check_id(run_id))
    root = Path(workspace).resolve()
    if not root.is_dir():
        raise Unusable(f"{root} is not a folder", code="no_folder")
    repository = find_repository(root)
    if repository is None:
        return None
    shared = repository.ground.shared
    with _lock(shared, branch) as lock:
        file = _file(shared, branch, "json")
        record = _read(file) or _Record(run_id, repository.head, made=False)
        site = RunBranch(str(root), shared, branch, lock)
        if not record.made:
            _make(site, file, record)
        return Opened(branch, record.base)


def _make(site: RunBranch, file: Path, record: _Record) -> None:
    """The record says what the branch is made from before it is there, and that it is there afterwards."""
    write_whole(file, msgspec.json.encode(record))
    tip = tip_of(site.place, site.shared, site.reference)
    is_ours = tip == record.base and tip_of(site.place, site.shared, site._kept) == tip
    if not is_ours and (tip is not None or not site.move(record.base, None)):
        told = f"the branch {site.branch} is there, and was not made for this run: rename it to have one made"
        raise Conflict(told, code="branch_taken", found=site.branch)
    write_whole(file, msgspec.json.encode(msgspec.structs.replace(record, made=True)))


def _read(file: Path) -> _Record | None:
    try:
        return typed.convert(json.loads(file.read_bytes()), _Record)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, msgspec.ValidationError) as error:
        raise Unusable(f"{file} is no record of a run's branch: {error}", code="branch_record") from None


@contextlib.contextmanager
def _lock(shared: Path, branch: str) -> Iterator[int]:
    try:
        with alone(_file(shared, branch, "lock"), f"the branch {branch}", _PATIENCE, _GLANCE) as lock:
            yield lock
    except OSError as error:
        raise Unusable(f"{error.filename or shared}: {error.strerror or error}", code="branch_failed") from None


def _file(shared: Path, branch: str, suffix: str) -> Path:
    return shared / "gemba" / "runs" / f"{branch.removeprefix('gemba/')}.{suffix}"
