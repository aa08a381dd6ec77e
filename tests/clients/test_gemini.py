"""Gemini CLI as Gemba drives it: with its user's home, to which nothing is added, in a workspace that they trust."""

import json
from pathlib import Path

import pytest

from tests.clients.client import path_with, surroundings
from tests.clients.driven import live_through
from tests.clients.floor import Floor, OpenFloor
from tests.clients.model import Model
from tests.clients.script import Say, Use

pytestmark = pytest.mark.clients

# One of the user's own, which holds beside ours.
RULE = """
[[rule]]
toolName = "run_shell_command"
commandPrefix = "gemba-state"
decision = "deny"
priority = 999
"""


def shell(line: str) -> Use:
    return Use("run_shell_command", {"command": line, "description": "Run it"})


def tool(name: str) -> str:
    return f"mcp_gemba_{name}"


@pytest.fixture
def client(tmp_path: Path) -> Path:
    """The home of its user."""
    return tmp_path / "client"


@pytest.fixture
def floor(gemini_program: Path, open_floor: OpenFloor, client: Path, workspace: Path, model: Model) -> Floor:
    environment = {
        **surroundings(client, model.url),
        "PATH": path_with(gemini_program),
        "GOOGLE_GEMINI_BASE_URL": model.url,
        "GEMINI_API_KEY": "dummy",
        "GEMINI_MODEL": "gemini-2.5-pro",  # else it asks a model which one to take
    }
    own = client / ".gemini"
    (own / "policies").mkdir(parents=True)
    (own / "policies" / "mine.toml").write_text(RULE)
    quiet = {"general": {"enableAutoUpdate": False}, "privacy": {"usageStatisticsEnabled": False}}
    auth = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    (own / "settings.json").write_text(json.dumps({**quiet, **auth}))
    (own / "trustedFolders.json").write_text(json.dumps({str(workspace): "TRUST_FOLDER"}))
    return open_floor({"gemini": environment})


def test_gemini_asks_hears_the_answers_and_mends_its_handoff(
    floor: Floor, model: Model, home: Path, client: Path
) -> None:
    before = everything_in(client)

    live_through(floor, model, home, "gemini", shell, tool)

    assert everything_in(client) == before


def test_the_rules_of_its_user_hold_and_no_other_command_is_permitted(floor: Floor, model: Model) -> None:
    lines = ("gemba-state working", "touch mine", "gemba-ask --next; touch mine")
    model.play("Look around", *map(shell, lines), Say("Nothing of it is permitted."))

    floor.until(floor.start("gemini", "Look around."), "completed")

    refusals = model.told("Look around")[1:]
    assert len(refusals) == len(lines)
    assert all("denied by policy" in refusal for refusal in refusals)


def everything_in(folder: Path) -> dict[str, bytes]:
    """By path, what lies there, but for what is temporary."""
    found = (path for path in folder.rglob("*") if path.is_file() and "tmp" not in path.relative_to(folder).parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}
