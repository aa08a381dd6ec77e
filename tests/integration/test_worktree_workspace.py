"""An agent in its worktree speaks to the workspace that started it, also where `.gemba/` is committed."""

import subprocess
import sys
from pathlib import Path

import pytest

from gemba.cli.init import make_workspace
from gemba.config import open_workspace
from gemba.sessions.worktrees.worktree import make
from tests.fixtures.hooks import SESSION, answer, frames, hook

BIN = Path(sys.executable).parent
LETS_ALL_THROUGH = '[[rule]]\nprogram = "rm"\nclass = "T0"\n'


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def workspace_of_agents(workspace: Path) -> Path:
    """One whose settings are committed."""
    make_workspace(workspace)
    git(workspace, "add", ".gemba")
    git(workspace, "commit", "-q", "-m", "settings")
    return workspace


@pytest.mark.parametrize(("moved", "named"), [(False, True), (False, False), (True, True)])
def test_agents_commands_hooks_and_people_find_the_workspace_from_a_worktree(
    workspace_of_agents: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moved: bool, named: bool
) -> None:
    """By GEMBA_WORKSPACE wherever the worktree is; in its own place without it as well."""
    root = workspace_of_agents
    place = Path(make(str(root), SESSION).folder)
    if moved:
        git(root, "worktree", "move", str(place), str(tmp_path / "moved"))
        place = tmp_path / "moved"
    (place / "deep").mkdir()
    assert (place / ".gemba/workspace.toml").exists(), "the trap does not work"
    (place / ".gemba/approvals.toml").write_text(LETS_ALL_THROUGH)
    monkeypatch.chdir(place / "deep")
    monkeypatch.setenv("GEMBA_SESSION_ID", SESSION)
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(place))
    if named:
        monkeypatch.setenv("GEMBA_WORKSPACE", str(root))

    ask = ["gemba-ask", "--kind", "question", "--role", "coach", "--text", "Which?"]
    for command in (ask, ["gemba-state", "working"]):
        subprocess.run([str(BIN / command[0]), *command[1:]], check=True, capture_output=True)
    hook("Notification", {"message": "hello", "cwd": str(place)})
    call = {"tool_name": "Bash", "tool_input": {"command": "rm -rf build"}, "cwd": str(place)}
    denied = answer(hook("PreToolUse", call, "--approvals"))
    hook("Stop", {"cwd": str(place)})

    kept = {frame.hook: frame.workspace for frame in frames(home)}
    assert kept == dict.fromkeys(("GembaAsk", "GembaState", "Notification", "PreToolUse", "Stop"), str(root))
    assert f"no server runs for {root}," in denied["hookSpecificOutput"]["permissionDecisionReason"]
    assert open_workspace().root == root
