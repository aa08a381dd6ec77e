"""What would be lost with a worktree: files that are not committed, commits that its base branch does not have.

Looks, and changes nothing, but for `save`, which keeps all of it in the repository. Where git cannot tell, an Unusable
says so: nothing counts as saved by default.

Called by `worktree`, and by whoever shows sessions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gemba import git, git_folder
from gemba.errors import Conflict, Unusable
from gemba.sessions.worktrees.place import Worktree, entry_of, is_linked, lock_reason, name_of, words_of
from gemba.sessions.worktrees.submodules import changed_files, index_of, lone_commits
from gemba.text import storable

_MOST_NAMED = 20
_SLOW = 120.0  # seconds for what reads every file
_IDENTITY = ("-c", "user.name=Gemba", "-c", "user.email=gemba@localhost")


class State(NamedTuple):
    """How a worktree is; what cannot be said of it is None."""

    is_there: bool
    dirty: int  # files that are changed, new or gone, and submodules with unsaved commits; ignored files do not count
    names: tuple[str, ...] = ()  # of the first of them
    ahead: int | None = None  # commits since it was made
    unmerged: int | None = None  # those of them that neither the base branch nor its upstream has
    commits: tuple[str, ...] = ()  # `<short hash> <subject>` of the newest of these
    unpushed: int | None = None  # commits that no remote has; None without a remote
    locked: str | None = None  # why a person locked it
    seal: str | None = (
        None  # a name for all that would be lost: who gives it was told of this; None where nothing would
    )

    @property
    def merged(self) -> bool | None:
        return None if self.unmerged is None else self.unmerged == 0


def state(worktree: Worktree) -> State:
    """The state of a session's worktree. One whose folder is gone may still have commits."""
    if worktree.branch is None or worktree.base is None:
        tree = git.tree(worktree.workspace, _SLOW)
        changed = [] if tree is None else list(tree.changed)
        unpushed = None if tree is None else git.unpushed(worktree.workspace, tree)
        return State(True, len(changed), _few(changed), unpushed=unpushed)
    entry, path = entry_of_worktree(worktree), Path(worktree.path)
    is_there = entry is not None and is_linked(path, entry)
    changed = _unsaved_in(path, entry) if entry is not None and is_there else []
    tips = tips_of(worktree, entry)
    known = merged_into(worktree)
    unmerged = _count(worktree, tips, known)
    since = [worktree.base] if tips == [worktree.base] else [*commits(worktree.workspace, worktree.base).values()]
    return State(
        is_there,
        len(changed),
        _few(changed),
        ahead=_count(worktree, tips, since),
        unmerged=unmerged,
        commits=_subjects(worktree, tips, known) if unmerged else (),
        unpushed=_unpushed(worktree, tips),
        locked=None if entry is None else lock_reason(entry),
        seal=_seal(changed, tips) if changed or unmerged else None,
    )


def _unsaved_in(path: Path, entry: Path) -> list[str]:
    index = index_of(path)
    return [*changed_files(path, index), *lone_commits(path, entry, index)]


def _seal(changed: Sequence[str], tips: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps([changed, tips]).encode()).hexdigest()[:16]


def entry_of_worktree(worktree: Worktree) -> Path | None:
    shared = git.shared_folder(worktree.workspace)
    if shared is None or worktree.branch is None:
        raise Unusable(f"{worktree.workspace} has no repository any more", code="repository_gone")
    return entry_of(Path(shared), Path(worktree.path), worktree.branch)


def tips_of(worktree: Worktree, entry: Path | None) -> list[str]:
    """The commits that the branch and the worktree stand on; they differ where the agent has checked out another."""
    heads = [] if entry is None else [f"worktrees/{entry.name}/HEAD"]
    return sorted({*commits(worktree.workspace, f"refs/heads/{worktree.branch}", *heads).values()})


def merged_into(worktree: Worktree) -> list[str]:
    """The commits that have what is merged: the base, its branch as it is now, and what that one follows. A base that
    was given may be on no branch: the workspace's HEAD stands in its place."""
    branch = f"refs/heads/{worktree.base_branch}" if worktree.base_branch else "HEAD"
    followed = git.setting_names(worktree.workspace)
    is_followed = followed is None or f"branch.{worktree.base_branch}.merge" in followed
    upstream = _told(worktree, "for-each-ref", "--format=%(upstream)", branch).split() if is_followed else []
    first = "HEAD" if worktree.pinned else str(worktree.base)
    return sorted({*commits(worktree.workspace, first, branch, *upstream).values()})


def commits(folder: str, *names: str) -> dict[str, str]:
    """The commits that the names stand for; what stands for none is not among them."""
    found = git_folder.at_top(folder)
    told = {name: None if found is None else git_folder.commit_of(found, name) for name in names}
    known = {name: commit for name, commit in told.items() if commit}
    return known | _asked_for(folder, [name for name, commit in told.items() if commit is None])


def _asked_for(folder: str, names: Sequence[str]) -> dict[str, str]:
    if not names:
        return {}
    asked = "".join(f"{name}^{{commit}}\n" for name in names).encode("utf-8", "surrogateescape")
    told = git.run(folder, "cat-file", "--batch-check=%(objectname) %(objecttype)", given=asked)
    if told.code != 0:
        raise Unusable(f"git cannot tell the commits of {folder}: {words_of(told.stderr)}", code="repository_broken")
    answers = zip(names, told.stdout.split("\n")[:-1], strict=True)
    return {name: line.split()[0] for name, line in answers if line.endswith(" commit")}


def is_merged(worktree: Worktree, tip: str) -> bool:
    return _count(worktree, [tip], merged_into(worktree)) == 0


def refuse_loss(worktree: Worktree, found: State, shown: str | None = None) -> None:
    """A Conflict that names what would be lost with the worktree; `shown` is the seal of what the person has seen."""
    reasons = []
    if found.dirty:
        reasons.append(f"{found.dirty} files that are not committed ({_listed(found.dirty, found.names)})")
    if found.unmerged:
        target = worktree.base_branch or "the workspace's HEAD"
        named = _listed(found.unmerged, found.commits)
        reasons.append(f"{found.unmerged} commits on {worktree.branch} that {target} does not have ({named})")
    if reasons:
        changed = "" if shown is None else "it is not as it was shown: "
        told = f"the worktree {worktree.path} has {' and '.join(reasons)}: it stays until they are committed and merged"
        raise Conflict(
            storable(changed + told),
            code="worktree_unsaved",
            dirty=found.dirty,
            files=list(found.names),
            unmerged=found.unmerged,
            commits=list(found.commits),
            seal=found.seal,
        )


def reference_of(session_id: str) -> str:
    """Under which what was not committed is kept once its worktree was released by force."""
    return f"refs/gemba/released/{name_of(session_id)}"


def save(worktree: Worktree, entry: Path) -> str | None:
    """Keep what is not committed, and the commit that is checked out, as a reference; its name, None when there is
    nothing to keep. A repository inside the worktree cannot be kept so, and is refused."""
    path = Path(worktree.path)
    kept = reference_of(worktree.session_id)
    there = is_linked(path, entry)
    changed = changed_files(path) if there else []
    alone = [name for name in changed if name.endswith("/")] + (lone_commits(path, entry) if there else [])
    if alone:
        told = f"{path} holds repositories whose commits are nowhere else ({_listed(len(alone), _few(alone))})"
        raise Conflict(storable(f"{told}: move or push them"), code="worktree_unsaved", files=list(_few(alone)))
    known = commits(worktree.workspace, f"worktrees/{entry.name}/HEAD", f"refs/heads/{worktree.branch}", kept)
    head = known.get(f"worktrees/{entry.name}/HEAD")
    if not changed and head == known.get(f"refs/heads/{worktree.branch}"):
        return None
    tree = _tree_of(path, entry, head) if changed else f"{head}^{{tree}}"
    parents = [part for commit in (head, known.get(kept)) if commit for part in ("-p", commit)]
    message = f"What was not committed when {worktree.branch} was released"
    saved = _told(worktree, *_IDENTITY, "commit-tree", "-m", message, *parents, tree).strip()
    _told(worktree, "update-ref", kept, saved)
    return kept


def _tree_of(path: Path, entry: Path, head: str | None) -> str:
    """A tree of all that is in a worktree but the ignored, made beside its index."""
    env = {"GIT_INDEX_FILE": str(entry / "gemba-index")}
    unset = git.filters(str(path)) or ()
    told = ""
    for command in (("read-tree", head or "--empty"), ("add", "--all", "--", "."), ("write-tree",)):
        done = git.run(str(path), "-c", "core.safecrlf=false", *command, unset=unset, env=env, seconds=_SLOW)
        if done.code != 0:
            raise Unusable(f"git cannot keep what is in {path}: {words_of(done.stderr)}", code="worktree_unsaved")
        told = done.stdout.strip()
    return told


def _count(worktree: Worktree, tips: Sequence[str], known: Sequence[str]) -> int:
    new = sorted({*tips} - {*known})
    return int(_told(worktree, "rev-list", "--count", *new, "--not", *known, "--")) if new else 0


def _subjects(worktree: Worktree, tips: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    asked = ("log", f"--max-count={_MOST_NAMED}", "--format=%h %s", *tips, "--not", *known, "--")
    return tuple(map(storable, _told(worktree, *asked).splitlines())) if tips else ()


def _unpushed(worktree: Worktree, tips: Sequence[str]) -> int | None:
    if not tips or git.has_no_remote(worktree.workspace):
        return None
    if not _told(worktree, "for-each-ref", "--count=1", "refs/remotes"):
        return None
    return int(_told(worktree, "rev-list", "--count", *tips, "--not", "--remotes", "--"))


def _told(worktree: Worktree, *arguments: str) -> str:
    result = git.run(worktree.workspace, *arguments, seconds=_SLOW)
    if result.code != 0:
        told = f"git cannot tell the state of {worktree.path}: {words_of(result.stderr)}"
        raise Unusable(told, code="worktree_unreadable")
    return result.stdout


def _few(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(storable(name) for name in names[:_MOST_NAMED])


def _listed(count: int, names: Sequence[str]) -> str:
    return ", ".join([*names, *(["…"] if count > len(names) else [])])
