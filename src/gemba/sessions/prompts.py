"""Where the prompts of our own agents come from: standard input, to the end, or a terminal, one after the other.

A terminal is used as the clients of models use it: it is asked for marks around what is pasted, so that a text of many
lines is one prompt; Enter sends it, Ctrl-D where a prompt would begin is the end. Standard library only; called by the
built-in agent and by the driver.
"""

import os
from _collections_abc import Iterator  # `collections.abc` is the same, at the price of `collections`

_LARGEST = 4 * 1024 * 1024  # bytes of a prompt; what follows is not read
_ASK_FOR_MARKS, _BEGIN, _END = b"\x1b[?2004h", b"\x1b[200~", b"\x1b[201~"
_OVER = b"\x04"  # Ctrl-D


class Interrupts:
    """On a terminal ^C ends a turn, never the wait for the next prompt: what was typed meanwhile is not lost."""

    def __init__(self) -> None:
        self.in_turn = False

    def __call__(self, *_: object) -> None:
        if self.in_turn:
            self.in_turn = False  # once: what follows a turn is not interrupted
            raise KeyboardInterrupt


def open_prompts(interrupts: Interrupts) -> None:
    """When this returns a prompt may be typed."""
    if not os.isatty(0):
        return
    import signal
    import termios

    signal.signal(signal.SIGINT, interrupts)
    modes = termios.tcgetattr(0)
    modes[0] &= ~termios.ICRNL  # Enter is not a newline
    modes[3] &= ~(termios.ICANON | termios.ECHO)  # a line may be as long as it likes
    modes[3] |= termios.ISIG | termios.NOFLSH  # ^C interrupts, and drops nothing
    termios.tcsetattr(0, termios.TCSANOW, modes)
    os.write(1, _ASK_FOR_MARKS)


def prompts() -> Iterator[str]:
    """Each with something in it."""
    if os.isatty(0):
        yield from _typed()
    elif prompt := _text(_read_all()).strip():
        yield prompt


def _read_all() -> bytes:
    data = b""
    while len(data) < _LARGEST and (chunk := os.read(0, 65536)):
        data += chunk
    return data


def _typed() -> Iterator[str]:
    heard = b""
    while not heard.startswith(_OVER):
        prompt, heard = _take_prompt(heard)
        if prompt is not None:
            if text := _text(prompt).strip():
                yield text
            continue
        try:
            chunk = os.read(0, 65536)
        except OSError:  # the terminal is gone
            return
        if not chunk or len(heard) > _LARGEST:
            return
        heard += chunk


def _take_prompt(heard: bytes) -> tuple[bytes | None, bytes]:
    """The first whole prompt in what was heard, None if there is none yet; and the rest."""
    prompt, rest = b"", heard
    while True:
        typed, enter, behind = rest.partition(b"\r")
        before, begin, _ = typed.partition(_BEGIN)
        if not begin:
            return (prompt + typed, behind) if enter else (None, heard)
        pasted, end, rest = rest[len(before) + len(_BEGIN) :].partition(_END)
        if not end:
            return None, heard
        prompt += before + pasted.replace(b"\r", b"\n")


def _text(data: bytes) -> str:
    """Without what keys leave behind that are no text."""
    text = data.decode("utf-8", "replace")
    return "".join([char for char in text if char in "\n\t" or (char >= " " and not "\x7f" <= char <= "\x9f")])
