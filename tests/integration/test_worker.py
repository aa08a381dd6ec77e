"""`gemba worker`: the flows without the page, instead of a server or beside one. Real processes on both databases."""

import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gemba.testing import retry_until
from tests.fixtures.servers import BIN, RunningServer

EXPIRING = """
[flows]
lease_seconds = 2
[[policy]]
name = "quick"
remind_after = "1s"
notify = ["page"]
expire_after = "2s"
"""
BLOCKER = {"kind": "blocker", "role": "manager", "text": "Which port?", "mode": "balanced"}


@contextmanager
def worker(server: RunningServer) -> Iterator["subprocess.Popen[str]"]:
    """A worker in a server's workspace; it must end cleanly and say nothing but warnings of takeovers."""
    process = subprocess.Popen(
        [BIN / "gemba", "worker", "--json"],
        cwd=server.workspace,
        env=server.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        assert told == {"pid": process.pid, "workspace": str(server.workspace)}
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors
    assert "Traceback" not in errors


def settings(server: RunningServer, text: str) -> None:
    (server.workspace / ".gemba" / "workspace.toml").write_text(text)


def shown(server: RunningServer, id: str) -> Any:
    """What a command that needs no server sees."""
    listed = server.gemba("inbox", "--json", "--all")
    assert listed.returncode == 0, listed
    return next((found for found in json.loads(listed.stdout)["escalations"] if found["id"] == id), None)


def test_a_worker_does_what_a_server_does_by_itself_and_opens_no_port(stopped_server: RunningServer) -> None:
    settings(stopped_server, EXPIRING)
    with worker(stopped_server):
        asker = stopped_server.ask("--kind", "blocker", "--role", "manager", "--text", "Which port?", "--wait")
        printed, _ = asker.communicate(timeout=30)

        assert (printed, asker.returncode) == ("nobody answered in time\n", 11)
        assert not (stopped_server.workspace / ".gemba" / "server.json").exists()


def test_an_answer_from_the_command_line_reaches_the_asker_through_a_worker(stopped_server: RunningServer) -> None:
    with worker(stopped_server):
        asker = stopped_server.ask("--kind", "blocker", "--role", "manager", "--text", "Which port?", "--wait")
        assert asker.stderr is not None
        id = asker.stderr.readline().split()[0]
        retry_until(lambda: shown(stopped_server, id), timeout=30, every=0.2)

        answered = stopped_server.gemba("answer", id, "8080")

        assert answered.returncode == 0, answered
        printed, _ = asker.communicate(timeout=30)
        assert (printed, asker.returncode) == ("8080\n", 0)


def test_what_a_server_left_waiting_a_worker_carries_on(stopped_server: RunningServer) -> None:
    settings(stopped_server, EXPIRING.replace('"2s"', '"6s"'))
    stopped_server.start()
    id = stopped_server.append("GembaAsk", BLOCKER)
    stopped_server.events(after=0).until("escalation.reminded")
    stopped_server.close_streams()
    stopped_server.kill()

    with worker(stopped_server):
        found = retry_until(
            lambda: (row := shown(stopped_server, id)) and row["state"] == "expired" and row, timeout=30, every=0.3
        )

    assert found["reminders"] == 1


def test_beside_a_server_a_worker_takes_over_what_that_one_leaves(stopped_server: RunningServer) -> None:
    settings(stopped_server, EXPIRING.replace('"2s"', '"6s"'))
    stopped_server.start()
    with worker(stopped_server):
        stream = stopped_server.events(after=0)
        id = stopped_server.append("GembaAsk", BLOCKER)
        stream.until("escalation.reminded")
        stopped_server.close_streams()
        stopped_server.kill()

        found = retry_until(
            lambda: (row := shown(stopped_server, id)) and row["state"] == "expired" and row, timeout=30, every=0.3
        )

    assert found["reminders"] == 1


def test_every_process_that_runs_flows_is_shown_by_the_doctor(server: RunningServer) -> None:
    with worker(server):

        def executors() -> str:
            found = server.get("/api/doctor")
            (check,) = (check for check in found["checks"] if check["id"] == "executors")
            return str(check["detail"]) if found["counters"]["executors"] == 2 else ""

        detail = retry_until(executors, timeout=30, every=0.1)

    assert f" {server.process.pid}" in detail
    assert detail.startswith("2 ")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_worker_ends_at_once_when_it_is_told_to(start_server: Callable[..., RunningServer], number: int) -> None:
    server = start_server(running=False)
    with worker(server) as process:
        process.send_signal(number)
        assert process.wait(10) == 0


def test_a_worker_with_a_broken_policy_says_where_and_does_not_start(
    start_server: Callable[..., RunningServer], workspace: Path
) -> None:
    server = start_server(running=False)
    settings(server, '[[policy]]\nname = "p"\nremind_after = "soon"\n')

    refused = server.gemba("worker")

    assert (refused.returncode, refused.stdout) == (1, "")
    assert "workspace.toml:3" in refused.stderr
    assert not (workspace / ".gemba" / "gemba.db").exists()
