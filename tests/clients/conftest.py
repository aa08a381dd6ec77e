"""What the tests of real clients stand on. Where the client is not installed they are skipped, and say so."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.client import ROOT, Claude
from tests.clients.island import Island
from tests.clients.model import Model

_WHERE = ".cache/claude-code/node_modules/@anthropic-ai/claude-code-*/claude"


@pytest.fixture(scope="session")
def claude_program() -> Path:
    """The program of the client, as `scripts/claude-code` has installed it."""
    for program in ROOT.glob(_WHERE):
        return program
    pytest.skip("Claude Code is not installed here: scripts/claude-code gets it from the npm registry")


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
