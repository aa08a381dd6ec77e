"""A floor to measure on: a temporary workspace with known sessions and a real server. Used by the benchmarks here."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gemba import wire
from gemba.sessions.backends.backend import RunFolder
from gemba.sessions.backends.run_folder import stop_kept
from gemba.testing import retry_until
from tests.fixtures.cluster import temporary_cluster
from tests.fixtures.machine import DISTURBED, Stolen
from tests.fixtures.servers import RunningServer

DATABASES = ("SQLite", "PostgreSQL")
ROUNDS = 3

_TOLD_TO_END = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)

_WORDS = (
    "build cache client column commit config driver error event field file flag folder frame handler header index "
    "input label layer limit lock log marker method migration module name offset option order output page parser path "
    "pool port query queue record release reply request retry route row schema script server session signal socket "
    "source state step store stream table task test thread timeout token tool type update user value version worker"
)
_draw = random.Random(0)


def any_round(measure: Callable[[int], bool]) -> bool:
    """Is a round within its limit? What else the machine does can only make it slower, so one past it is measured
    again, at most twice; one in which the machine's host gave it to others says nothing, and is not counted."""
    counted = 0
    for number in range(2 * ROUNDS):
        stolen = Stolen()
        if measure(number):
            return True
        if (share := stolen.share) < DISTURBED:
            counted += 1
        else:
            print(f"{'':<12}not counted: {share:.0%} of the machine went to others", flush=True)
        if counted == ROUNDS:
            break
    return False


@contextmanager
def running_server(database: str) -> Iterator[RunningServer]:
    """A server on an empty database that syncs to disk, with nothing of the caller's own settings.

    Nothing is left of it or of its agents afterwards, also when the benchmark is told to end.
    """
    for name in [name for name in os.environ if name.startswith("GEMBA_")]:
        del os.environ[name]
    with _tidied_up(), tempfile.TemporaryDirectory(prefix="gemba-bench-") as folder:
        workspace, home = Path(folder, "workspace"), Path(folder, "home")
        (workspace / ".gemba").mkdir(parents=True)
        home.mkdir()
        if database == "SQLite":
            yield from _serving(workspace, home, "")
        else:
            with temporary_cluster(fsync=True) as cluster:
                yield from _serving(workspace, home, cluster.url())


def make_repository(folder: Path) -> None:
    """With one commit, so that there is something to make worktrees of."""
    (folder / "README.md").write_text("# A project\n")
    as_somebody = ["-c", "user.name=Somebody", "-c", "user.email=somebody@localhost"]
    for words in (["init", "-q"], ["add", "README.md"], [*as_somebody, "commit", "-qm", "One"]):
        subprocess.run(["git", *words], cwd=folder, check=True)


def _serving(workspace: Path, home: Path, database_url: str) -> Iterator[RunningServer]:
    server = RunningServer(workspace, home, database_url, running=False)
    try:
        server.start()
        yield server
        _end_agents(server)
        code, errors = server.stop()
        assert (code, errors) == (0, ""), f"the server ended with {code}: {errors}"
    finally:
        for number in _TOLD_TO_END:  # a second Ctrl-C does not end what tidies up
            signal.signal(number, signal.SIG_IGN)
        if server.is_running:
            server.kill()
        for folder in (home / "runs").glob("*"):  # they outlive their server
            stop_kept(RunFolder(folder.name, folder), 0)
        socket = home / "tmux" / "socket"
        if socket.exists():
            subprocess.run(["tmux", "-S", socket, "kill-server"], check=False, capture_output=True)


def _end_agents(server: RunningServer) -> None:
    """As an operator would; what the server finds to say about it is heard in the end."""
    for session in living(server):
        server.post(f"/api/sessions/{session['id']}/stop", {})
    retry_until(lambda: not living(server), timeout=120, every=0.1)


@contextmanager
def _tidied_up() -> Iterator[None]:
    """Within, a signal to end is an exception as Ctrl-C is: what was begun is ended in order."""

    def end(number: int, _frame: object) -> None:
        raise KeyboardInterrupt(signal.Signals(number).name)

    before = {number: signal.signal(number, end) for number in _TOLD_TO_END}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def start_agents(server: RunningServer, agent: str, many: int, task: str = "") -> list[str]:
    """Want so many sessions, all of them in the workspace itself; their ids."""
    body = {"agent": agent, "task": task, "worktree": False}
    return [server.post("/api/sessions", body)["id"] for _ in range(many)]


def living(server: RunningServer) -> list[dict[str, Any]]:
    """The sessions that the server has started and that are not over."""
    listed = server.get("/api/sessions?limit=500")["sessions"]
    return [one for one in listed if one["run"] and one["run"]["ended_at"] is None]


def session_id(number: int) -> str:
    return f"session-{number:03}"


def start_sessions(server: RunningServer, many: int) -> None:
    """Make that many sessions known, each with a log of its own."""
    for number in range(many):
        server.append("SessionStart", {"source": "startup"}, session_id(number))
    taken_in(server, many)


def taken_in(server: RunningServer, frames: int) -> None:
    """Come back when the server has stored so many frames."""

    def are_there() -> bool:
        return int(server.get("/api/doctor")["counters"].get("frames_ingested", 0)) >= frames

    retry_until(are_there, timeout=60, every=0.1)


def ask_frame(workspace: Path, session: str, **payload: object) -> bytes:
    """An ask as `gemba-ask` writes it."""
    body = {
        "kind": "question",
        "role": "manager",
        "mode": "balanced",
        "text": question(),
        "options": ["the first", "the second"],
        "cwd": str(workspace),
        **payload,
    }
    return wire.encode_frame("GembaAsk", body, session_id=session, workspace=str(workspace), agent_type="benchmark")


def question() -> str:
    """No two asks have the same words, as those of agents have not: what is alike would be grouped, at less cost."""
    return f"Which of these two shall I use {' '.join(_draw.choices(_WORDS.split(), k=24))}?"


def write_logs(home: Path, workspace: Path, sessions: int, asks: int) -> None:
    """So many asks in the logs of so many sessions, at once: as if they had been made while nobody took them in."""
    (home / "sessions").mkdir(exist_ok=True)
    for number in range(sessions):
        session = session_id(number)
        lines = [ask_frame(workspace, session) for _ in range(number, asks, sessions)]
        Path(wire.log_path(str(home), session)).write_bytes(b"".join(lines))
