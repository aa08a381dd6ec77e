"""What Codex is given for one run: words that name Gemba's MCP server, and no file.

They stand above its user's own settings, which stay as they are. Codex passes on to a server only the variables that
are named; so these are, and their values are in no word of the command. Its tools may be called without a question,
which nobody could answer there; and a call may wait for the operator as long as it takes. One of the `profiles`.
"""

from __future__ import annotations

import json

from gemba.sessions.agents.agent import OWN_VARIABLES
from gemba.sessions.agents.claude_hooks import installed_program
from gemba.sessions.agents.given import Given, Where

_STARTUP_SECONDS = 60
_CALL_SECONDS = 30 * 86_400


def given(where: Where) -> Given:
    program, *arguments = installed_program("gemba-mcp", "gemba.cli.mcp")
    server = {
        "command": program,
        "args": arguments,
        "env_vars": sorted(OWN_VARIABLES),
        "default_tools_approval_mode": "approve",
        "startup_timeout_sec": _STARTUP_SECONDS,
        "tool_timeout_sec": _CALL_SECONDS,
    }
    settings = ((f"mcp_servers.gemba.{key}", value) for key, value in server.items())
    return Given(tuple(word for key, value in settings for word in ("-c", f"{key}={_toml(value)}")))


def _toml(value: object) -> str:
    """A number, a text or a list of texts, each as in JSON; but a character may stand there only as itself."""
    return json.dumps(value, ensure_ascii=False)
