"""What a keeper writes into its run's folder: that the run is its own, that the agent runs, and how it ended.

Of two keepers of one run one finds it taken. What is told once the agent runs has its room on the disk before that, so
that a disk which is full by then leaves no agent of which nobody knows. The folder is the keeper's working folder.
Standard library only; called by `keeper.py` alone.
"""

import os

from gemba import wire
from gemba.sessions.keeper.decode import decode_json
from gemba.sessions.keeper.process_tree import start_time

TYPE_CHECKING = False  # a type checker takes it for true; loading `typing` takes as long as a bare interpreter's start
if TYPE_CHECKING:
    from typing import Any

_LARGEST_SPEC = 64 * 1024 * 1024
_RESERVED = 4096  # bytes of a file that is written later, on disk before the agent can fill it


class Taken(Exception):
    """Another keeper has the run."""


def read_spec() -> "dict[str, Any]":
    spec = decode_json(wire.read_file("spec.json", _LARGEST_SPEC))
    if not isinstance(spec, dict):
        raise ValueError("spec.json holds no JSON object")
    return spec


def claim(run_id: str, workspace: str) -> dict[str, object]:
    """Take the run, and remove what it was started with: that may hold secrets."""
    keeper: dict[str, object] = {"pid": os.getpid(), "started": start_time(os.getpid()), "run_id": run_id}
    keeper["workspace"] = workspace
    partial = f".keeper-{os.getpid()}"
    _write(partial, keeper)
    try:
        os.link(partial, "keeper.json")
    except FileExistsError:
        raise Taken from None
    finally:
        os.unlink(partial)
    os.unlink("spec.json")
    return keeper


class LaterFile:
    """A file that is written once, whole; its room is there from the beginning."""

    def __init__(self, name: str) -> None:
        self._name, self._partial = name, f".{name}"
        self._fd = os.open(self._partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        os.write(self._fd, b" " * _RESERVED)

    def write(self, *, sync: bool, **content: object) -> None:
        os.pwrite(self._fd, wire.encode_json(content).encode(), 0)
        if sync:
            os.fsync(self._fd)
        os.replace(self._partial, self._name)
        if sync:
            wire.sync_folder(".")


class RunFiles:
    """That the agent runs, and how it ended."""

    def __init__(self, keeper: dict[str, object]) -> None:
        self._keeper = keeper
        self._running, self._ending = LaterFile("keeper.json"), LaterFile("exit.json")

    def agent_runs(self, agent: int) -> None:
        told = {**self._keeper, "agent": {"pid": agent, "started": start_time(agent)}}
        self._running.write(sync=False, **told)

    def has_ended(self, **ending: object) -> None:
        self._ending.write(sync=True, **ending, at=wire.timestamp())


def _write(name: str, content: dict[str, object]) -> None:
    with open(name, "w", encoding="utf-8") as file:
        file.write(wire.encode_json(content))
