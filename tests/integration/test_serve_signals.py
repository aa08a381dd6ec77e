"""How a server ends: at whatever tells a foreground program to, cleanly, and not when it was told to stay."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fixtures.servers import BIN, RunningServer

pytestmark = pytest.mark.usefixtures("cold_starts")


def ended(server: RunningServer) -> tuple[int, bytes]:
    """The exit code and what it wrote on stderr, without telling it once more to end."""
    _, errors = server.process.communicate(timeout=30)
    server.close_streams()
    return server.process.wait(), errors


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_server_and_its_traces(
    sqlite_server: RunningServer, workspace: Path, number: signal.Signals
) -> None:
    stream = sqlite_server.events()

    sqlite_server.process.send_signal(number)

    with pytest.raises(EOFError):
        stream.next()
    assert ended(sqlite_server) == (0, b"")
    assert not (workspace / ".gemba" / "server.json").exists()
    assert not (workspace / ".gemba" / "gemba.sock").exists()


def test_signals_in_a_row_are_one(sqlite_server: RunningServer, workspace: Path) -> None:
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGTERM):
        sqlite_server.process.send_signal(number)

    assert ended(sqlite_server) == (0, b"")
    assert not (workspace / ".gemba" / "server.json").exists()


def test_a_server_under_nohup_outlives_its_terminal(start_server: Callable[..., RunningServer]) -> None:
    server = start_server()
    server.kill()
    server.start(("nohup", str(BIN / "gemba")))

    server.process.send_signal(signal.SIGHUP)

    assert server.get("/api/health") == {"status": "ok"}
    assert server.process.poll() is None
