"""What the tests of real clients stand on. Where a client is not installed its tests are skipped, and say so."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.client import ROOT, Claude
from tests.clients.island import Island
from tests.clients.model import Model


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
