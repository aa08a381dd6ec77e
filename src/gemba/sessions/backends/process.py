"""The process backend: an agent without tmux, on pipes or a terminal of its own, kept by a detached keeper.

It needs nothing but Linux, survives the server, and keeps nothing in memory: everything it knows lies in the run's
folder. Called by whoever starts and reaches sessions, through the protocol of `backend.py`.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from gemba.errors import Unusable
from gemba.sessions.backends.backend import KEYS, Observation, RunFolder, Start, known_key, literal
from gemba.sessions.backends.run_folder import (
    START_SECONDS,
    ask_keeper,
    check_started,
    keeper_command,
    observe_kept,
    starting,
    stop_kept,
)
from gemba.sessions.backends.screen import plain_text
from gemba.sessions.keeper import transcript

_BYTES_A_LINE = 400  # what a line of output takes, escape sequences included, on the generous side


class ProcessBackend:
    name: ClassVar[str] = "process"

    def usable(self) -> str | None:
        if sys.platform != "linux" or not Path("/proc/self/stat").exists():
            return "agents are kept with the help of Linux's /proc, which is not here"
        return None

    def start(self, start: Start) -> None:
        with starting(start, start.terminal) as run:
            try:
                check_started(run, start.run_id, _run_keeper(run))
            except Unusable:
                stop_kept(run, 0)  # however far it came
                raise

    def send(self, run: RunFolder, text: str) -> None:
        ask_keeper(run, op="send", text=literal(text), enter=True)

    def press(self, run: RunFolder, keys: Sequence[str]) -> None:
        pressed = "".join(KEYS[known_key(key)] for key in keys)
        ask_keeper(run, op="send", text=pressed, enter=False, paste=False)

    def interrupt(self, run: RunFolder) -> None:
        ask_keeper(run, op="interrupt")

    def read(self, run: RunFolder, lines: int) -> str:
        return read_lines(run, lines)

    def screen(self, run: RunFolder) -> str:
        return ""

    def stop(self, run: RunFolder, grace: float) -> None:
        stop_kept(run, grace)

    def observe(self, runs: Sequence[RunFolder]) -> dict[str, Observation]:
        return {run.session_id: observe_kept(run) for run in runs}

    def attach(self, run: RunFolder) -> str | None:
        return None

    def close(self) -> None:
        """Each run has its own keeper, and that ends with it."""


def _run_keeper(run: RunFolder) -> str:
    """Returns when the start is over, whether it went well or not: what the keeper said, if it did not."""
    try:
        done = subprocess.run(
            keeper_command(run, detached=True),
            cwd=run.path,
            env={},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=START_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Unusable(f"session {run.session_id}: its keeper did not start in time", code="keeper_missing") from None
    said = done.stdout.decode("utf-8", "replace").strip().splitlines()
    return said[-1] if said else ""


def read_lines(run: RunFolder, lines: int) -> str:
    """The last lines of the transcript, as text."""
    try:
        data = transcript.read_end(str(run.path), max(1, lines) * _BYTES_A_LINE)
    except FileNotFoundError:  # it never started
        return ""
    return "\n".join(plain_text(data).rstrip("\n").split("\n")[-lines:])
