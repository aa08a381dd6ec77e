"""The MCP inspector's command line, as somebody who writes a server would use it: one request, and its answer as JSON.

A `Door` is a way to the tools: a `gemba-mcp` that the inspector starts, or a server's `/mcp`. What it says of whom the
calls are from stands in the environment there, and in headers here. Nothing of this process's environment reaches it
but what is named here.
"""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.clients.client import BIN, PATIENCE, ROOT
from tests.clients.island import Island

SESSION = "inspected"

Process = subprocess.Popen[bytes]


class Door(NamedTuple):
    """A way to the tools, in the inspector's words."""

    words: tuple[str, ...]


class Called(NamedTuple):
    """What a call came to: the words for a model, the facts for a program."""

    is_error: bool
    text: str
    facts: dict[str, Any]


def by_pipe(home: Path, workspace: Path, role: str = "manager") -> Door:
    given = {
        "GEMBA_HOME": str(home),
        "GEMBA_SESSION_ID": SESSION,
        "GEMBA_ROLE": role,
        "GEMBA_INTERACTION_MODE": "balanced",
    }
    variables = [word for name, value in given.items() for word in ("-e", f"{name}={value}")]
    return Door((str(BIN / "gemba-mcp"), "--cwd", str(workspace), *variables))


def by_http(url: str, token: str, era: str, role: str = "manager") -> Door:
    given = {
        "Authorization": f"Bearer {token}",
        "X-GEMBA-Session": SESSION,
        "X-GEMBA-Role": role,
        "X-GEMBA-Mode": "balanced",
    }
    headers = [word for name, value in given.items() for word in ("--header", f"{name}: {value}")]
    return Door((f"{url}/mcp", "--transport", "http", "--protocol-era", era, *headers))


class Inspector:
    """The program, on the island, with a home of its own."""

    def __init__(self, program: Path, folder: Path, island: Island) -> None:
        folder.mkdir()
        self._program = program
        self._island = island
        self._environment = {
            **{name: value for name, value in os.environ.items() if name.startswith("GEMBA_TEST_")},
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
        }

    def tools(self, door: Door) -> list[dict[str, Any]]:
        """Every tool as it is listed; the inspector judges their schemas, too, and finds nothing wrong with them."""
        with self._running(door, "--method", "tools/list", "--strict") as process:
            code, told = _answer(process)
        assert (code, told.get("schemaFindings", [])) == (0, []), told
        found: list[dict[str, Any]] = told["result"]["tools"]
        return found

    def turned_away(self, door: Door) -> str:
        """Why it is not let in."""
        with self._running(door, "--method", "tools/list", "--stored-auth-only") as process:
            _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 3, errors
        return str(json.loads(errors)["error"]["message"])

    def call(self, door: Door, tool: str, **given: Any) -> Called:
        with self.calling(door, tool, **given) as process:
            return called(process)

    @contextmanager
    def calling(self, door: Door, tool: str, **given: Any) -> Iterator[Process]:
        """A call at work, for tests that do something meanwhile."""
        arguments = ("--tool-name", tool, "--tool-args-json", json.dumps(given))
        with self._running(door, "--method", "tools/call", *arguments) as process:
            yield process

    @contextmanager
    def _running(self, door: Door, *words: str) -> Iterator[Process]:
        """The program; it is gone afterwards, with the server that it may have started, whatever happened."""
        command = [
            str(ROOT / "scripts/with-node"),
            str(self._program),
            "--cli",
            *door.words,
            *words,
            "--format",
            "json",
        ]
        process = self._island.do(
            lambda: subprocess.Popen(
                command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        )
        with process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)


def called(process: Process) -> Called:
    """Its exit code tells what its answer says."""
    code, told = _answer(process)
    result = told["result"]
    (content,) = result["content"]
    assert code == (5 if result.get("isError") else 0), told
    return Called(bool(result.get("isError")), content["text"], result.get("structuredContent", {}))


def _answer(process: Process) -> tuple[int, dict[str, Any]]:
    printed, errors = process.communicate(timeout=PATIENCE)
    assert printed, errors
    told: dict[str, Any] = json.loads(printed)
    return process.returncode, told
