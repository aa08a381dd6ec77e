"""Sessions that Gemba starts with a real client: it has our hooks and tools, and the repository has none of it."""

import subprocess
from pathlib import Path

import pytest

from gemba.testing import retry_until
from tests.clients.client import BIN, PATIENCE, environment_of, path_with, settle
from tests.clients.floor import Floor, OpenFloor, hooks_of
from tests.clients.model import Model
from tests.clients.script import Say, Use
from tests.fixtures.envelopes import block, good

pytestmark = pytest.mark.clients

ASK = "gemba-ask --kind question --role manager --text 'Which port?'"


@pytest.fixture
def floor(claude_program: Path, open_floor: OpenFloor, workspace: Path, tmp_path: Path, model: Model) -> Floor:
    client = tmp_path / "client"
    environment = {**environment_of(client, model.url), "PATH": path_with(claude_program)}
    settle(client, workspace)
    return open_floor({"claude": environment, "claude-headless": environment})


def test_an_agent_without_a_screen_asks_by_its_shell_and_by_its_tools(
    floor: Floor, model: Model, home: Path, workspace: Path
) -> None:
    """Its user has the hooks in the main checkout as well, with a flag of their own: each runs once, with that flag."""
    installed = [str(BIN / "gemba"), "install-bridge", "--require", "--scope", "local"]
    subprocess.run(installed, cwd=workspace, check=True, capture_output=True)
    model.play(
        "Build the port",
        Use("Bash", {"command": ASK}),
        Use("mcp__gemba__ask_question", {"text": "Which host?"}),
        Say("Done."),
        Say(block(good())),
    )

    id = floor.start("claude-headless", "Build the port.")
    ended = floor.until(id, "completed")

    by_shell, by_tool = floor.questions(id, 2)
    assert (by_shell["text"], by_tool["text"]) == ("Which port?", "Which host?")
    assert "Your handoff was not accepted" in model.told("Build the port")[3]
    call = ["PreToolUse", "GembaAsk", "PostToolUse"]
    assert hooks_of(home, id) == [
        "SessionStart",
        "UserPromptSubmit",
        *call,
        *call,
        *["Stop"] * 2,
        "GembaHandoff",
        "SessionEnd",
    ]
    changed = subprocess.run(
        ["git", "status", "--porcelain"], cwd=ended["run"]["folder"], capture_output=True, check=True
    )
    assert changed.stdout == b""


def test_an_agent_in_a_terminal_gets_an_answer_as_its_next_prompt(floor: Floor, model: Model, home: Path) -> None:
    model.play("Build the port", Use("Bash", {"command": ASK}), Say("I wait."), Say("Port 8080 it is."))

    id = floor.start("claude", "Build the port.")
    (question,) = floor.questions(id, 1)
    retry_until(lambda: hooks_of(home, id)[-1:] == ["Stop"], timeout=PATIENCE)
    asked = f"/api/escalations/{question['id']}"
    floor.post(f"{asked}/respond", {"text": "Take 8080."})

    retry_until(lambda: hooks_of(home, id).count("Stop") == 2, timeout=PATIENCE)
    assert "Take 8080." in model.told("Build the port")[2]
    retry_until(lambda: floor.get(asked)["delivery"] == "delivered", timeout=PATIENCE)
    call = ["PreToolUse", "GembaAsk", "PostToolUse"]
    assert hooks_of(home, id) == ["SessionStart", "UserPromptSubmit", *call, "Stop", "UserPromptSubmit", "Stop"]
