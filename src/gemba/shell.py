"""Run a program to its end: in a process group of its own, with a deadline and a limit on what it may print.

Whatever happens, the whole group is gone afterwards.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gemba.errors import Unusable


class Result(NamedTuple):
    code: int
    stdout: str
    stderr: str


def run(
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 10.0,
    limit: int = 1_000_000,
    given: bytes = b"",
) -> Result:
    """The program's exit code and its output, each cut to a limit; an Unusable when it cannot run or takes too long.

    What is `given` stands on its stdin.
    """
    try:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise Unusable(f"{command[0]} cannot be run: {error.strerror}", code="program_missing") from None
    with process:
        try:
            stdout, stderr = process.communicate(given, timeout=timeout)
        except subprocess.TimeoutExpired:
            raise Unusable(f"{command[0]} took longer than {timeout:g} s", code="program_slow") from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return Result(process.returncode, _text(stdout, limit), _text(stderr, limit))


def _text(data: bytes, limit: int) -> str:
    return data[:limit].decode("utf-8", "replace")
