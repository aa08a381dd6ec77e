"""A finished run's branch comes into what the workspace has checked out: only where that is clean enough, and merges.

The merge is made first, beside everything; then git moves the workspace on to it as it does for any fast-forward, and
refuses where that would touch a file that somebody has changed. A kill leaves the workspace before or after it, or with
its files ahead of its branch, which the next call finishes. Nothing of the operator's is ever overwritten.

Called by the engine of team runs, as the last step of one that is to be merged.
"""

from __future__ import annotations

import os
from pathlib import Path

from gemba import git
from gemba.errors import Conflict, NotFound
from gemba.sessions.worktrees.place import Repository, find_repository, words_of
from gemba.teams.branches.changes import changed_files, from_workspace
from gemba.teams.branches.merging import Conflicts, Merged, bringer, join
from gemba.teams.branches.plumbing import WITH_REFERENCES, Place, check_branch, refused
from gemba.teams.branches.run_branch import held
from gemba.text import storable

_UNFINISHED = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a picked commit",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "BISECT_LOG": "a bisection",
}
_MOST_NAMED = 20


def bring_home(workspace: str, branch: str, message: str = "") -> Merged | Conflicts:
    """Merge a run's branch into the branch that the workspace has checked out; the commit that brought it. Conflicts
    name the files that do not merge; a Conflict says what of the workspace stands against it."""
    root = Path(workspace).resolve()
    repository = find_repository(root)
    if repository is None:
        raise NotFound(f"{root} has no repository with a commit", code="no_repository")
    with held(str(root), check_branch(branch)) as run:
        tip = run.tip()
        _refuse_unready(run.place, repository, branch)
        words = message or f"Merge {branch}"
        # Ours is what is checked out: an operator's own line of commits goes on.
        made = _ahead(run.place, repository.head, tip) or join(run, repository.head, tip, words)
        if isinstance(made, Conflicts):
            return made
        if made == repository.head:
            return Merged(bringer(run.place, repository.head, tip))
        _refuse_overwriting(run.place, repository.head, made)
        _move_on(run.place, branch, made)
        return Merged(made)


def _ahead(place: Place, head: str, tip: str) -> str | None:
    """The tip itself, where the workspace has nothing beside it."""
    return tip if place.run("merge-base", "--is-ancestor", head, tip).code == 0 else None


def _refuse_unready(place: Place, repository: Repository, branch: str) -> None:
    if place.run("rev-parse", "--is-inside-work-tree").stdout.strip() != "true":
        told = f"{place.folder} has no files checked out, so {branch} cannot be merged there"
        raise Conflict(f"{told}; merge it where they are", code="workspace_bare")
    if repository.branch is None:
        told = f"{place.folder} has no branch checked out, so {branch} cannot be merged there"
        raise Conflict(f"{told}; check out the branch that is to have it", code="workspace_detached")
    own = Path(place.folder, place.told("rev-parse", "--git-dir").removesuffix("\n"))
    for name, what in _UNFINISHED.items():
        if (own / name).exists():
            told = f"{place.folder} is in the middle of {what}, so {branch} was not merged"
            raise Conflict(f"{told}; finish it first", code="workspace_unfinished", found=name)


def _refuse_overwriting(place: Place, head: str, made: str) -> None:
    """Name the files at once that git would refuse to overwrite: changed ones, and what is ignored or new there."""
    top, prefix = place.told("rev-parse", "--show-toplevel", "--show-prefix").split("\n")[:2]
    tree = git.tree(top)
    touched = [file.path for file in changed_files(top, head, made)]
    known = git.committed_files(top, head, touched) or {}
    mine = {*map(storable, tree.changed if tree is not None else ())}
    mine |= {path for path in touched if path not in known and os.path.lexists(Path(top, path))}
    if (in_the_way := sorted(mine.intersection(touched))) and not _is_half_moved(top, made, in_the_way):
        raise _not_clean(place.folder, [from_workspace(path, prefix) for path in in_the_way])


def _is_half_moved(top: str, made: str, files: list[str]) -> bool:
    """Whether these files are as the merge has them already: somebody was killed before the branch followed."""
    asked = ("--literal-pathspecs", "diff-index", "--quiet", made, "--", *files)
    return git.run(top, *asked, unset=git.filters(top) or ()).code == 0


def _not_clean(workspace: str, files: list[str]) -> Conflict:
    named = ", ".join([*files[:_MOST_NAMED], *(["…"] if len(files) > _MOST_NAMED else [])])
    told = f"{workspace} has changes that are not committed in {len(files)} files that the run changed too ({named})"
    return Conflict(f"{told}; commit or move them", code="workspace_dirty", files=files[:_MOST_NAMED])


def _move_on(place: Place, branch: str, made: str) -> None:
    told = place._replace(unset=git.filters(place.folder) or ())
    asked = (
        "-c",
        "submodule.recurse=false",
        "merge",
        "--ff-only",
        "--quiet",
        "--no-verify",
        "--no-autostash",
        "--no-overwrite-ignore",
    )
    done = told.run(*WITH_REFERENCES, *asked, made)
    if done.code == 0:
        return
    if done.code == 1 or "Not possible to fast-forward" in done.stderr or "index.lock" in done.stderr:
        said = f"{place.folder} is in use or has changed meanwhile, so {branch} was not merged: {words_of(done.stderr)}"
        raise Conflict(f"{said}; commit or move what is changed there", code="workspace_dirty")
    raise refused(place.folder, done, ("merge",))
