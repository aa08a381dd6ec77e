"""The private tmux server of a home: started, asked and ended, apart from whatever tmux its user has.

It listens in the home itself, reads nobody's configuration and has little of our environment, so two homes never meet
and neither a `TMUX` around us nor a `~/.tmux.conf` matters. It does not end by itself when its last pane closes, since
only so a pane that a person closed can be told from a server that died: it is ended once that is known. Whoever opens
a pane shares a lock, and whoever ends the server has it alone. Called by `tmux.py` alone.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shlex
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from gemba import shell
from gemba.errors import Unusable
from gemba.sessions.keeper.process_tree import Process, start_time, wait_ended

TERMINAL = "screen-256color"  # every system has its description, unlike tmux-256color

_OPTIONS = {
    "exit-empty": "off",
    "remain-on-exit": "off",
    "destroy-unattached": "off",
    "default-terminal": TERMINAL,
    "history-limit": "5000",  # lines; the transcript has the rest
    "escape-time": "10",  # milliseconds until a person's Escape key arrives
    # What an agent prints neither names windows nor reaches the clipboard of whoever looks at it.
    "automatic-rename": "off",
    "allow-rename": "off",
    "set-clipboard": "off",
}
_INHERITED = ("PATH", "HOME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE")
_OLDEST = (3, 2)
_VERSION = re.compile(r"tmux (?:next-)?(\d+)\.(\d+)")
_LONGEST_SOCKET = 107  # bytes of a path that the kernel takes
_WHO = ("display-message", "-p", "#{pid}")
_END_SECONDS = 5.0  # until a server that was told to end is left to itself
_GLANCE = 0.02

Command = Sequence[str]


class TmuxFault(Exception):
    """tmux refused, or there is no server to ask; the message is its own."""


class TmuxServer:
    def __init__(self, home: Path) -> None:
        self._socket = home / "tmux" / "socket"
        self._lock = home / "tmux" / "lock"

    def unusable(self) -> str | None:
        """Why there can be no server here; None when there can."""
        if shutil.which("tmux") is None:
            return "tmux is not on PATH"
        told = shell.run(["tmux", "-V"], env=_environment()).stdout.strip()
        version = _VERSION.match(told)
        if version and (int(version[1]), int(version[2])) < _OLDEST:
            return f"{told} is too old; {'.'.join(map(str, _OLDEST))} or newer is needed"
        length = len(os.fsencode(self._socket))
        if length > _LONGEST_SOCKET:
            return f"the path {self._socket} has {length} bytes; a socket's path has at most {_LONGEST_SOCKET}"
        return self._unanswered()

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Nobody ends the server meanwhile; whoever is about to has done so before."""
        self._socket.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._locked(fcntl.LOCK_SH):
            yield

    def ensure(self) -> Process:
        """The server, started if there is none, with our options."""
        self._socket.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        options = [("set-option", "-gq", name, value) for name, value in _OPTIONS.items()]
        told = self._run(["start-server"], *options, _WHO)
        return process_of(told)

    def running(self) -> Process | None:
        """The server that answers. One that was just killed still has a process, but answers no more."""
        try:
            return process_of(self.ask(_WHO))
        except (TmuxFault, Unusable):
            return None

    def ask(self, *commands: Command, given: str = "") -> str:
        """What a running server prints of commands that it runs one after another, up to the first that it refuses."""
        if not self._socket.exists():
            raise TmuxFault(f"no server listens on {self._socket}")
        return self._run(*commands, given=given, flags=("-N",))

    def panes(self) -> dict[int, str]:
        """The id of each pane, by the process that was started in it."""
        # A server without a session refuses to list its panes.
        told = self.ask(["if-shell", "-F", "#{S:x}", "list-panes -a -F '#{pane_pid} #{pane_id}'"])
        return {int(pid): pane for pid, pane in (line.split() for line in told.splitlines())}

    def end_if_unused(self, is_needed: Callable[[Process], bool]) -> None:
        """End the server when it has no session and nobody is about to open one, unless it `is_needed`."""
        if not self._socket.exists():
            return
        with self._locked(fcntl.LOCK_EX | fcntl.LOCK_NB) as is_ours:
            if not is_ours:
                return
            server = process_of(self.ask(_WHO))
            if self._is_empty() and not is_needed(server):
                # A person may open a session at this moment: tmux decides and acts in one go.
                self.ask(["if-shell", "-F", "#{S:x}", "", "kill-server"])
                if wait_ended(server, _END_SECONDS):
                    self._socket.unlink(missing_ok=True)

    def _is_empty(self) -> bool:
        """Whether there is no pane. One whose process has just ended is there for a moment more."""
        until = time.monotonic() + _END_SECONDS
        while panes := self.panes():
            if any(start_time(pid) for pid in panes) or time.monotonic() > until:
                return False
            time.sleep(_GLANCE)
        return True

    def attach_command(self, session: str) -> str:
        """What a person types into any shell, inside another tmux too. A bare word that begins with = is zsh's own."""
        return f"tmux -S {shlex.quote(str(self._socket))} attach-session -t '={session}'"

    @contextlib.contextmanager
    def _locked(self, how: int) -> Iterator[bool]:
        """Whether the lock was to be had."""
        lock = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(lock, how)
                is_ours = True
            except BlockingIOError:
                is_ours = False
            yield is_ours
        finally:
            os.close(lock)

    def _run(self, *commands: Command, given: str = "", flags: Command = ()) -> str:
        words = [word for command in commands for word in (*map(_one_word, command), ";")][:-1]
        program = ["tmux", "-u", "-S", str(self._socket), "-f", os.devnull, *flags]
        done = shell.run([*program, *words], cwd=self._socket.parent, env=_environment(), given=given.encode())
        if done.code:
            raise TmuxFault(done.stderr.strip() or f"exit code {done.code}")
        return done.stdout

    def _unanswered(self) -> str | None:
        """What a server that runs says instead of answering: one of another version does so."""
        try:
            self.ask(_WHO)
        except TmuxFault as fault:
            return None if _is_absence(str(fault)) else f"the tmux server on {self._socket} does not answer: {fault}"
        except Unusable as error:
            return error.message
        return None


def process_of(told: str) -> Process:
    """The process that tmux names."""
    pid = int(told)
    return pid, start_time(pid) or 0


def shell_line(words: Sequence[str]) -> str:
    """A shell command as tmux takes one, in which it would expand formats and times."""
    return shlex.join(words).replace("#", "##").replace("%", "%%")


def _environment() -> dict[str, str]:
    return {name: os.environ[name] for name in _INHERITED if name in os.environ}


def _one_word(word: str) -> str:
    """A word that ends in a semicolon would end the command."""
    return f"{word[:-1]}\\;" if word.endswith(";") else word


def _is_absence(fault: str) -> bool:
    return fault.startswith(("no server", "error connecting")) and "denied" not in fault
