"""What the tests of real clients stand on. Where a client is not installed its tests are skipped, and say so."""

import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.clients.client import BIN, ROOT, Claude
from tests.clients.floor import Floor, OpenFloor, write_agents
from tests.clients.inspector import Inspector
from tests.clients.island import Island
from tests.clients.model import Model
from tests.fixtures.servers import RunningServer


def installed(client: str, command: str) -> Path:
    """The command of a client, as `scripts/agent-client` has installed it."""
    program = ROOT / ".cache" / client / "bin" / command
    if not program.exists():
        pytest.skip(f"{client} is not installed here: scripts/agent-client {client} gets it from the npm registry")
    return program


@pytest.fixture(scope="session")
def claude_program() -> Path:
    return installed("claude-code", "claude")


@pytest.fixture(scope="session")
def codex_program() -> Path:
    return installed("codex", "codex")


@pytest.fixture(scope="session")
def gemini_program() -> Path:
    return installed("gemini-cli", "gemini")


@pytest.fixture(scope="session")
def opencode_program() -> Path:
    return installed("opencode", "opencode")


@pytest.fixture(scope="session")
def conformance_program() -> Path:
    return installed("mcp-conformance", "conformance")


@pytest.fixture
def inspector(tmp_path: Path, island: Island) -> Inspector:
    return Inspector(installed("mcp-inspector", "mcp-inspector"), tmp_path / "inspector", island)


@pytest.fixture
def island() -> Iterator[Island]:
    made = Island()
    yield made
    made.close()


@pytest.fixture
def model(island: Island) -> Iterator[Model]:
    """A model of the test's own; what nobody wrote an answer to fails the test."""
    running = Model(island.do(lambda: socket.create_server(("127.0.0.1", 0))))
    yield running
    running.close()
    assert running.faults == []


@pytest.fixture
def claude(claude_program: Path, home: Path, workspace: Path, tmp_path: Path, island: Island, model: Model) -> Claude:
    """A client in the workspace, with a home of its own."""
    return Claude(claude_program, workspace, tmp_path / "client", island, model)


@pytest.fixture
def serve(
    start_server: Callable[..., RunningServer], workspace: Path, ready_sqlite: Path, island: Island
) -> Callable[[], Floor]:
    """Starts the server of the workspace on the island."""

    def start() -> Floor:
        for file in ("gemba.db", "flows.db"):
            shutil.copy(ready_sqlite / file, workspace / ".gemba")
        server = start_server(running=False)
        island.do(lambda: server.start((str(BIN / "gemba"),)))
        return Floor(server, island)

    return start


@pytest.fixture
def open_floor(serve: Callable[[], Floor], workspace: Path, home: Path, model: Model) -> Iterator[OpenFloor]:
    """A server on the island, for agents with these variables; what it started is gone before the model is."""
    opened: list[Floor] = []

    def open_one(environments: dict[str, dict[str, str]]) -> Floor:
        write_agents(workspace, environments)
        opened.append(serve())
        return opened[-1]

    yield open_one
    for floor in opened:
        floor.stop_all()
    subprocess.run(["tmux", "-S", str(home / "tmux" / "socket"), "kill-server"], capture_output=True)
