"""How agents are run: what a backend is asked, and what it answers. Pure: types, and what may be typed into a terminal.

A run is one start of one agent for a session; its folder says everything about it that outlives the server. A backend
starts runs and tells what became of them. It remembers nothing itself: whoever asks after a restart gets the same
answer. `process.py` and `tmux.py` are the backends; `run_folder.py` reads and writes what lies in a run's folder.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, Literal, NamedTuple, Protocol

from gemba import wire
from gemba.errors import Invalid

OUTPUT_LIMIT = 16 * 1024 * 1024  # bytes of a transcript, unless the agent's type says otherwise

# The only keys that are ever pressed for an operator, as a terminal sends them; tmux knows them by the same names.
KEYS = {"Enter": "\r", "Escape": "\x1b", "Up": "\x1b[A", "Down": "\x1b[B", "y": "y", "n": "n", "C-d": "\x04"}
KEYS |= {digit: digit for digit in "123456789"}

_LONGEST_STEM = 40  # of a folder's name: a client may have sockets in there, whose paths have at most 107 bytes
_LINE_END = re.compile("\r\n?")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Start(NamedTuple):
    """What to start. `env` is the agent's whole environment, but for the names that `environment` adds."""

    session_id: str
    run_id: str  # another one for every start
    folder: str
    command: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    stdin: str | None = None  # what it finds on its standard input, where it has no terminal
    keep_stdin: bool = False  # more may be sent later; else its input ends there
    terminal: Literal["pipe", "pty"] = "pipe"  # without tmux
    output_limit: int = OUTPUT_LIMIT
    rows: int = 50
    columns: int = 200
    max_seconds: float | None = None
    # By name, what lies in its folder for the agent to read: a text, or the place to which a link leads.
    files: Mapping[str, str | Path] = MappingProxyType({})
    workspace: str = ""  # several may have their runs in one home

    def environment(self) -> dict[str, str]:
        """The names by which every process of this run is known again, beside what was given."""
        return {**self.env, "GEMBA_RUN_ID": self.run_id, "GEMBA_SESSION_ID": self.session_id}


class RunFolder(NamedTuple):
    """Where a run lies: `$GEMBA_HOME/runs/<name>/`, private to its user; see `run_folder`."""

    session_id: str
    path: Path

    @property
    def spec(self) -> Path:
        """What to start; may hold secrets, so the keeper removes it once it has read it."""
        return self.path / "spec.json"

    @property
    def keeper(self) -> Path:
        """Who keeps the agent; there from before the agent starts."""
        return self.path / "keeper.json"

    @property
    def input(self) -> Path:
        """The socket on which the keeper takes requests."""
        return self.path / "input"

    @property
    def transcript(self) -> Path:
        """What the agent printed; see `transcript.py` for the pieces behind the first."""
        return self.path / "transcript"

    @property
    def exit(self) -> Path:
        """How it ended: the only proof of an orderly end."""
        return self.path / "exit.json"


def run_folder(home: Path | str, workspace: Path | str, session_id: str) -> RunFolder:
    """No other session's, of this workspace or another: several have their runs in one home, and what is safe of an id
    may be safe of two, so a digest of both stands behind it."""
    whole = f"{workspace}\0{session_id}".encode("utf-8", "surrogatepass")
    name = f"{wire.safe_id(session_id)[:_LONGEST_STEM]}-{hashlib.sha256(whole).hexdigest()[:16]}"
    return RunFolder(session_id, Path(home) / "runs" / name)


class Seen(StrEnum):
    """What is seen of a run from outside."""

    RUNNING = "running"
    EXITED = "exited"  # the agent, by itself
    KILLED = "killed"  # the agent, by a signal or with its keeper
    VANISHED = "vanished"  # its pane is gone, the tmux server lives
    SERVER_DIED = "server_died"  # the tmux server is gone


class EndedBy(StrEnum):
    """Why a keeper came to an orderly end; stands in `exit.json`."""

    AGENT = "agent"  # the agent ended by itself, or somebody else killed it
    STOP = "stop"  # somebody asked for it on the input
    SIGNAL = "signal"  # the keeper got a SIGTERM
    HANGUP = "hangup"  # its terminal went away: the pane was closed, or tmux died
    TIME = "time"  # max_seconds had passed
    START = "start"  # the agent could not be started; `error` says why


class Observation(NamedTuple):
    seen: Seen
    code: int | None = None
    signal: int | None = None
    ended_by: EndedBy | None = None  # None while it runs, and for a run that came to no orderly end


class Backend(Protocol):
    """Starts runs, reaches them, and tells what became of them. Every call may come from any thread."""

    name: ClassVar[str]

    def usable(self) -> str | None:
        """Why it cannot be used here; None when it can."""

    def start(self, start: Start) -> None:
        """Returns when the agent runs. Unusable with the reason when it does not; Conflict when the run lives."""

    def send(self, run: RunFolder, text: str) -> None:
        """Type the text (see `literal`), then Enter. Conflict when there is nobody to read it."""

    def press(self, run: RunFolder, keys: Sequence[str]) -> None:
        """Press keys of `KEYS`."""

    def interrupt(self, run: RunFolder) -> None:
        """What ^C does in a terminal."""

    def read(self, run: RunFolder, lines: int) -> str:
        """The last lines of what it shows, without escape sequences."""

    def screen(self, run: RunFolder) -> str:
        """What its terminal shows at this moment, and nothing that it showed before; empty where that is not known."""

    def stop(self, run: RunFolder, grace: float) -> None:
        """When this returns the agent and everything it started is gone; after `grace` seconds by force."""

    def observe(self, runs: Sequence[RunFolder]) -> dict[str, Observation]:
        """What is seen of each, by session id. Cheap: no process is started for a session."""

    def attach(self, run: RunFolder) -> str | None:
        """The command with which a person looks at it, where there is one."""

    def close(self) -> None:
        """Let go of what no run of the home needs any more; a start at this very moment gets what it needs."""


def literal(text: str) -> str:
    """The text without what would press a key: control characters go, line ends become newlines, tabs stay."""
    return _CONTROL.sub("", _LINE_END.sub("\n", wire.valid_unicode(text)))


def known_key(name: str) -> str:
    """The name of a key that may be pressed; Invalid for any other."""
    if name not in KEYS:
        raise Invalid(f"{name!r} is no key; allowed: {', '.join(KEYS)}", code="unknown_key", allowed=list(KEYS))
    return name
