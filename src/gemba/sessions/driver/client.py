"""One turn of a client without a screen: it is run with a prompt, and what its stream tells is handed on as it comes.

The prompt stands where the words have their place for it, else on stdin, where no other user can read it. The client
has a process group of its own: an interrupt reaches it and everything that it has started. Called by the driver alone.
"""

import contextlib
import io
import json
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from typing import IO

from gemba.sessions.driver.heard import Heard, Read

PROMPT, CONVERSATION = "{prompt}", "{conversation}"

_LONGEST_LINE = 32 * 1024 * 1024  # bytes; what is longer tells nothing
_GRACE = 5.0  # seconds between a request to end and force


class Failed(Exception):
    """The client did not come to the end of its turn; `code` is its exit code, as a shell tells it."""

    def __init__(self, code: int) -> None:
        super().__init__(f"the client ended with exit code {code}")
        self.code = code


def run_turn(words: Sequence[str], prompt: str, conversation: str, read: Read) -> Iterator[Heard | str]:
    """What the client tells, and lines of it that are no JSON as they are; Failed at the end when it failed."""
    filled = [word.replace(CONVERSATION, conversation).replace(PROMPT, prompt) for word in words]
    given = "" if any(PROMPT in word for word in words) else prompt
    with _file_of(given) as stdin:
        client = subprocess.Popen(filled, stdin=stdin, stdout=subprocess.PIPE, start_new_session=True)
    with client.stdout or io.BytesIO() as stream:
        try:
            for line in _lines(stream):
                yield from _told(line, read)
            code = client.wait()
        finally:
            _end(client)
    if code != 0:
        raise Failed(code if code > 0 else 128 - code)


def _file_of(text: str) -> IO[bytes]:
    """A file without a name: the client may read it, or not, in its own time."""
    file = os.fdopen(os.memfd_create("prompt"), "w+b")
    file.write(text.encode("utf-8", "replace"))
    file.seek(0)
    return file


def _lines(stream: IO[bytes]) -> Iterator[bytes]:
    while line := stream.readline(_LONGEST_LINE):
        if line.endswith(b"\n") or len(line) < _LONGEST_LINE:
            yield line
            continue
        while line and not line.endswith(b"\n"):  # the rest of it tells nothing either
            line = stream.readline(_LONGEST_LINE)


def _told(line: bytes, read: Read) -> list[Heard | str]:
    text = line.decode("utf-8", "replace").strip()
    try:
        event = json.loads(text) if text.startswith("{") else None
    except (ValueError, RecursionError):
        event = None
    if isinstance(event, dict):
        return list(read(event))
    return [text] if text else []


def _end(client: "subprocess.Popen[bytes]") -> None:
    """However the turn ends, nothing of the client goes on beside the next one."""
    if client.poll() is None:
        _signal(client, signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            client.wait(_GRACE)
    _signal(client, signal.SIGKILL)  # what it has left in its group
    client.wait()


def _signal(client: "subprocess.Popen[bytes]", number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(client.pid, number)
