"""What Gemini CLI is given for one run: a home that has everything of its user's, and beside it Gemba's MCP server and
the permission to use that, `gemba-ask` and `gemba-state`.

The client takes servers and rules from the user's home or from the repository. Other files of settings must belong to
root, and its options for rules would take the place of the user's own. So it gets a folder of links into the user's
`.gemini`, in which an extension names the server and one more file of rules stands. Nothing of theirs is copied or
changed; what the client writes goes where it always goes, or, where it is new, into the run's folder. One of the
`profiles`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from gemba.sessions.agents.claude_hooks import installed_program
from gemba.sessions.agents.given import Given, Where

VARIABLE = "GEMINI_CLI_HOME"
HOME = "gemini"  # in the run's folder
_SETTINGS = ".gemini"
_BESIDE = (".agents", ".env")  # what the client also reads in a home
_SHARED = ("extensions", "policies")  # folders in which something of ours stands beside the user's
_EXTENSION = "gemba"
_CALL_MILLISECONDS = 20 * 86_400_000  # a call may wait for the operator as long as it takes
_RULES = """\
[[rule]]
toolName = "run_shell_command"
commandPrefix = ["gemba-ask", "gemba-state"]
decision = "allow"
priority = 500

[[rule]]
toolName = "*"
mcpName = "gemba"
decision = "allow"
priority = 500
"""


def given(where: Where) -> Given:
    links = {f"{HOME}/{name}": place for name, place in _links(_home(where.environment))}
    ours = {
        f"{HOME}/{_SETTINGS}/extensions/{_EXTENSION}/gemini-extension.json": _extension(),
        f"{HOME}/{_SETTINGS}/policies/gemba-session.toml": _RULES,
    }
    return Given(environment={VARIABLE: str(where.run / HOME)}, files={**links, **ours})


def _home(environment: Mapping[str, str]) -> Path:
    named = environment.get(VARIABLE) or environment.get("HOME")
    return Path(named).absolute() if named else Path.home()


def _links(home: Path) -> Iterator[tuple[str, Path]]:
    yield from ((name, home / name) for name in _BESIDE if (home / name).exists())
    for entry in _entries(home / _SETTINGS):
        if entry.name not in _SHARED:
            yield f"{_SETTINGS}/{entry.name}", entry
    for folder in _SHARED:
        for entry in _entries(home / _SETTINGS / folder):
            if entry.name != _EXTENSION:  # ours would be written through a link of that name
                yield f"{_SETTINGS}/{folder}/{entry.name}", entry


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _extension() -> str:
    program, *arguments = installed_program("gemba-mcp", "gemba.cli.mcp")
    server = {"command": program, "args": arguments, "timeout": _CALL_MILLISECONDS}
    return json.dumps({"name": _EXTENSION, "version": "1.0.0", "mcpServers": {"gemba": server}}, indent=2)
