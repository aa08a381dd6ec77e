"""What an agent left in its worktree, as a commit on its session's branch: what it committed and what it did not.

The commit is Gemba's, without hooks, filters or a signature. It never has artifacts or the block that Gemba put into
an instructions file. It is made beside the agent's index, which follows it afterwards, if nobody changed it meanwhile:
a kill at any point leaves either the worktree as it was, or the commit, which the next call finds.

An agent that checked out something else has its work found there: what goes on from the session's branch becomes that
branch, what went another way is merged with it. An unfinished merge or rebase is refused and nothing is touched. Called
by the engine of team runs after a turn.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from gemba import git
from gemba.errors import Conflict, GembaError, Unusable
from gemba.sessions.worktrees import submodules
from gemba.sessions.worktrees.place import Worktree, alone, entry_named_by, name_of
from gemba.teams.branches import own_branch
from gemba.teams.branches.own_commits import without_ours
from gemba.teams.branches.own_index import OwnIndex
from gemba.teams.branches.plumbing import WITH_OBJECTS, Place, refused, shared_folder
from gemba.teams.branches.worktree_files import (
    Choice,
    Cleaned,
    LeftOut,
    Status,
    Tracked,
    block_texts,
    choose,
    read_status,
    read_tracked,
)
from gemba.text import storable

ARTIFACTS = (".gemba/artifacts",)
INSTRUCTIONS = ("CLAUDE.md", "AGENTS.md", "GEMINI.md")
_STATUS = ("--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "--untracked-files=all", "--no-renames")
_UNFINISHED = {"rebase-merge": "a rebase", "rebase-apply": "a rebase", "sequencer": "a row of picked commits"}
_MOST_NAMED = 20
_MOST_LEFT_OUT = 200


class Saved(NamedTuple):
    commit: str | None  # what has all of the work; None where the workspace has no repository
    changed: bool  # whether it is another than what the worktree was made from
    left_out: tuple[LeftOut, ...] = ()  # the first of them


def save_work(
    worktree: Worktree,
    message: str,
    *,
    leave_out: Sequence[str] = ARTIFACTS,
    instructions: Sequence[str] = INSTRUCTIONS,
) -> Saved:
    """Commit all that is in a worktree, but for what is ignored or stays out; `leave_out` and `instructions` are paths
    below the agent's folder."""
    if worktree.branch is None:
        return Saved(None, False)
    shared = shared_folder(worktree.workspace)
    _entry(worktree, shared)
    try:
        with alone(shared / "gemba" / f"{name_of(worktree.session_id)}.lock", f"the worktree {worktree.path}") as lock:
            entry = _entry(worktree, shared)
            _refuse_unfinished(worktree, entry)
            with OwnIndex(entry).copied() as index:
                # Named, since an agent can have git look for its files anywhere.
                where = {"GIT_DIR": str(entry), "GIT_WORK_TREE": worktree.path, "GIT_INDEX_FILE": str(index.file)}
                place = Place(worktree.path, lock, git.filters(worktree.path) or (), where)
                return _Saving(worktree, shared, entry, place, index).save(
                    storable(message).strip() or f"Work of {worktree.session_id}",
                    [*_below(worktree, leave_out)],
                    instructions,
                )
    except OSError as error:
        told = f"{error.filename or worktree.path}: {error.strerror or error}"
        raise Unusable(told, code="worktree_failed") from None


class _Saving:
    def __init__(self, worktree: Worktree, shared: Path, entry: Path, place: Place, index: OwnIndex) -> None:
        self._worktree, self._shared, self._entry, self._index = worktree, shared, entry, index
        self._place = place
        self._root = Path(worktree.path)

    def save(self, message: str, leave_out: Sequence[str], instructions: Sequence[str]) -> Saved:
        status = read_status(self._place.told("status", *_STATUS, "--ignore-submodules=dirty"))
        _refuse_unmerged(self._worktree, status)
        own = own_branch.stand(self._worktree, self._shared, self._entry, self._place, status.commit)
        cleaned = [*block_texts(self._root, Path(self._worktree.folder), instructions, self._worktree.session_id)]
        apart = {clean.path for clean in cleaned}
        tracked = read_tracked(self._place.told("ls-files", "--stage", "-v", "-z"), leave_out, apart)
        overlooked = [path for path in tracked.overlooked if self._look(path) is not None]
        changed = [path for path in (*status.changed, *overlooked) if path not in apart]
        choice = choose(changed, tracked.submodules, leave_out, self._look)
        self._look_again_at(overlooked)
        is_new = self._put(choice, [*self._put_back(tracked), *self._texts(cleaned, status, tracked)])
        if is_new or (self._entry / "MERGE_HEAD").exists():
            self._commit(message)
            self._index.install()
        left = [*choice.left_out, *self._in_submodules(tracked.submodules)]
        commit = own_branch.follow(own, self._place)
        if status.commit != self._worktree.base and commit != self._worktree.base:
            names = [*_below(self._worktree, instructions)]
            commit = without_ours(self._worktree, self._shared, self._place, commit, message, leave_out, names)
        named = tuple(LeftOut(storable(path), why) for path, why in left[:_MOST_LEFT_OUT])
        return Saved(commit, commit != self._worktree.base, named)

    def _look(self, path: str) -> os.stat_result | None:
        try:
            return (self._root / path).stat(follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _look_again_at(self, overlooked: Sequence[str]) -> None:
        given = b"".join(os.fsencode(path) + b"\0" for path in overlooked)
        for bit in ("--no-assume-unchanged", "--no-skip-worktree") if overlooked else ():
            self._place.told("update-index", bit, "-z", "--stdin", given=given)

    def _texts(
        self, cleaned: Sequence[Cleaned], status: Status, tracked: Tracked
    ) -> Iterator[tuple[str, str, str | None]]:
        """The instructions files whose text without a block is another than git has of them, with its object."""
        for clean in cleaned:
            known = tracked.objects.get(clean.path)
            if clean.text is None:
                if known is not None:
                    yield clean.path, "0", None
                continue
            if known == _object_of(clean.text, known) or (known is None and clean.path not in status.changed):
                continue  # it is as git has it, or ignored
            asked = (*WITH_OBJECTS, "hash-object", "-w", "--stdin", f"--path={clean.path}")
            object_id = self._place.told(*asked, given=clean.text).strip()
            if object_id != known:
                yield clean.path, clean.mode, object_id

    def _put_back(self, tracked: Tracked) -> Iterator[tuple[str, str, str | None]]:
        """What lies outside as it was where the worktree was made from, each file with its mode and object."""
        if not tracked.outside:
            return
        base = git.committed_files(self._worktree.path, str(self._worktree.base), tracked.outside) or {}
        for path in tracked.outside:
            known = base.get(path)
            if known is None:
                yield path, "0", None
            elif known.hash != tracked.objects.get(path):
                yield path, "120000" if known.link else "100755" if known.executable else "100644", known.hash

    def _put(self, choice: Choice, entries: Sequence[tuple[str, str, str | None]]) -> bool:
        """Have our index as the commit is to be; False when nothing had to be done."""
        nothing = "0" * len(str(self._worktree.base))
        gone = [(path, "0", None) for path in choice.gone]
        lines = [
            f"{mode if object_id else 0} {object_id or nothing}\t".encode() + os.fsencode(path) + b"\0"
            for path, mode, object_id in (*gone, *entries)
        ]
        if lines:
            self._place.told("update-index", "-z", "--index-info", given=b"".join(lines))
        if choice.put:
            given = b"".join(os.fsencode(path) + b"\0" for path in choice.put)
            asked = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
            self._place.told(*WITH_OBJECTS, *asked, given=given)
        return bool(lines or choice.put)

    def _commit(self, message: str) -> None:
        """Where all of it was committed before, nothing is."""
        asked = ("commit", "--quiet", "--no-verify", "--no-gpg-sign", "--cleanup=verbatim", "-F", "-")
        done = self._place.change(*WITH_OBJECTS, *asked, given=message.encode("utf-8", "replace"))
        is_empty = done.code == 1 and "error:" not in done.stderr and "fatal:" not in done.stderr
        if done.code != 0 and not is_empty:
            raise refused(self._worktree.path, done, asked)

    def _in_submodules(self, names: Sequence[str]) -> Iterator[LeftOut]:
        fetched = [name for name in names if os.path.lexists(self._root / name / ".git")]
        for name in fetched:
            with contextlib.suppress(GembaError):
                for file in submodules.changed_files(self._root / name):
                    yield LeftOut(f"{name}/{file}", "submodule")
        if fetched:
            for told in submodules.lone_commits(self._root, self._entry):
                yield LeftOut(told, "submodule")


def _entry(worktree: Worktree, shared: Path) -> Path:
    entry = entry_named_by(Path(worktree.path))
    if entry is None or entry.parent != shared / "worktrees":
        told = f"{worktree.path} is no worktree that git knows any more, so that nothing of it can be saved"
        raise Conflict(told, code="worktree_replaced")
    return entry


def _refuse_unfinished(worktree: Worktree, entry: Path) -> None:
    for name, what in _UNFINISHED.items():
        if (entry / name).exists():
            told = f"{worktree.path} is in the middle of {what}, so nothing was saved; finish it, or go back before it"
            raise Conflict(told, code="work_unfinished", found=name)


def _refuse_unmerged(worktree: Worktree, status: Status) -> None:
    if status.unmerged:
        files = [*map(storable, status.unmerged[:_MOST_NAMED])]
        told = f"{worktree.path} has {len(status.unmerged)} files in which a merge is not finished ({', '.join(files)})"
        raise Conflict(f"{told}, so nothing was saved; finish it", code="work_unmerged", files=files)


def _below(worktree: Worktree, names: Sequence[str]) -> Iterator[str]:
    """The paths in the repository: of the agent's folder, and of the worktree itself where that is another."""
    for folder in {worktree.folder, worktree.path}:
        for name in names:
            yield os.path.normpath(os.path.relpath(Path(folder, name), worktree.path))


def _object_of(text: bytes, like: str | None) -> str:
    algorithm = hashlib.sha256 if like is not None and len(like) == 64 else hashlib.sha1
    return algorithm(b"blob %d\0" % len(text) + text).hexdigest()
