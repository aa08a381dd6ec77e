"""What Claude Code is given for one run, so that nothing has to be written into the user's repository: a file of
settings with Gemba's hooks, and one that names Gemba's MCP server.

The client adds the hooks to those of its own settings, and runs one command once however often it is named. So where
its own settings have a hook of Gemba's at an event, that very hook is named here: it runs once, with the flags that
its owner chose. Neither file has a secret in it. One of the `profiles`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gemba import wire
from gemba.sessions.agents.claude_hooks import EVENTS, bridge_program, installed_program, is_ours, wanted_hooks
from gemba.sessions.agents.given import Given, Where

SETTINGS = "claude-settings.json"
MCP = "mcp.json"
_LARGEST = 16 * 1024 * 1024  # bytes of somebody's settings


def given(where: Where) -> Given:
    # With a space in between, the second option would take the words behind it for files too.
    words = f"--settings={where.run / SETTINGS}", f"--mcp-config={where.run / MCP}"
    return Given(words, files={SETTINGS: _settings(where), MCP: _tools()})


def _settings(where: Where) -> str:
    wanted = wanted_hooks(bridge_program(), approvals=True)
    hooks: dict[str, object] = {event: {"type": "command", **hook._asdict()} for event, hook in wanted.items()}
    for settings in _own_settings(where.workspace, where.cwd, where.environment):
        hooks |= _our_hooks(settings)
    return json.dumps({"hooks": {event: [{"hooks": [hook]}] for event, hook in hooks.items()}}, indent=2)


def _tools() -> str:
    program, *arguments = installed_program("gemba-mcp", "gemba.cli.mcp")
    return json.dumps({"mcpServers": {"gemba": {"type": "stdio", "command": program, "args": arguments}}}, indent=2)


def _own_settings(workspace: Path, cwd: Path, environment: Mapping[str, str]) -> Iterator[Any]:
    """What the client reads by itself. In a worktree that is also what its user keeps in the main checkout alone."""
    named, home = environment.get("CLAUDE_CONFIG_DIR"), environment.get("HOME")
    user = [Path(named)] if named else [Path(home) / ".claude"] if home else []
    project = cwd / ".claude"
    local = [folder / "settings.local.json" for folder in (workspace / ".claude", project)]
    for file in (*(folder / "settings.json" for folder in user), project / "settings.json", *local):
        try:
            yield json.loads(wire.read_file(str(file), _LARGEST).decode("utf-8-sig"))
        except (OSError, ValueError, RecursionError):
            continue  # it is not there, or the client cannot read it either


def _our_hooks(settings: Any) -> dict[str, object]:
    """By event, the last hook of ours in somebody's settings."""
    found = settings.get("hooks") if isinstance(settings, dict) else None
    return {
        event: hook
        for event in EVENTS
        for group in _list(found, event)
        for hook in _list(group, "hooks")
        if is_ours(hook)
    }


def _list(document: Any, key: str) -> list[Any]:
    value = document.get(key) if isinstance(document, dict) else None
    return value if isinstance(value, list) else []
