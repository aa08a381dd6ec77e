"""The steps in which a session's worktree is made and removed, each a function of its `Site`.

A kill after any step, or inside, leaves what the next `make` clears away or continues, and what a next `release` ends:
the record says `making` before anything is there, and `leaving` before anything goes.

Called by `worktree`.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from gemba import git, git_folder
from gemba.errors import Conflict, Unusable
from gemba.sessions.worktrees.place import (
    Ground,
    Phase,
    Record,
    Worktree,
    alone,
    branch_of,
    entry_of,
    ignore_all,
    link,
    lock_reason,
    name_of,
    place_of,
    read_record,
    words_of,
    worktrees_folder,
    write_record,
)
from gemba.sessions.worktrees.state import commits, is_merged

_HALF_MADE = re.compile(r"failed to read .*/worktrees/")
_GLANCE, _MOST_GLANCES = 0.05, 100  # seconds between two tries, and how many
_LITTLE_ROOM = 4 * 1024 * 1024  # bytes
_CHECKOUT_SECONDS = 900.0  # for the files of a large repository on a slow disk


class Base(NamedTuple):
    """What a worktree is made from, and the branch that it is merged into. `pinned`: both were given."""

    commit: str
    branch: str | None
    pinned: bool = False


class Site:
    """Where one session's worktree is made or removed, while nobody else does either."""

    def __init__(self, ground: Ground, session_id: str, lock: int, base: Base | None) -> None:
        self.ground, self.session_id = ground, session_id
        self.base = base  # what it is made from; of no use where it is found or removed
        self.path = worktrees_folder(ground.workspace) / name_of(session_id)
        self.branch = branch_of(session_id)
        self._lock, self._file = lock, file_of(ground, session_id, "json")

    @property
    def record(self) -> Record | None:
        found = read_record(self._file)
        if found is not None and found.session_id != self.session_id:
            raise Conflict(f"{self._file} is of the session {found.session_id!r}", code="worktree_taken")
        return found

    @property
    def is_making(self) -> bool:
        return (record := self.record) is not None and record.phase is Phase.MAKING

    def write(self, base: Base, phase: Phase) -> None:
        write_record(self._file, Record(self.session_id, base.commit, base.branch, phase, base.pinned))

    def move(self, record: Record, phase: Phase) -> None:
        self.write(_base_of(record), phase)

    def forget(self) -> None:
        self._file.unlink(missing_ok=True)

    @property
    def entry(self) -> Path | None:
        return entry_of(self.ground.shared, self.path, self.branch)

    @property
    def tip(self) -> str | None:
        """The commit of the branch; None when there is no such branch."""
        ref = f"refs/heads/{self.branch}"
        return commits(str(self.ground.workspace), ref).get(ref)

    def worktree(self, record: Record) -> Worktree:
        return worktree_of(self.ground, self.session_id, record)

    def git(self, *arguments: str, folder: Path | None = None, unset: Sequence[str] = ()) -> str:
        """What git prints. It holds our lock as long as it runs, also when we are killed before it ends."""
        place = str(folder or self.ground.workspace)
        run = partial(git.run, place, *arguments, unset=unset, inherited=[self._lock], seconds=_CHECKOUT_SECONDS)
        done, again = run(), _MOST_GLANCES
        # git looks at all worktrees, and stops at one that another git is just making.
        while done.code != 0 and _HALF_MADE.search(done.stderr) and again:
            time.sleep(_GLANCE)
            done, again = run(), again - 1
        if done.code != 0:
            told = f"git {arguments[0]} failed for the worktree {self.path}: {words_of(done.stderr)}"
            raise Unusable(told + _lack_of_room(place), code="worktree_failed")
        return done.stdout

    def place_of_branch(self) -> str | None:
        """Where else the branch is checked out."""
        found = git_folder.at_top(str(self.ground.workspace))
        there = None if found is None else git_folder.others_on(found, self.branch)
        if there is not None and not [own for own in there if own != str(self.entry)]:
            return None
        where = ""
        for line in self.git("worktree", "list", "--porcelain", "-z").split("\0"):
            name, _, value = line.partition(" ")
            where = value if name == "worktree" else where
            if name == "branch" and value == f"refs/heads/{self.branch}" and where != str(self.path):
                return where
        return None


@contextlib.contextmanager
def begun(ground: Ground, session_id: str, base: Base | None = None) -> Iterator[Site]:
    """The place to make or remove a session's worktree; errors of the file system become an Unusable."""
    lock_file = file_of(ground, session_id, "lock")
    try:
        with alone(lock_file, f"the worktree of {session_id!r}") as lock:
            try:
                yield Site(ground, session_id, lock, base)
            finally:
                if not file_of(ground, session_id, "json").exists():
                    lock_file.unlink(missing_ok=True)
    except OSError as error:
        raise Unusable(
            f"{error.filename or ground.shared}: {error.strerror or error}", code="worktree_failed"
        ) from None


def _lack_of_room(folder: str) -> str:
    """What git does not say of a file that it cannot write."""
    return "; No space left on device" if shutil.disk_usage(folder).free < _LITTLE_ROOM else ""


def worktree_of(ground: Ground, session_id: str, record: Record) -> Worktree:
    root = ground.workspace
    path = worktrees_folder(root) / name_of(session_id)
    part = _part_of(path, ground.prefix)
    folder = part if part.is_dir() else path
    branch = branch_of(session_id)
    return Worktree(session_id, str(root), str(path), str(folder), branch, *_base_of(record))


def _base_of(record: Record) -> Base:
    return Base(record.base, record.base_branch, record.pinned)


def _part_of(path: Path, prefix: str) -> Path:
    """The part of a worktree that the workspace is of its repository; a link in its place is not followed out of it."""
    part = (path / prefix).resolve()
    return part if part.is_relative_to(path) else path


def file_of(ground: Ground, session_id: str, suffix: str) -> Path:
    return ground.shared / "gemba" / f"{name_of(session_id)}.{suffix}"


# -- the steps of making -----------------------------------------------------------------------------------------------


def claim(site: Site) -> None:
    """Write down that the worktree is being made, unless it is there; refuse what is not ours."""
    record = site.record
    if record is not None and record.phase is Phase.WHOLE and is_there(site):
        return
    if record is not None and record.phase in (Phase.MAKING, Phase.LEAVING):
        clear(site)
    if os.path.lexists(site.path):
        raise Conflict(f"{site.path} is there, and not as a session's worktree", code="worktree_replaced")
    tip = site.tip
    if record is None and tip is not None:
        told = f"the branch {site.branch} is there, and was not made for a session: rename it to have one made"
        raise Conflict(told, code="branch_taken")
    if tip is not None and (elsewhere := site.place_of_branch()) is not None:
        told = f"the branch {site.branch} is checked out in {elsewhere}, and a session's worktree is its own"
        raise Conflict(told, code="branch_taken")
    base = site.base
    if record is not None and (base is None or tip is not None or (record.pinned and not base.pinned)):
        site.move(record, Phase.MAKING)
    elif base is not None:
        site.write(base, Phase.MAKING)


def make_branch(site: Site) -> None:
    record = site.record
    if record is not None and record.phase is Phase.MAKING and site.tip is None:
        site.git("branch", "--no-track", site.branch, record.base)


def register(site: Site) -> None:
    """Have git know the worktree; its files come later, since git is quick and safe at this among many."""
    if site.is_making:
        ignore_all(site.path.parent)
        site.git("worktree", "add", "--quiet", "--no-checkout", str(site.path), site.branch)


def check_out(site: Site) -> None:
    if site.is_making:
        unset = git.filters(str(site.path)) or ()
        site.git("reset", "--quiet", "--hard", "--no-recurse-submodules", folder=site.path, unset=unset)
        with contextlib.suppress(FileExistsError, NotADirectoryError):  # a file may be committed in its place
            _part_of(site.path, site.ground.prefix).mkdir(parents=True, exist_ok=True)


def finish(site: Site) -> None:
    if (record := site.record) is not None and record.phase is Phase.MAKING:
        site.move(record, Phase.WHOLE)


MAKING: tuple[Callable[[Site], None], ...] = (claim, make_branch, register, check_out, finish)


# -- the steps of leaving ----------------------------------------------------------------------------------------------


def mark_leaving(site: Site) -> None:
    if (record := site.record) is not None and record.phase is not Phase.LEFT:
        site.move(record, Phase.LEAVING)


def clear(site: Site) -> None:
    """Remove the folder, then git's entry of it, as git does; what came after the worktree has left is not ours."""
    record, entry = site.record, site.entry
    if record is None or record.phase is Phase.LEFT:
        return
    begun_entry = site.ground.shared / "worktrees" / site.path.name
    entries = [entry, begun_entry if place_of(begun_entry) is None else None]
    for folder in (site.path, *filter(None, entries)):
        if os.path.lexists(folder):
            shutil.rmtree(folder)
    # A git that was killed leaves its lock on the branch. None of ours runs now, and nobody works on what is not whole.
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        (site.ground.shared / f"refs/heads/{site.branch}.lock").unlink()


def drop_branch(site: Site) -> None:
    """Delete the branch if all of it is merged, and nobody has it checked out; only as it was when that was seen."""
    record, tip = site.record, site.tip
    if record is None or tip is None or site.place_of_branch() is not None:
        return
    if is_merged(site.worktree(record), tip):
        site.git("update-ref", "-d", f"refs/heads/{site.branch}", tip)


def settle(site: Site) -> None:
    """Remember a branch that stays as ours, and nothing else."""
    record = site.record
    if record is not None and site.tip is not None:
        site.move(record, Phase.LEFT)
    else:
        site.forget()


WITHDRAWING: tuple[Callable[[Site], None], ...] = (clear, drop_branch, settle)  # of what is not whole
LEAVING: tuple[Callable[[Site], None], ...] = (mark_leaving, *WITHDRAWING)


def is_there(site: Site) -> bool:
    """Whether the worktree that was made is still there. One whose folder was deleted by hand is forgotten."""
    entry = site.entry
    if entry is None:
        return False
    if os.path.lexists(site.path):
        link(site.path, entry)
        return True
    if (reason := lock_reason(entry)) is not None:
        raise Conflict(f"the worktree {site.path} is gone, and somebody locked it: {reason}", code="worktree_locked")
    for head in commits(str(site.ground.workspace), f"worktrees/{entry.name}/HEAD").values():
        if site.git("rev-list", "--max-count=1", head, "--not", "--branches", "--tags", "--remotes", "--"):
            told = f"the worktree {site.path} is gone, and the commit {head} that it stood on is on no branch"
            raise Conflict(f"{told}: give it one", code="worktree_unsaved")
    shutil.rmtree(entry)
    return False
