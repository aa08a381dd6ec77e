"""What OpenCode is given for one run: settings in a variable, which its client lays over those of its files.

They name Gemba's MCP server, and have a turn go on when something was not permitted: without a person there, OpenCode
would end it without a word. They permit nothing, since a rule that is laid over "ask" for everything would take its
place. What somebody has put into that variable before is kept, and comes first. One of the `profiles`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gemba.errors import Unusable
from gemba.sessions.agents.claude_hooks import installed_program
from gemba.sessions.agents.given import Given, Where

VARIABLE = "OPENCODE_CONFIG_CONTENT"
_CALL_MILLISECONDS = 20 * 86_400_000  # a call may wait for the operator as long as it takes


def given(where: Where) -> Given:
    """Its session has a name, for which a model would be asked otherwise."""
    server = {
        "type": "local",
        "command": installed_program("gemba-mcp", "gemba.cli.mcp"),
        "timeout": _CALL_MILLISECONDS,
    }
    settings = _over(
        {"mcp": {"gemba": server}, "experimental": {"continue_loop_on_deny": True}}, _own(where.environment)
    )
    return Given((f"--title=Gemba: {where.run.name}",), {VARIABLE: json.dumps(settings)})


def _own(environment: Mapping[str, str]) -> dict[str, Any]:
    text = environment.get(VARIABLE, "").strip() or "{}"
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Unusable(
            f"{VARIABLE} is no JSON object, so Gemba cannot add its MCP server to it", code="environment_bad"
        )
    return found


def _over(ours: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """What is in `own` stays as it is."""
    both = {key: _over(ours[key], own[key]) for key in ours.keys() & own.keys() if isinstance(own[key], dict)}
    return {**ours, **own, **both}
