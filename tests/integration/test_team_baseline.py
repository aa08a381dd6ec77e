"""Commands of the project that failed already where a run began are no task's fault; what a task broke is."""

import subprocess
from pathlib import Path

from gemba.teams.baseline import Baseline
from gemba.teams.gates import Dimension
from gemba.teams.looking import run_commands
from gemba.teams.run import ProjectCommand
from gemba.teams.submitted import Submitted


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def submitted(folder: Path, *commands: ProjectCommand) -> Submitted:
    found = run_commands(folder, commands)
    return Submitted(task_id="IMPL-001", owner="a", goal="b", output="mixed", envelope={}, commands=found)


def test_what_failed_where_the_run_began_is_told_apart_from_what_the_task_broke(workspace: Path) -> None:
    (workspace / "there.txt").write_text("x")
    git(workspace, "add", "there.txt")
    git(workspace, "commit", "-qm", "there")
    base = git(workspace, "rev-parse", "HEAD")
    (workspace / "there.txt").unlink()
    commands = (ProjectCommand("broke", "test -f there.txt"), ProjectCommand("needs", "test -f installed"))

    found = Baseline(workspace).excuse(submitted(workspace, *commands), base, commands)

    assert [(each.name, each.is_to_blame) for each in found.commands] == [("broke", True), ("needs", False)]
    assert {each.dimension for each in found.commands} == {Dimension.ACCURACY}


def test_it_is_asked_once_and_leaves_nothing(workspace: Path, tmp_path: Path) -> None:
    base = git(workspace, "rev-parse", "HEAD")
    asked = tmp_path / "asked"
    commands = (ProjectCommand("fails", f"echo x >> '{asked}'; false"),)
    baseline = Baseline(workspace)

    found = [baseline.excuse(submitted(workspace, *commands), base, commands) for _ in range(3)]

    assert not found[-1].commands[0].is_to_blame
    assert asked.read_text().count("x") == 3 + 1  # at each gate, and once where the run began
    assert len(git(workspace, "worktree", "list").splitlines()) == 1
    assert git(workspace, "status", "--porcelain", "--", ".", ":!.gemba") == ""


def test_a_workspace_in_a_part_of_its_repository_is_looked_at_there(workspace: Path) -> None:
    part = workspace / "part"
    part.mkdir()
    (part / "here.txt").write_text("x")
    git(workspace, "add", "part")
    git(workspace, "commit", "-qm", "part")
    base = git(workspace, "rev-parse", "HEAD")
    (part / "here.txt").unlink()
    commands = (ProjectCommand("broke", "test -f here.txt"),)

    found = Baseline(part).excuse(submitted(part, *commands), base, commands)

    assert found.commands[0].is_to_blame


def test_where_nobody_can_tell_the_task_is_asked_to_mend_it(workspace: Path) -> None:
    commands = (ProjectCommand("fails", "false"),)
    found = submitted(workspace, *commands)

    assert Baseline(workspace).excuse(found, "0" * 40, commands) == found
    assert Baseline(workspace).excuse(found, None, commands) == found
