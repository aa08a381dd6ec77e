"""One key at a time from the terminal that the operator sits at, and a line where words are wanted.

While it is open keys come at once and are not echoed; what is typed ahead is kept, and Ctrl-C stays Ctrl-C. However it
ends, also by a signal that asks the process to end, the terminal is as it was. Called by `gemba walk`.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import select
import signal
import sys
import termios
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Self

from gemba.text import showable

_ESCAPE = "\x1b"
_SEQUENCE_SECONDS = 0.02  # between two bytes of one key
_END_OF_INPUT = "\x04"  # Ctrl-D: no line is read, so that nothing makes an end of it


def is_terminal() -> bool:
    """Whether somebody sits there: keys can be read, and what is shown is seen."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


class Keyboard:
    def __init__(self) -> None:
        self._fd = sys.stdin.fileno()
        self._before: list[Any] = []
        self._handlers: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._before = termios.tcgetattr(self._fd)
        # Whoever is told to end ends as by Ctrl-C; whoever was stopped gets its keys again when it goes on.
        for number, handler in ((signal.SIGTERM, signal.default_int_handler), (signal.SIGCONT, self._go_on)):
            self._handlers[number] = signal.signal(number, handler)
        self._key_by_key()
        return self

    def __exit__(self, *_: object) -> None:
        self._as_before()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def key(self) -> str:
        """The next key; "" for one that stands for no character. An EOFError when there is no terminal any more."""
        sys.stdout.flush()
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        found = ""
        while not found:
            found = decoder.decode(self._byte())
        if found == _END_OF_INPUT:
            raise EOFError
        if found == _ESCAPE:
            self._skip_sequence()
            return ""
        return found

    def line(self, prompt: str, text: str = "") -> str | None:
        """A line that the operator writes, with a text to begin with; None when they think better of it (Ctrl-D)."""
        with self.resting(), _beginning_with(text):
            try:
                return input(prompt)
            except EOFError:
                sys.stdout.write("\n")  # the cursor stands behind the prompt
                return None
            except UnicodeDecodeError:
                return None

    @contextlib.contextmanager
    def resting(self) -> Iterator[None]:
        """The terminal as it was, for somebody else who reads from it."""
        sys.stdout.flush()
        self._as_before()
        try:
            yield
        finally:
            self._key_by_key()

    def _byte(self) -> bytes:
        try:
            found = os.read(self._fd, 1)
        except OSError as error:  # the terminal was closed
            raise EOFError from error
        if not found:
            raise EOFError
        return found

    def _skip_sequence(self) -> None:
        """What an arrow or a function key sends comes at once; a lone Escape has nothing behind it."""
        first = b"["
        while first in (b"[", b"O", b";") or first.isdigit():
            if not select.select([self._fd], [], [], _SEQUENCE_SECONDS)[0]:
                return
            first = self._byte()

    def _key_by_key(self) -> None:
        mode = termios.tcgetattr(self._fd)
        mode[3] &= ~(termios.ICANON | termios.ECHO)
        mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self._fd, termios.TCSADRAIN, mode)

    def _as_before(self) -> None:
        with contextlib.suppress(termios.error):  # it is gone, and nobody sees it
            termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)

    def _go_on(self, _number: int, _frame: FrameType | None) -> None:
        self._key_by_key()


@contextlib.contextmanager
def _beginning_with(text: str) -> Iterator[None]:
    """Has the next line begin with a text, where lines can be edited here and the text is one that can be shown."""
    try:
        import readline
    except ImportError:
        yield
        return
    begin: Callable[[], None] | None = None
    if text and showable(text) == text and "\n" not in text and "\t" not in text:
        begin = lambda: readline.insert_text(text)  # noqa: E731 - a hook
    readline.set_startup_hook(begin)
    try:
        yield
    finally:
        readline.set_startup_hook(None)
