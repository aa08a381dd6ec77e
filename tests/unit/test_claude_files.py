"""What Claude Code is handed for a run: every hook of ours, once, whatever its own settings have already."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from gemba.sessions.agents import claude_files
from gemba.sessions.agents.claude_files import MCP, SETTINGS
from gemba.sessions.agents.claude_hooks import EVENTS, bridge_program, wanted_hooks
from gemba.sessions.agents.given import Where

BIN = Path(sys.executable).parent
THEIRS = {"type": "command", "command": "lint.sh"}
# Where the client looks by itself, from the folder of the test on.
PLACES = (
    "user/.claude/settings.json",
    "workspace/.gemba/worktrees/one/.claude/settings.json",
    "workspace/.gemba/worktrees/one/.claude/settings.local.json",
    "workspace/.claude/settings.local.json",
)


def given(folder: Path, **environment: str) -> dict[str, Any]:
    """The hook at each event."""
    workspace = folder / "workspace"
    environment = environment or {"HOME": str(folder / "user")}
    where = Where(folder / "run", workspace, workspace / ".gemba/worktrees/one", folder / "home", environment)
    made = json.loads(str(claude_files.given(where).files[SETTINGS]))
    assert list(made) == ["hooks"]
    hooks = {event: hook for event, [group] in made["hooks"].items() for hook in group["hooks"]}
    assert set(hooks) == set(EVENTS)
    return hooks


def put(file: Path, settings: Any) -> None:
    file.parent.mkdir(parents=True)
    file.write_text(settings if isinstance(settings, str) else json.dumps(settings))


def at(event: str, *hooks: object) -> dict[str, Any]:
    return {"hooks": {event: [{"matcher": "*", "hooks": list(hooks)}]}}


def test_the_hooks_are_those_of_install_bridge_with_approvals(tmp_path: Path) -> None:
    hooks = given(tmp_path)

    assert hooks == {
        event: {"type": "command", **hook._asdict()}
        for event, hook in wanted_hooks(bridge_program(), approvals=True).items()
    }
    assert hooks["Stop"]["command"] == f"{BIN}/gemba-bridge hook Stop --deadline 20 || exit 2"


def test_the_server_is_the_one_of_this_installation(tmp_path: Path) -> None:
    made = claude_files.given(Where(tmp_path, tmp_path, tmp_path, tmp_path, {}))

    server = {"type": "stdio", "command": f"{BIN}/gemba-mcp", "args": []}
    assert json.loads(str(made.files[MCP])) == {"mcpServers": {"gemba": server}}
    assert made.words == (f"--settings={tmp_path}/claude-settings.json", f"--mcp-config={tmp_path}/mcp.json")


@pytest.mark.parametrize("place", PLACES)
def test_a_hook_of_ours_that_the_client_has_already_is_named_word_for_word(tmp_path: Path, place: str) -> None:
    own = {"type": "command", "command": "/opt/gemba-bridge hook Stop --require || exit 2", "timeout": 7}
    put(tmp_path / place, at("Stop", THEIRS, own))

    hooks = given(tmp_path)

    assert hooks["Stop"] == own
    assert hooks["PreToolUse"]["command"].endswith("hook PreToolUse --approvals --deadline 590 || exit 2")


def test_a_users_settings_are_looked_for_where_the_client_does(tmp_path: Path) -> None:
    own = {"type": "command", "command": "gemba-bridge hook Stop"}
    put(tmp_path / "elsewhere" / "settings.json", at("Stop", own))

    assert given(tmp_path, HOME=str(tmp_path), CLAUDE_CONFIG_DIR=str(tmp_path / "elsewhere"))["Stop"] == own
    assert given(tmp_path, HOME=str(tmp_path))["Stop"] != own


@pytest.mark.parametrize(
    "settings",
    [
        *("", "{", "[]", "[" * 100_000),
        *({"hooks": []}, {"hooks": {"Stop": {}}}, {"hooks": {"Stop": [1, {"hooks": 1}]}}),
        at("Stop", THEIRS, None, {"command": 1}),
        at("PreCompact", {"command": "gemba-bridge hook PreCompact"}),
    ],
)
def test_settings_that_are_broken_or_of_others_change_nothing(tmp_path: Path, settings: Any) -> None:
    expected = given(tmp_path)
    put(tmp_path / PLACES[0], settings)

    assert given(tmp_path) == expected
