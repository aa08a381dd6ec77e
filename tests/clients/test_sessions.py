"""Sessions that Gemba starts with a real client: it has our hooks and tools, and the repository has none of it."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gemba.testing import retry_until
from tests.clients.client import BIN, PATIENCE, environment_of
from tests.clients.island import Island
from tests.clients.model import Model
from tests.clients.script import Say, Use
from tests.fixtures.envelopes import block, good
from tests.fixtures.hooks import frames
from tests.fixtures.servers import RunningServer

pytestmark = pytest.mark.clients

ASK = "gemba-ask --kind question --role manager --text 'Which port?'"


class Floor:
    """A server on the island, so that the clients it starts are there too, and the sessions of its workspace."""

    def __init__(self, server: RunningServer, island: Island) -> None:
        self.server = server
        self._island = island

    def get(self, path: str) -> Any:
        return self._island.do(lambda: self.server.get(path))

    def post(self, path: str, body: dict[str, Any]) -> Any:
        return self._island.do(lambda: self.server.post(path, body))

    def start(self, agent: str, task: str) -> str:
        done = self.server.gemba("session", "start", "--agent", agent, "--role", "manager", "--json", task)
        assert done.returncode == 0, done
        return str(json.loads(done.stdout)["id"])

    def until(self, id: str, lifecycle: str) -> dict[str, Any]:
        def look() -> dict[str, Any] | None:
            found = self.get(f"/api/sessions/{id}")
            assert found["lifecycle"] in ("starting", "running", lifecycle), found
            return dict(found) if found["lifecycle"] == lifecycle else None

        return retry_until(look, timeout=PATIENCE) or {}

    def questions(self, id: str, count: int) -> list[dict[str, Any]]:
        """What the session asked, the eldest first, once there is so much of it."""

        def look() -> list[dict[str, Any]] | None:
            found = [each for each in self.get("/api/escalations")["escalations"] if each["session_id"] == id]
            return sorted(found, key=lambda each: str(each["id"])) if len(found) >= count else None

        return retry_until(look, timeout=PATIENCE) or []


@pytest.fixture
def floor(
    claude_program: Path,
    start_server: Callable[..., RunningServer],
    workspace: Path,
    home: Path,
    tmp_path: Path,
    ready_sqlite: Path,
    island: Island,
    model: Model,
) -> Iterator[Floor]:
    client = tmp_path / "client"
    path = os.pathsep.join((str(claude_program.parent), str(BIN), os.environ["PATH"]))
    given = {**environment_of(client, model.url), "PATH": path}
    variables = {name: value for name, value in given.items() if not name.startswith("GEMBA_")}
    tables = "\n".join(f"{json.dumps(name)} = {json.dumps(value)}" for name, value in variables.items())
    types = [f"[agent.{name}.environment]\n{tables}\n" for name in ("claude", "claude-headless")]
    (workspace / ".gemba" / "agents.toml").write_text("".join(types))
    known = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    settled = {"hasCompletedOnboarding": True, "theme": "dark", "projects": {str(workspace): known}}
    settled |= {"customApiKeyResponses": {"approved": ["dummy"], "rejected": []}}
    (client / ".claude.json").write_text(json.dumps(settled))
    for file in ("gemba.db", "flows.db"):
        shutil.copy(ready_sqlite / file, workspace / ".gemba")
    server = start_server(running=False)
    island.do(lambda: server.start((str(BIN / "gemba"),)))
    floor = Floor(server, island)
    yield floor
    for session in floor.get("/api/sessions")["sessions"]:
        if session["lifecycle"] in ("starting", "running"):
            floor.post(f"/api/sessions/{session['id']}/stop", {})
            floor.until(session["id"], "stopped")
    subprocess.run(["tmux", "-S", str(home / "tmux" / "socket"), "kill-server"], capture_output=True)


def hooks_of(home: Path, id: str) -> list[str]:
    return [frame.hook for frame in frames(home, id)]


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
