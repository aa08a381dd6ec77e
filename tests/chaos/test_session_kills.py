"""`kill -9` of the server, the agent, its keeper or its tmux, at random, while an answer is on its way to the agent.

Each time the session ends in the right state, the answer is typed once at most and never lost, nothing of the run is
left but its transcript, and the worktree is as it was.
"""

import http.client
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gemba.sessions.backends.backend import RunFolder, run_folder
from gemba.sessions.backends.run_folder import Keeper, read_keeper, stop_kept
from gemba.sessions.keeper.process_tree import marked
from gemba.testing import retry_until, seeds
from tests.chaos.floor import PATIENCE, Mortal
from tests.fixtures.servers import RunningServer

pytestmark = pytest.mark.chaos

AGENTS = """
[agent.pty]
command = ["sh", "-c", 'while read -r line || :; do echo "heard: $line"; done']
prompt = "argument"
terminal = "pty"

[agent.tmux]
command = ["sh", "-c", 'while read -r line || :; do echo "heard: $line"; done']
prompt = "argument"
backend = "tmux"
"""
# What is seen of each death: the session's lifecycle, and why it is over.
DEATHS = {
    "server": ("running", None),
    "agent": ("failed", "killed"),
    "keeper": ("failed", "killed"),
    "tmux": ("lost", "terminal_died"),
}


@pytest.fixture
def mortal(sqlite_server: RunningServer, workspace: Path, tmp_path: Path) -> Iterator[Mortal]:
    (workspace / ".gemba" / "agents.toml").write_text(AGENTS)
    for command in (["init", "--quiet"], ["commit", "--quiet", "--allow-empty", "-m", "one"]):
        subprocess.run(["git", *command], cwd=workspace, check=True)
    try:
        yield Mortal(sqlite_server, tmp_path / "deaths")
    finally:
        if sqlite_server.is_running:
            sqlite_server.kill()
        for folder in (sqlite_server.home / "runs").glob("*"):
            stop_kept(RunFolder(folder.name, folder), 0)
        socket = sqlite_server.home / "tmux" / "socket"
        subprocess.run(["tmux", "-S", socket, "kill-server"], check=False, capture_output=True)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("seed", seeds(4, 50))
def test_whoever_is_killed_the_session_ends_right_and_its_answer_is_never_doubled(
    mortal: Mortal, workspace: Path, seed: int
) -> None:
    draw = random.Random(seed)
    agent = draw.choice(["pty", "tmux"] if shutil.which("tmux") else ["pty"])
    victim = draw.choice([name for name in DEATHS if name != "tmux" or agent == "tmux"])
    server = mortal.server
    id = server.post("/api/sessions", {"agent": agent})["id"]
    folder = run_folder(server.home, server.workspace, id)
    retry_until(lambda: server.get(f"/api/sessions/{id}")["lifecycle"] == "running", timeout=PATIENCE)
    keeper = read_keeper(folder)
    assert keeper is not None
    asked = server.append("GembaAsk", {"kind": "question", "role": "manager", "text": "?", "mode": "balanced"}, id)
    retry_until(lambda: server.request("GET", f"/api/escalations/{asked}").status == 200, timeout=PATIENCE)

    death = threading.Timer(draw.uniform(0, 0.4), kill, [victim, keeper, server])
    death.start()
    mortal_answer(mortal, death, asked)
    death.join()
    if victim == "server":
        mortal.live()

    shown = settled(mortal, id, victim)
    assert (shown["lifecycle"], shown["close_reason"]) == DEATHS[victim]
    check_reply(mortal, id, asked, lives=victim == "server")
    if victim == "server":
        server.post(f"/api/sessions/{id}/stop", {})
        stopped = settled(mortal, id, "nobody")
        assert (stopped["lifecycle"], stopped["close_reason"]) == ("stopped", "operator_stop")
    retry_until(lambda: not marked(f"GEMBA_RUN_ID={keeper.run_id}"), timeout=PATIENCE)
    assert (workspace / ".gemba" / "worktrees" / id).is_dir()


def kill(victim: str, keeper: Keeper, server: RunningServer) -> None:
    if victim == "server":
        server.process.kill()
    elif victim == "tmux":
        subprocess.run(["tmux", "-S", server.home / "tmux" / "socket", "kill-server"], check=True)
    elif victim == "keeper":
        os.kill(keeper.process[0], signal.SIGKILL)
    else:
        children = Path(f"/proc/{keeper.process[0]}/task/{keeper.process[0]}/children").read_text().split()
        os.kill(int(children[0]), signal.SIGKILL)


def mortal_answer(mortal: Mortal, death: threading.Timer, asked: str) -> None:
    """The answer is accepted once, by this server or by the next."""
    body, confirm = {"text": "8080"}, asked

    def accepted() -> bool:
        try:
            answer = mortal.server.request("POST", f"/api/escalations/{asked}/respond", body, X_GEMBA_Confirm=confirm)
        except (OSError, http.client.HTTPException):  # also in the middle of its answer
            death.join()
            mortal.live()
            return False
        # One whose session is over was withdrawn before anybody answered.
        return answer.status in (200, 409)

    retry_until(accepted, timeout=PATIENCE)


def settled(mortal: Mortal, id: str, victim: str) -> dict[str, Any]:
    wanted = "running" if victim == "server" else None

    def look() -> dict[str, Any] | None:
        shown: dict[str, Any] = mortal.server.get(f"/api/sessions/{id}")
        is_over = shown["lifecycle"] not in ("starting", "running")
        return shown if (shown["lifecycle"] == wanted if wanted else is_over) else None

    return retry_until(look, timeout=PATIENCE) or {}


def check_reply(mortal: Mortal, id: str, asked: str, *, lives: bool) -> None:
    def typed() -> int:
        return str(mortal.server.get(f"/api/sessions/{id}/transcript?lines=100")["text"]).count("heard: 8080")

    shown = mortal.server.get(f"/api/escalations/{asked}")
    if lives:
        # Typed, unless the server died while it typed: then that is said, and it is not typed again.
        retry_until(lambda: typed() == 1 or is_in_doubt(mortal, asked), timeout=PATIENCE)
        assert shown["state"] == "resolved"
    assert typed() <= 1
    assert shown["state"] in ("resolved", "withdrawn")
    if shown["state"] == "resolved":
        assert shown["delivery"] in ("pending", "undelivered")  # nobody has said that it was read


def is_in_doubt(mortal: Mortal, asked: str) -> bool:
    with closing(sqlite3.connect(mortal.server.workspace / ".gemba" / "gemba.db")) as database:
        found = database.execute("SELECT trouble FROM session_inputs WHERE ref = ? AND state = 'typed'", [asked])
        return any(trouble is not None for (trouble,) in found)
