"""Which commands of the project failed already where a run began: no task is blamed for those.

Asked only when a command fails at a gate. It is run once more in a checkout of the commit that the run began at, which
like a task's worktree has what is committed and nothing else, and is gone afterwards. What was found is remembered for
as long as the process lives. Blocking; called by the gate.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from gemba import git
from gemba.errors import Unusable
from gemba.teams.looking import run_commands
from gemba.teams.run import ProjectCommand
from gemba.teams.submitted import CommandResult, Submitted

_CHECKOUT_SECONDS = 900.0


class Baseline:
    """For one workspace."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = str(workspace)
        self._known: dict[tuple[str, str], bool] = {}  # by commit and command line: whether it failed there

    def excuse(self, found: Submitted, commit: str | None, commands: Sequence[ProjectCommand]) -> Submitted:
        """The same, where what fails at this commit too is told apart."""
        blamed = {each.name for each in found.commands if each.is_to_blame}
        failing = [each for each in commands if each.name in blamed]
        if commit is None or not failing:
            return found
        self._learn(commit, [each for each in failing if (commit, each.run) not in self._known])
        excused = {each.name for each in failing if self._known.get((commit, each.run), False)}
        return msgspec.structs.replace(
            found, commands=tuple(_excused(each) if each.name in excused else each for each in found.commands)
        )

    def _learn(self, commit: str, commands: Sequence[ProjectCommand]) -> None:
        if not commands:
            return
        try:
            with _checkout(self._workspace, commit) as folder:
                for command, result in zip(commands, run_commands(folder, commands), strict=True):
                    self._known[commit, command.run] = result.code != 0
        except (Unusable, OSError):  # nobody can tell: the task is asked to mend it
            return


def _excused(result: CommandResult) -> CommandResult:
    return msgspec.structs.replace(result, failed_before=True)


@contextmanager
def _checkout(workspace: str, commit: str) -> Iterator[Path]:
    """The workspace's folder as a commit has it, in a worktree of git that nothing else knows of."""
    unset = git.filters(workspace) or []
    within = git.run(workspace, "rev-parse", "--show-prefix").stdout.strip()
    with tempfile.TemporaryDirectory(prefix="gemba-baseline-", ignore_cleanup_errors=True) as private:
        tree = str(Path(private).resolve() / "tree")
        made = git.run(workspace, "worktree", "add", "--detach", tree, commit, unset=unset, seconds=_CHECKOUT_SECONDS)
        if made.code != 0:
            raise Unusable(made.stderr.strip()[:300], code="git_failed")
        try:
            yield Path(tree) / within
        finally:
            git.run(workspace, "worktree", "remove", "--force", tree)
