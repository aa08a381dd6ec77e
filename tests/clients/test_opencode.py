"""OpenCode as Gemba drives it: with its user's settings, to which nothing is added."""

import json
from pathlib import Path

import pytest

from tests.clients.client import path_with, surroundings
from tests.clients.driven import live_through
from tests.clients.floor import Floor, OpenFloor
from tests.clients.model import Model
from tests.clients.script import Say, Use

# It takes five seconds of a processor for each prompt.
pytestmark = [pytest.mark.clients, pytest.mark.timeout(300)]

PERMISSION = {"bash": {"*": "ask", "gemba-ask *": "allow"}}
# What it would get from the npm registry at its first start.
PLUGIN = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "1.18.33"}}}}


def shell(line: str) -> Use:
    return Use("bash", {"command": line, "description": "Run it"})


def tool(name: str) -> str:
    return f"gemba_{name}"


@pytest.fixture
def client(tmp_path: Path) -> Path:
    """The home of its user."""
    return tmp_path / "client"


@pytest.fixture
def floor(opencode_program: Path, open_floor: OpenFloor, client: Path, model: Model) -> Floor:
    environment = {
        **surroundings(client, model.url),
        "PATH": path_with(opencode_program),
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
    }
    own = client / ".config" / "opencode"
    (own / "node_modules").mkdir(parents=True)
    (own / "package-lock.json").write_text(json.dumps(PLUGIN))
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{model.url}/v1", "apiKey": "dummy"},
        "models": {"one": {}},
    }
    schema = "https://opencode.ai/config.json"  # which it would write there itself
    settings = {
        "$schema": schema,
        "model": "scripted/one",
        "provider": {"scripted": provider},
        "permission": PERMISSION,
    }
    (own / "opencode.json").write_text(json.dumps(settings))
    return open_floor({"opencode": environment})


def test_opencode_asks_hears_the_answers_and_mends_its_handoff(
    floor: Floor, model: Model, home: Path, client: Path
) -> None:
    settings = (client / ".config" / "opencode" / "opencode.json").read_text()

    live_through(floor, model, home, "opencode", shell, tool)

    assert (client / ".config" / "opencode" / "opencode.json").read_text() == settings
    assert {path.name for path in client.iterdir()} == {".cache", ".config", ".local", "tmp"}


def test_what_is_not_permitted_is_told_to_the_agent_and_its_turn_goes_on(floor: Floor, model: Model) -> None:
    model.play("Look around", shell("touch mine"), Say("It is not permitted."))

    id = floor.start("opencode", "Look around.")
    floor.until(id, "completed")

    assert "rejected permission" in model.told("Look around")[1]
