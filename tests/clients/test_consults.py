"""A consult that a real client answers: it is told by the block in its CLAUDE.md, gives its lines over MCP, and Apply
changes the board."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gemba.testing import retry_until
from tests.clients.client import PATIENCE, environment_of, path_with
from tests.clients.floor import Floor, OpenFloor
from tests.clients.model import Model
from tests.clients.script import Say, Use
from tests.fixtures.plans import epic, order_input
from tests.integration.test_consults import lines_for

pytestmark = pytest.mark.clients

OWN = "# Kettle\n\nUse tabs.\n"
BY_FILE = '\n[agent.claude-headless]\nprompt = "file"\ninstructions = "CLAUDE.md"\n'


@pytest.fixture
def floor(claude_program: Path, open_floor: OpenFloor, workspace: Path, tmp_path: Path, model: Model) -> Floor:
    (workspace / "CLAUDE.md").write_text(OWN)
    for command in (["add", "CLAUDE.md"], ["commit", "-m", "What agents are told"]):
        subprocess.run(["git", *command], cwd=workspace, check=True, capture_output=True)
    environment = {**environment_of(tmp_path / "client", model.url), "PATH": path_with(claude_program)}
    opened = open_floor({"claude-headless": environment})
    with (workspace / ".gemba" / "agents.toml").open("a") as agents:
        agents.write(BY_FILE)
    return opened


def gemba(floor: Floor, *words: str) -> dict[str, Any]:
    done = floor.server.gemba(*words, "--json")
    assert done.returncode == 0, done
    return dict(json.loads(done.stdout))


def test_a_consult_is_answered_by_claude_code_and_applied_to_the_board(
    floor: Floor, model: Model, tmp_path: Path
) -> None:
    base, roof = (gemba(floor, "item", "add", title, "--kind", "epic")["id"] for title in ("Base", "Roof"))
    given = order_input({**epic(base), "title": "Lay the base"}, epic(roof, depends_on_epics=[base]))
    (tmp_path / "order.json").write_text(json.dumps(given))
    lines = lines_for(given)
    stranger = {**lines[1], "epic_id": "ghost"}
    emitted = {"skill_id": "epic_order", "lines": [lines[0], stranger, *lines[1:]]}
    model.play("Lay the base", Use("mcp__gemba__emit_skill_output", emitted), Say("That is my order."))

    asked = ("consult", "start", "--input", str(tmp_path / "order.json"), "--agent", "claude-headless")
    id = gemba(floor, *asked)["id"]

    def over() -> dict[str, Any] | None:
        found = floor.get(f"/api/consults/{id}")
        return None if found["status"] == "running" else dict(found)

    found = retry_until(over, timeout=PATIENCE)
    assert found is not None
    assert (found["status"], found["model"], found["order_errors"]) == ("completed", "a-model", [])
    assert found["validated_lines"] == lines
    assert [(error["index"], error["rule"]) for error in found["line_errors"]] == [(1, "candidate")]
    told = model.told("Lay the base")
    assert "Do the task that CLAUDE.md gives you" in told[0]
    assert "emit_ordering" in told[0]
    assert "Use tabs." in told[0]
    session = floor.get(f"/api/sessions/{id}")
    own = Path(session["run"]["folder"]) / "CLAUDE.md"
    retry_until(lambda: own.read_text() == OWN, timeout=PATIENCE)

    applied = gemba(floor, "consult", "apply", id, "1")

    assert (applied["applied_idx"], applied["outcome"]["executed"]) == ([1], True)
    assert gemba(floor, "item", "show", base)["user_order"] == 1
    assert floor.get("/api/work-items/ready")["items"][0]["id"] == base
