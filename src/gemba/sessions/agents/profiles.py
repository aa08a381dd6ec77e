"""The profiles that `hooks` of a type can name: how each client is handed Gemba's hooks and tools.

Claude Code runs the hooks itself. A client that has none is run by the driver, which is its hooks and gives it one
prompt after the other. Called by the keeper of runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from gemba.sessions.agents import claude_files, codex_files, gemini_files, opencode_files
from gemba.sessions.agents.agent import Agent
from gemba.sessions.agents.claude_hooks import installed_program
from gemba.sessions.agents.given import Given, Where
from gemba.sessions.agents.launch import HOOKS, Launch, fill
from gemba.sessions.driver.__main__ import FILE

_PROFILES: Mapping[str, Callable[[Where], Given]] = {
    "claude": claude_files.given,
    "codex": codex_files.given,
    "gemini": gemini_files.given,
    "opencode": opencode_files.given,
}


def given_to(agent: Agent, where: Where) -> Given:
    """What a client of this type is handed; nothing where its command has no place for it."""
    make = _PROFILES.get(agent.hooks)
    return make(where) if make is not None and HOOKS in agent.command else Given()


def driver_files(agent: Agent, how: Launch, given: Given, home: str) -> dict[str, str]:
    """What the driver of a client reads at its start."""
    spec = {
        "client": agent.hooks,
        "command": how.command,
        "resume": fill(agent.resume, home, given.words),
        "opening": how.opening or "",
        "bridge": installed_program("gemba-bridge", "gemba.cli.bridge"),
    }
    return {FILE: json.dumps(spec)}
