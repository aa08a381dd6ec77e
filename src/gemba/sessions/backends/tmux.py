"""The tmux backend: an agent in a pane of the home's private tmux server, where a person can look and type as well.

The agent gets text literally: it is pasted, so nothing in it presses a key, and a program that asks for bracketed paste
gets it as one. A keeper keeps the agent as anywhere else, so tmux is asked only about runs whose terminal went away,
once for all of them. A pane is found by its keeper's process: whatever a person splits, moves or scrolls there, the
agent's own is meant. When the last run of the home is over the server ends too. Called by whoever starts and reaches
sessions, through the protocol of `backend.py`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from gemba.errors import Conflict, Unusable
from gemba.sessions.backends.backend import EndedBy, Observation, RunFolder, Seen, Start, known_key, literal
from gemba.sessions.backends.process import read_lines
from gemba.sessions.backends.run_folder import (
    keeper_command,
    observe_kept,
    own_program,
    read_keeper,
    starting,
    stop_kept,
    wait_started,
)
from gemba.sessions.backends.tmux_server import TERMINAL, TmuxFault, TmuxServer, process_of, shell_line
from gemba.sessions.keeper.agent import PANE
from gemba.sessions.keeper.process_tree import Process

_OUTER = ("TMUX", "TMUX_PANE")  # of a tmux around the server, which is not the agent's
_MOST_LINES = 5000


class TmuxBackend:
    name: ClassVar[str] = "tmux"

    def __init__(self, home: Path) -> None:
        self._server = TmuxServer(home)
        self._runs = home / "runs"

    def usable(self) -> str | None:
        return self._server.unusable()

    def start(self, start: Start) -> None:
        env = {name: value for name, value in start.env.items() if name not in _OUTER}
        start = start._replace(env={**env, "TERM": TERMINAL})
        with starting(start, PANE) as run:
            wait_started(run, start.run_id, self._open_pane(run, start))

    def send(self, run: RunFolder, text: str) -> None:
        typed = literal(text)
        with self._reaching(run) as pane:
            if not typed:
                self._server.ask(*_keys(pane, "Enter"))
                return
            buffer = f"gemba-{os.urandom(8).hex()}"
            load, paste = ("load-buffer", "-b", buffer, "-"), ("paste-buffer", "-p", "-d", "-b", buffer, "-t", pane)
            try:
                self._server.ask(load, paste, *_keys(pane, "Enter"), given=typed)
            except TmuxFault:
                with contextlib.suppress(TmuxFault):
                    self._server.ask(["delete-buffer", "-b", buffer])
                raise

    def press(self, run: RunFolder, keys: Sequence[str]) -> None:
        names = [known_key(key) for key in keys]
        with self._reaching(run) as pane:
            self._server.ask(*_keys(pane, *names))

    def interrupt(self, run: RunFolder) -> None:
        with self._reaching(run) as pane:
            self._server.ask(*_keys(pane, "C-c"))

    def read(self, run: RunFolder, lines: int) -> str:
        """What its screen shows; once it has ended, the end of the transcript."""
        try:
            with self._reaching(run) as pane:
                shown = self._server.ask(["capture-pane", "-p", "-J", "-t", pane, "-S", f"-{min(lines, _MOST_LINES)}"])
        except Conflict:
            return read_lines(run, lines)
        return "\n".join([line.rstrip() for line in shown.rstrip().split("\n")][-lines:])

    def screen(self, run: RunFolder) -> str:
        with contextlib.suppress(Conflict), self._reaching(run) as pane:
            return self._server.ask(["capture-pane", "-p", "-J", "-t", pane])
        return ""

    def stop(self, run: RunFolder, grace: float) -> None:
        stop_kept(run, grace)

    def observe(self, runs: Sequence[RunFolder]) -> dict[str, Observation]:
        observed = {run.session_id: observe_kept(run) for run in runs}
        hung_up = [run for run in runs if observed[run.session_id].ended_by is EndedBy.HANGUP]
        server = self._server.running() if hung_up else None
        for run in hung_up:
            place = _read_place(run)
            is_closed = place is not None and (place.get("closed") or _server_of(place) == server)
            seen = Seen.VANISHED if is_closed else Seen.SERVER_DIED
            observed[run.session_id] = observed[run.session_id]._replace(seen=seen)
        return observed

    def attach(self, run: RunFolder) -> str | None:
        keeper, place = read_keeper(run), _read_place(run)
        return self._server.attach_command(place["session"]) if place and keeper and keeper.lives else None

    def close(self) -> None:
        """End the server when no session is left in it, and no keeper of one that was."""
        with contextlib.suppress(TmuxFault, Unusable, OSError):
            self._server.end_if_unused(self._is_needed)

    def _is_needed(self, server: Process) -> bool:
        """Whether a keeper of a run of this server still lives. Of those that were hung up it is written down, as long
        as the server is there to tell, that their panes were closed."""
        for path in self._runs.glob("*/tmux.json"):
            run = RunFolder(path.parent.name, path.parent)
            keeper, place = read_keeper(run), _read_place(run)
            if place is None or _server_of(place) != server:
                continue
            if keeper is not None and keeper.lives:
                return True
            if observe_kept(run).ended_by is EndedBy.HANGUP:
                _write_place(run, {**place, "closed": True})
        return False

    def _open_pane(self, run: RunFolder, start: Start) -> Process:
        """The process in the new pane. A session of the same name may have outlived its agent: a person works there."""
        name = _session_name(run)
        with self._server.in_use():
            try:
                return self._open_session(run, start, name)
            except TmuxFault:
                try:
                    return self._open_session(run, start, f"{name}-{_short_hash(start.run_id)}")
                except TmuxFault as fault:
                    raise Unusable(f"session {run.session_id}: tmux: {fault}", code="tmux_refuses") from None

    def _open_session(self, run: RunFolder, start: Start, name: str) -> Process:
        _write_place(run, _place(self._server.ensure(), name))
        size = ("-x", str(start.columns), "-y", str(start.rows))
        opened = ("new-session", "-d", "-P", "-F", "#{pane_pid}", "-s", name, "-n", "agent", *size)
        pipe = own_program("gemba.sessions.keeper.transcript_pipe", str(run.path), str(start.output_limit))
        told = self._server.ask(
            [*opened, *keeper_command(run, detached=False)],
            ["pipe-pane", "-t", f"={name}:", f"exec {shell_line(pipe)}"],
            ["display-message", "-p", "#{pid}"],
        )
        pane, server = told.split()
        _write_place(run, _place(process_of(server), name))  # the one that was ensured may have died in between
        return process_of(pane)

    @contextlib.contextmanager
    def _reaching(self, run: RunFolder) -> Iterator[str]:
        """The agent's pane; Conflict when it is gone, or goes meanwhile."""
        keeper = read_keeper(run)
        try:
            if keeper is None or not keeper.lives:
                raise TmuxFault("its keeper has ended")
            pane = self._server.panes().get(keeper.process[0])
            if pane is None:
                raise TmuxFault("its pane is gone")
            yield pane
        except TmuxFault as fault:
            raise Conflict(f"session {run.session_id} cannot be reached: {fault}", code="run_over") from None


def _keys(pane: str, *names: str) -> tuple[tuple[str, ...], ...]:
    """Press keys in the pane, which a person may have scrolled: the keys would go to that."""
    return ("copy-mode", "-q", "-t", pane), ("send-keys", "-t", pane, *names)


def _session_name(run: RunFolder) -> str:
    """tmux takes no dots; the digest in the folder's name tells two runs apart that differ in nothing else."""
    return run.path.name.replace(".", "_")


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


# -- where a run's pane is: `tmux.json`, written before the pane opens, so that no kill leaves a pane of no server


def _place(server: Process, session: str) -> dict[str, Any]:
    return {"pid": server[0], "started": server[1], "session": session}


def _server_of(place: dict[str, Any]) -> Process:
    return place["pid"], place["started"]


def _write_place(run: RunFolder, place: dict[str, Any]) -> None:
    partial = run.path / ".tmux.json"
    partial.write_text(json.dumps(place))
    partial.rename(run.path / "tmux.json")


def _read_place(run: RunFolder) -> dict[str, Any] | None:
    try:
        found = json.loads((run.path / "tmux.json").read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.keys() >= {"pid", "started", "session"} else None
