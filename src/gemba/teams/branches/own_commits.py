"""What an agent committed itself, made fit for others: no artifact and no block of Gemba's stays in its history.

An agent that commits all there is takes along what Gemba laid there for it. Its commits then become one, with their
subjects in its message: what they did stays, what was never theirs is on no branch. Others stay as they are. Called by
`saving`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gemba.sessions.worktrees.place import Worktree
from gemba.teams.branches.plumbing import WITH_OBJECTS, Place, ancestors, commit_tree, refused, tip_of
from gemba.text import storable

_MARK = "<!-- gemba:begin "
_MOST_COMMITS = 10_000
_AT_ONCE = 500
_MOST_SUBJECTS = 50


def without_ours(
    worktree: Worktree,
    shared: Path,
    place: Place,
    commit: str,
    message: str,
    outside: Sequence[str],
    instructions: Sequence[str],
) -> str:
    """The commit itself, or one in the place of all since the run's branch; `outside` and `instructions` are paths."""
    known = _known(worktree, shared, place)
    if not _has_ours(place, commit, known, outside, instructions):
        return commit
    bases = ancestors(place, commit, known[-1]) or [str(worktree.base)]
    told = place.told(
        "log", f"--max-count={_MOST_SUBJECTS}", "--format=%s", "--author-date-order", commit, "--not", *known, "--"
    )
    subjects = "\n".join(f"- {storable(subject)}" for subject in told.splitlines())
    made = commit_tree(place, f"{commit}^{{tree}}", bases[:1], f"{message}\n\nIn the place of:\n\n{subjects}\n")
    move = (*WITH_OBJECTS, "update-ref", "-m", "gemba", f"refs/heads/{worktree.branch}", made, commit)
    done = place.change(*move)
    if done.code != 0:
        raise refused(worktree.path, done, ("update-ref",))
    return made


def _known(worktree: Worktree, shared: Path, place: Place) -> list[str]:
    """What has no commit of this worktree's own: its base, and the branch that it is merged into."""
    tip = tip_of(place, shared, f"refs/heads/{worktree.base_branch}") if worktree.base_branch else None
    return [str(worktree.base), *([tip] if tip else [])]


def _has_ours(
    place: Place, commit: str, known: Sequence[str], outside: Sequence[str], instructions: Sequence[str]
) -> bool:
    def touching(paths: Sequence[str]) -> list[str]:
        most = f"--max-count={_MOST_COMMITS}"
        asked = ("--literal-pathspecs", "rev-list", "--full-history", most, commit, "--not", *known, "--", *paths)
        return place.told(*asked).split()

    if not touching([*outside, *instructions]):
        return False
    if touching(outside):
        return True
    touched = touching(instructions)
    asked = ("--literal-pathspecs", "grep", "--quiet", "--fixed-strings", "--no-textconv", "-e", _MARK)
    for start in range(0, len(touched), _AT_ONCE):
        done = place.run(*asked, *touched[start : start + _AT_ONCE], "--", *instructions)
        if done.code not in (0, 1):
            raise refused(place.folder, done, asked)
        if done.code == 0:
            return True
    return False
