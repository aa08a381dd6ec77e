"""What Gemini CLI is given for one run: a home that has everything of its user's, and beside it Gemba's MCP server and
the permission to use that, `gemba-ask` and `gemba-state`.

The client takes servers and rules from the user's home or from the repository. Other files of settings must belong to
root, and its options for rules would take the place of the user's own. So it gets a folder of links into the user's
`.gemini`, in which an extension names the server and one more file of rules stands. The user's own rules are copied,
since the client passes over links to them. Nothing of theirs is changed; what the client writes goes where it always
goes, or, where it is new, into the run's folder. One of the `profiles`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from gemba import wire
from gemba.errors import Unusable
from gemba.sessions.agents.claude_hooks import installed_program
from gemba.sessions.agents.given import Given, Where

VARIABLE = "GEMINI_CLI_HOME"
HOME = "gemini"  # in the run's folder
_SETTINGS = ".gemini"
_BESIDE = (".agents", ".env")  # what the client also reads in a home
_EXTENSIONS, _POLICIES = f"{_SETTINGS}/extensions", f"{_SETTINGS}/policies"  # where ours stands beside the user's
_LARGEST = 1024 * 1024  # bytes of a file of rules
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
    home = _home(where.environment)
    files: dict[str, str | Path] = {
        **dict(_links(home)),
        **dict(_rules(home)),
        f"{_EXTENSIONS}/{_EXTENSION}/gemini-extension.json": _extension(),
        f"{_POLICIES}/gemba-session.toml": _RULES,
    }
    there = {f"{HOME}/{name}": what for name, what in files.items()}
    return Given(environment={VARIABLE: str(where.run / HOME)}, files=there)


def _home(environment: Mapping[str, str]) -> Path:
    named = environment.get(VARIABLE) or environment.get("HOME")
    return Path(named).absolute() if named else Path.home()


def _links(home: Path) -> Iterator[tuple[str, Path]]:
    yield from ((name, home / name) for name in _BESIDE if (home / name).exists())
    for entry in _entries(home / _SETTINGS):
        name = f"{_SETTINGS}/{entry.name}"
        if name not in (_EXTENSIONS, _POLICIES):
            yield name, entry
    for entry in _entries(home / _EXTENSIONS):
        if entry.name != _EXTENSION:  # ours would be written through a link of that name
            yield f"{_EXTENSIONS}/{entry.name}", entry


def _rules(home: Path) -> Iterator[tuple[str, str]]:
    """Unusable where one of them cannot be read: without it, something could be permitted that it forbids."""
    for file in _entries(home / _POLICIES):
        if file.suffix == ".toml" and file.is_file() and not file.is_symlink():
            try:
                yield f"{_POLICIES}/{file.name}", wire.read_file(str(file), _LARGEST).decode()
            except (OSError, ValueError) as error:
                why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
                raise Unusable(f"{file}: {why}, so its rules would not hold", code="rules_unreadable") from error


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _extension() -> str:
    program, *arguments = installed_program("gemba-mcp", "gemba.cli.mcp")
    server = {"command": program, "args": arguments, "timeout": _CALL_MILLISECONDS}
    return json.dumps({"name": _EXTENSION, "version": "1.0.0", "mcpServers": {"gemba": server}}, indent=2)
