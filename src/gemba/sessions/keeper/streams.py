"""What lies between a keeper and its agent: what the agent prints goes to the transcript, what is sent to its input.

A flood never stops, and nothing sent is waited for: what the agent does not read is kept up to a limit, and refused
beyond. An agent in a pane has its own terminal; there is nothing to do here then. Standard library only; called by
`keeper.py` alone.
"""

import os

from gemba.sessions.keeper.agent import PANE, PIPE, PTY, Agent
from gemba.sessions.keeper.input import IN, OUT, Watch
from gemba.sessions.keeper.transcript import Transcript

TYPE_CHECKING = False  # a type checker takes it for true; loading `typing` takes as long as a bare interpreter's start
if TYPE_CHECKING:
    from typing import Any

_CHUNK = 65536
_DRAINED = 1 << 20  # bytes that a pipe can still hold when its writers are gone
_MOST_PENDING = 4 * 1024 * 1024  # bytes sent to an agent that does not read

_PASTE_ON, _PASTE_OFF = b"\x1b[?2004h", b"\x1b[?2004l"
_PASTE_BEGIN, _PASTE_END = b"\x1b[200~", b"\x1b[201~"


class Streams:
    def __init__(self, spec: "dict[str, Any]", agent: Agent, watch: Watch) -> None:
        self._mode: str = spec["mode"]
        self._keep_stdin: bool = spec["keep_stdin"] or self._mode == PTY
        self._output, self._input, self._watch = agent.output, agent.input, watch
        self._transcript = None if self._mode == PANE else Transcript(".", spec["output_limit"])
        self._pending = bytearray()
        self._pastes = False  # the agent has asked its terminal to mark what is pasted
        self._seen = b""  # the end of what was printed, where that request may be cut in two
        if self._output is not None:
            watch.add(self._output, IN, self._serve)
        if spec["stdin"] and self._input is not None:
            self.send(spec["stdin"], enter=self._mode == PTY, paste=True)
        else:
            self._mind_input()

    @property
    def printed(self) -> int:
        return self._transcript.printed if self._transcript else 0

    @property
    def cut(self) -> bool:
        return self._transcript is not None and self._transcript.cut

    def send(self, text: str, *, enter: bool, paste: bool) -> str | None:
        """Why it cannot be sent; None when it is on its way."""
        if self._mode == PANE:
            return "tmux types into a pane, not its keeper"
        if self._input is None:
            return "the agent takes no input"
        data = text.encode("utf-8", "replace")
        if len(self._pending) + len(data) > _MOST_PENDING:
            return "the agent does not read what was sent before"
        if self._mode == PTY:
            data = data.replace(b"\n", b"\r")
            if paste and self._pastes:
                data = _PASTE_BEGIN + data + _PASTE_END
        self._pending += data
        if enter:
            self._pending += b"\r" if self._mode == PTY else b"\n"
        self._mind_input()
        return None

    def finish(self) -> None:
        """When nobody is left who could print: take what is still on the way."""
        for _ in range(_DRAINED // _CHUNK):
            self._read()
        if self._transcript:
            self._transcript.close()

    def _serve(self) -> None:
        self._read()
        if self._output == self._input:  # a terminal is one file for both directions
            self._write()

    def _read(self) -> None:
        if self._output is None or self._transcript is None:
            return
        try:
            data = os.read(self._output, _CHUNK)
        except BlockingIOError:
            return
        except OSError:  # a terminal that nobody has open any more
            data = b""
        if not data:
            self._watch.drop(self._output)
            self._input = None if self._output == self._input else self._input
            self._output = None
            return
        self._transcript.write(data)
        if self._mode == PTY:
            self._notice_pastes(data)

    def _notice_pastes(self, data: bytes) -> None:
        seen = self._seen + data
        on, off = seen.rfind(_PASTE_ON), seen.rfind(_PASTE_OFF)
        if on != off:  # else neither is there
            self._pastes = on > off
        self._seen = seen[1 - len(_PASTE_ON) :]

    def _mind_input(self) -> None:
        """Wait for the agent to read while there is something to write; its input ends when that was all."""
        if self._input is None:
            return
        if self._mode == PTY:
            self._watch.add(self._input, IN | OUT if self._pending else IN, self._serve)
        elif self._pending:
            self._watch.add(self._input, OUT, self._write)
        elif self._keep_stdin:
            self._watch.drop(self._input)
        else:
            self._close_input()

    def _write(self) -> None:
        if self._input is None or not self._pending:
            return
        try:
            del self._pending[: os.write(self._input, self._pending[:_CHUNK])]
        except BlockingIOError:
            return
        except OSError:  # the agent has closed it
            self._close_input()
            return
        if not self._pending:
            self._mind_input()

    def _close_input(self) -> None:
        if self._mode == PIPE and self._input is not None:
            self._watch.drop(self._input)
            os.close(self._input)
        self._input = None
        self._pending.clear()
