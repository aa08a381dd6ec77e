"""The demo's agents as processes: started, listened to, replaced when one crashes, and gone when the demo is.

Each is the leader of a process group, so that nothing it has started outlives it. If this process is killed itself,
the agents see the end of their stdin and end. Called by `gemba demo`.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from gemba.demo.floor import Floor
from gemba.demo.session import Session
from gemba.demo.story import Story
from gemba.errors import Unusable

_MOST_LIVES = 5
_PAUSE_SECONDS = 1.0


class Crew:
    """`tell` is called with an agent's name and one line, from several threads."""

    def __init__(self, floor: Floor, *, pace: float, seed: int, tell: Callable[[str, str], None]) -> None:
        self._floor = floor
        self._options = ("--pace", str(pace), "--seed", str(seed))
        self._tell = tell
        self._path = _path_with_commands()
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._dispatches: dict[str, str] = {}
        self._running: set[subprocess.Popen[bytes]] = set()
        self._threads: list[threading.Thread] = []

    def start(self, stories: Iterable[Story], left: dict[str, list[str]], dispatches: dict[str, str]) -> None:
        self._dispatches = dispatches
        for story in stories:
            thread = threading.Thread(target=self._employ, args=(story, left.get(story.name, [])), daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """Ends every agent, and what it has started, at once: nothing of theirs is worth keeping."""
        with self._lock:
            self._stopping.set()
            for process in self._running:
                os.killpg(process.pid, signal.SIGKILL)
        for thread in self._threads:
            thread.join()

    def _employ(self, story: Story, left: Sequence[str]) -> None:
        for life in range(1, _MOST_LIVES + 1):
            session = session_of(self._floor, story, life)
            process = self._launch(session, left if life == 1 else ())
            if process is None:
                return
            code = self._listen(process, story.name)
            if self._stopping.is_set():
                return
            # Nobody waits any more for what it has asked.
            session.client("SessionEnd", reason="other")
            again = "; starting it again" if life < _MOST_LIVES else ""
            self._tell(story.name, f"ended unexpectedly (exit code {code}){again}")
            self._stopping.wait(_PAUSE_SECONDS)

    def _launch(self, session: Session, left: Sequence[str]) -> subprocess.Popen[bytes] | None:
        command = [sys.executable, "-P", "-m", "gemba.demo.agent", session.story.name, *self._options]
        with self._lock:
            if self._stopping.is_set():
                return None
            process = subprocess.Popen(
                [*command, "--left", *left],
                cwd=session.cwd,
                env=self._environment(session),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._running.add(process)
            return process

    def _listen(self, process: subprocess.Popen[bytes], name: str) -> int:
        """Pass on what it says until it ends; its exit code."""
        with process:
            for line in process.stdout or ():
                self._tell(name, line.decode("utf-8", "replace").rstrip("\n"))
            with self._lock:
                # Before it is waited for, so that its number is still its own.
                os.killpg(process.pid, signal.SIGKILL)
                self._running.remove(process)
        return process.returncode

    def _environment(self, session: Session) -> dict[str, str]:
        others = ("GEMBA_", "GIT_", "CLAUDE_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(others)}
        dispatch_id = self._dispatches.get(session.story.name)
        return {
            **kept,
            "PATH": self._path,
            "GEMBA_SESSION_ID": session.id,
            "GEMBA_AGENT_TYPE": session.story.name,
            "GEMBA_INTERACTION_MODE": session.story.mode,
            "GEMBA_ROLE": session.story.role,
            "GEMBA_WORKSPACE": str(session.workspace),
            "GEMBA_HOME": str(session.home),
            # The same in each life: whoever takes it on finds what is open in it.
            **({"GEMBA_DISPATCH_ID": dispatch_id} if dispatch_id else {}),
        }


def session_of(floor: Floor, story: Story, life: int = 1) -> Session:
    return Session(f"{story.name}-{life}", story, floor.home, floor.workspace, floor.place_of(story))


def _path_with_commands() -> str:
    """PATH with `gemba-ask`, `gemba-state` and `gemba-bridge` of this installation in front."""
    folders = [str(Path(sys.argv[0]).absolute().parent), sysconfig.get_path("scripts")]
    path = os.pathsep.join([*folders, os.environ.get("PATH", os.defpath)])
    if shutil.which("gemba-ask", path=path) is None:
        raise Unusable("gemba-ask is not installed beside gemba; the demo's agents need it", code="program_missing")
    return path
