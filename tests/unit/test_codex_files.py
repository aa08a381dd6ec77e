"""What Codex is handed for a run: the MCP server, in words that it reads as its own settings are written."""

import sys
import tomllib
from pathlib import Path

import pytest

from gemba.sessions.agents import codex_files
from gemba.sessions.agents.agent import OWN_VARIABLES
from gemba.sessions.agents.given import Given, Where

BIN = Path(sys.executable).parent


def given(folder: Path) -> Given:
    return codex_files.given(Where(folder, folder, folder, folder, {"GEMBA_ROLE": "manager", "TOKEN": "secret"}))


def test_the_server_is_named_with_every_variable_that_it_needs_and_no_value(tmp_path: Path) -> None:
    made = given(tmp_path)

    assert (made.files, made.environment) == ({}, {})
    assert set(made.words[::2]) == {"-c"}
    server = tomllib.loads("\n".join(made.words[1::2]))["mcp_servers"]["gemba"]
    assert (server["command"], server["args"]) == (f"{BIN}/gemba-mcp", [])
    assert set(server["env_vars"]) == OWN_VARIABLES
    assert server["default_tools_approval_mode"] == "approve"
    assert "manager" not in str(made)
    assert "secret" not in str(made)


def test_a_path_with_any_character_stays_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = tmp_path / 'a "b" \\ é 🦀'
    odd.mkdir()
    (odd / "gemba-mcp").touch()
    monkeypatch.setattr(sys, "executable", str(odd / "python"))

    server = tomllib.loads("\n".join(given(tmp_path).words[1::2]))["mcp_servers"]["gemba"]

    assert server["command"] == str(odd / "gemba-mcp")
