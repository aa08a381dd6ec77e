"""Codex as Gemba drives it: in its own sandbox, with its user's settings, and with nothing of ours in them."""

import json
from pathlib import Path

import pytest

from tests.clients.client import path_with, surroundings
from tests.clients.driven import live_through
from tests.clients.floor import Floor, OpenFloor
from tests.clients.model import Model
from tests.clients.script import Use

pytestmark = pytest.mark.clients

# A model that it knows; what would call elsewhere is off; and /tmp, where the test is, is no place that it may write.
SETTINGS = """
model = "gpt-5.5"
model_provider = "scripted"

[model_providers.scripted]
name = "scripted"
base_url = {url}
env_key = "SCRIPTED_API_KEY"
wire_api = "responses"

[analytics]
enabled = false

[features]
apps = false
plugins = false

[sandbox_workspace_write]
exclude_slash_tmp = true
exclude_tmpdir_env_var = true
"""


def shell(line: str) -> Use:
    return Use("exec_command", {"cmd": line})


def tool(name: str) -> str:
    return f"mcp__gemba__{name}"


@pytest.fixture
def client(tmp_path: Path) -> Path:
    """The home of its user."""
    return tmp_path / "client"


@pytest.fixture
def floor(codex_program: Path, open_floor: OpenFloor, client: Path, model: Model) -> Floor:
    environment = {**surroundings(client, model.url), "PATH": path_with(codex_program), "SCRIPTED_API_KEY": "dummy"}
    (client / ".codex").mkdir()
    (client / ".codex" / "config.toml").write_text(SETTINGS.format(url=json.dumps(f"{model.url}/v1")))
    return open_floor({"codex": environment})


def test_codex_asks_hears_the_answers_and_mends_its_handoff(
    floor: Floor, model: Model, home: Path, client: Path
) -> None:
    live_through(floor, model, home, "codex", shell, tool)

    assert {path.name for path in client.iterdir()} == {".codex", "tmp"}
    assert "gemba-mcp" not in (client / ".codex" / "config.toml").read_text()
