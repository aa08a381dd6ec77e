"""The private tmux server of a home: started, asked and ended, apart from whatever tmux its user has.

It listens in the home itself, reads nobody's configuration and has little of our environment, so two homes never meet
and neither a `TMUX` around us nor a `~/.tmux.conf` matters. It stays when its last pane closes: only so a pane that a
person closed can be told from a server that died. Called by `tmux.py` alone.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from gemba import shell
from gemba.errors import Unusable
from gemba.sessions.keeper.process_tree import Process, start_time

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

Command = Sequence[str]


class TmuxFault(Exception):
    """tmux refused, or there is no server to ask; the message is its own."""


class TmuxServer:
    def __init__(self, home: Path) -> None:
        self._socket = home / "tmux" / "socket"

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
        told = self.ask(["list-panes", "-a", "-F", "#{pane_pid} #{pane_id}"])
        return {int(pid): pane for pid, pane in (line.split() for line in told.splitlines())}

    def end_if_empty(self) -> None:
        """End the server when it has no session. tmux decides and acts in one go: a session that comes first stays."""
        self.ask(["if-shell", "-F", "#{S:x}", "", "kill-server"])

    def attach_command(self, session: str) -> str:
        """What a person types into any shell, inside another tmux too. A bare word that begins with = is zsh's own."""
        return f"tmux -S {shlex.quote(str(self._socket))} attach-session -t '={session}'"

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
