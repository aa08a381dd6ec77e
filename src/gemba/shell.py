"""Run a program to its end: in a process group of its own, with a deadline and a limit on what it may print.

Whatever happens, the whole group is gone afterwards, and no more than the limit was kept in memory. A program that
has left children behind is over when it has ended itself: nobody waits for them.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING, NamedTuple, cast

from gemba.errors import Unusable

if TYPE_CHECKING:
    from pathlib import Path  # agents of ours load this file, and would pay for it

_CHUNK = 65536
_PIPE = 1 << 20  # bytes that a pipe can hold at most, unless an administrator allows more
# How often we look whether a program has ended whose children hold its output open. Others are heard at once.
_GLANCE = 0.05


class Result(NamedTuple):
    code: int
    stdout: str
    stderr: str
    cut: bool = False  # it printed more than the limit


def run(
    command: Sequence[str],
    *,
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 10.0,
    limit: int = 1_000_000,
    given: bytes = b"",
    errors: str = "replace",
    inherited: Sequence[int] = (),
) -> Result:
    """The program's exit code and its output, each cut to a limit; an Unusable when it cannot run or takes too long.

    What is `given` stands on its stdin. Output that is no UTF-8 is decoded as `errors` says. Descriptors that it has
    `inherited` stay open until it ends, also when we are killed before: a lock is held as long as somebody works.
    """
    deadline = time.monotonic() + timeout
    try:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=env,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            pass_fds=inherited,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no program can be given these arguments"
        raise Unusable(f"{command[0]} cannot be run: {reason}", code="program_missing") from None
    with process:
        exchange = _Exchange(process, given, limit)
        try:
            exchange.run(deadline)
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise Unusable(f"{command[0]} took longer than {timeout:g} s", code="program_slow") from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    stdout, stderr = (data.decode("utf-8", errors) for data in exchange.kept.values())
    return Result(process.returncode, stdout, stderr, exchange.cut)


class _Exchange:
    """What goes in and comes out of a running program; what comes out beyond the limit is read and dropped."""

    def __init__(self, process: subprocess.Popen[bytes], given: bytes, limit: int) -> None:
        stdin, stdout, stderr = (cast(IO[bytes], pipe) for pipe in (process.stdin, process.stdout, process.stderr))
        self._process, self._stdin, self._given, self._limit = process, stdin, memoryview(given), limit
        self.kept = {stdout.fileno(): bytearray(), stderr.fileno(): bytearray()}
        self.cut = False

    def run(self, deadline: float) -> None:
        """Until the program has ended or has closed all its streams."""
        with selectors.DefaultSelector() as selector:
            for output in self.kept:
                os.set_blocking(output, False)
                selector.register(output, selectors.EVENT_READ)
            if self._given:
                os.set_blocking(self._stdin.fileno(), False)
                selector.register(self._stdin, selectors.EVENT_WRITE)
            else:
                self._stdin.close()
            while selector.get_map() and self._process.poll() is None:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise subprocess.TimeoutExpired(self._process.args, 0)
                for key, _ in selector.select(min(left, _GLANCE)):
                    stays = self._write() if key.fileobj is self._stdin else self._read(key.fd, _CHUNK)
                    if not stays:
                        selector.unregister(key.fileobj)
                        if key.fileobj is self._stdin:
                            self._stdin.close()
        for output in self.kept:  # what the program wrote last
            self._read(output, _PIPE)

    def _write(self) -> bool:
        try:
            self._given = self._given[os.write(self._stdin.fileno(), self._given[:_CHUNK]) :]
        except BlockingIOError:
            return True
        except BrokenPipeError:
            return False
        return bool(self._given)

    def _read(self, output: int, most: int) -> bool:
        try:
            data = os.read(output, most)
        except BlockingIOError:
            return True
        kept = self.kept[output]
        self.cut |= len(data) > self._limit - len(kept)
        kept += data[: max(0, self._limit - len(kept))]
        return bool(data)
