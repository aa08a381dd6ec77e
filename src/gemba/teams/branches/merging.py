"""A task's commit becomes part of its run's branch: a step with a check of its own.

No working tree and no index is touched. Of two merges at once each is kept: the branch moves only from where it was
seen, and who was late merges anew. What is on the branch already is not merged again, so a merge that nobody lived to
tell of is found. A merge whose files are not what both sides made of them never gets on the branch, and neither does
one with a conflict: that is told, for a task of its own.

Called by the engine of team runs.
"""

from __future__ import annotations

from typing import NamedTuple

from gemba.errors import Conflict, Unusable
from gemba.teams.branches.plumbing import Place, ancestors, check_commit, commit_tree
from gemba.teams.branches.run_branch import RunBranch, held
from gemba.teams.branches.three_way import Clash, lost, merged_tree, sides
from gemba.text import storable

_ATTEMPTS = 50
_MOST_NAMED = 20


class Merged(NamedTuple):
    commit: str  # the one that brought it


class Conflicts(NamedTuple):
    """Why nothing was merged: these files, as they lie from the workspace, against the branch at this commit."""

    files: tuple[str, ...]
    tip: str


def merge(workspace: str, branch: str, commit: str, message: str) -> Merged | Conflicts:
    """Merge a commit into a run's branch; the commit that brought it, also when that was done before."""
    check_commit(commit)
    with held(workspace, branch) as run:
        for _ in range(_ATTEMPTS):
            tip = run.tip()
            made = join(run, tip, commit, message)
            if isinstance(made, Conflicts):
                return made
            if made == tip:
                return Merged(bringer(run.place, tip, commit))
            if run.move(made, tip):
                return Merged(made)
    raise Conflict(f"{branch} is moved by somebody all the time, so nothing was merged", code="branch_busy")


def join(run: RunBranch, tip: str, commit: str, message: str) -> str | Conflicts:
    """A commit that has both, on no branch yet; the tip itself where it has all of the commit already."""
    if commit == tip:
        return tip
    bases = ancestors(run.place, tip, commit)
    if commit in bases:
        return tip
    words = storable(message).strip() or f"Merge {commit}"
    if bases == [tip]:
        return commit_tree(run.place, f"{commit}^{{tree}}", (tip, commit), words)
    if not bases:
        told = f"{commit} and {run.branch} have no commit in common, so they are not merged"
        raise Conflict(told, code="unrelated_commit", found=commit)
    tree = merged_tree(run.place, run.shared, tip, commit, bases)
    if isinstance(tree, Clash):
        return Conflicts(tuple(map(storable, tree.files)), tip)
    made = commit_tree(run.place, tree, (tip, commit), words)
    if len(bases) == 1:
        _check(run.place, bases[0], tip, commit, made)
    return made


def _check(place: Place, base: str, tip: str, commit: str, made: str) -> None:
    wrong = lost(*sides(place, base, tip, commit, made))
    if wrong:
        named = storable(", ".join(wrong[:_MOST_NAMED]))
        told = f"git merged {commit} into {tip} otherwise than both sides have these files: {named}; nothing was moved"
        raise Unusable(told, code="merge_unsound", found=wrong[:_MOST_NAMED])


def bringer(place: Place, tip: str, commit: str) -> str:
    """The first commit of a branch's own line that has a commit: the merge that brought it, or the commit itself."""
    if tip == commit:
        return commit
    after = {*place.told("rev-list", "--ancestry-path", f"{commit}..{tip}").split()}
    line = place.told("rev-list", "--first-parent", "--parents", f"{commit}..{tip}").splitlines()
    found = [words for words in map(str.split, line) if words[0] in after]
    if not found or commit == found[-1][1]:
        return commit
    return found[-1][0]
