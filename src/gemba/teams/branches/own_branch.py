"""Whether a worktree stands on its session's branch; work that its agent has done elsewhere is brought there.

An agent may check out another branch or none. Then HEAD is taken off that branch, which stays where it is, and what
is committed goes on from there. Afterwards the session's branch follows: it moves on where the work went on from it,
stays where it has the work, and gets a merge where the two went different ways. Called by `saving`.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from gemba import wire
from gemba.errors import Conflict
from gemba.sessions.worktrees.place import Worktree
from gemba.teams.branches.plumbing import WITH_OBJECTS, Place, ancestors, commit_tree, line_of, refused, tip_of
from gemba.teams.branches.three_way import Clash, merged_tree
from gemba.text import storable


class Standing(NamedTuple):
    worktree: Worktree
    shared: Path
    entry: Path
    is_own: bool

    @property
    def reference(self) -> str:
        return f"refs/heads/{self.worktree.branch}"


def stand(worktree: Worktree, shared: Path, entry: Path, place: Place, commit: str | None) -> Standing:
    """Where the worktree stands; off any branch but its own."""
    head = line_of(entry / "HEAD")
    is_own = head == f"ref: refs/heads/{worktree.branch}"
    if commit is None:
        told = f"{worktree.path} stands on a branch without a commit, so nothing was saved"
        raise Conflict(f"{told}; check out {worktree.branch}", code="work_elsewhere")
    if not is_own and head.startswith("ref: "):
        # Somebody may have moved that branch since: what is checked out is what HEAD was when it got there.
        lines = line_of(entry / "logs" / "HEAD").splitlines()
        last = lines[-1].split(" ")[1] if lines else commit
        _change(worktree, place, "update-ref", "--no-deref", "-m", "gemba", "HEAD", last)
    return Standing(worktree, shared, entry, is_own)


def follow(standing: Standing, place: Place) -> str:
    """The commit that has all of the work, on the session's branch."""
    head = wire.git_head(standing.worktree.path)[0]
    if head is None:
        head = place.told("rev-parse", "--verify", "HEAD").strip()
    if standing.is_own:
        return head
    tip = tip_of(place, standing.shared, standing.reference)
    common = [] if tip is None else ancestors(place, tip, head)
    if tip is not None and head in common and head != tip:
        return tip
    if tip is None or tip in common:
        _move(standing, place, head, tip)
        _change(standing.worktree, place, "symbolic-ref", "-m", "gemba", "HEAD", standing.reference)
        return head
    made = _joined(standing, place, tip, head, common)
    _move(standing, place, made, tip)
    return made


def _joined(standing: Standing, place: Place, tip: str, head: str, common: list[str]) -> str:
    tree = merged_tree(place, standing.shared, tip, head, common) if common else Clash(())
    if isinstance(tree, Clash):
        branch, files = standing.worktree.branch, ", ".join(map(storable, tree.files))
        told = (
            f"the agent worked on {branch} and beside it at {head}, and the two do not merge ({files or 'unrelated'})"
        )
        raise Conflict(f"{told}; both are kept, merge them there", code="work_diverged", head=head, tip=tip)
    return commit_tree(place, tree, (tip, head), f"Merge what was done beside {standing.worktree.branch}")


def _move(standing: Standing, place: Place, to: str, since: str | None) -> None:
    _change(standing.worktree, place, "update-ref", "-m", "gemba", standing.reference, to, since or "")


def _change(worktree: Worktree, place: Place, *arguments: str) -> None:
    done = place.change(*WITH_OBJECTS, *arguments)
    if done.code != 0:
        raise refused(worktree.path, done, arguments)
