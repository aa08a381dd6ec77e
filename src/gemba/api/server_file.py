"""Which server a workspace has: the lock that only one holds, and the file that tells where it is.

Called by the server, and by commands that look for one.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from gemba import typed
from gemba.config import Workspace
from gemba.errors import Unusable

_COPY_SECONDS = 2.0
_GLANCE = 0.05


class ServerFile(msgspec.Struct, frozen=True):
    """What a running server says of itself, for the commands of the same workspace. Never the token."""

    pid: int
    url: str
    socket: str
    started_at: str
    version: str


@contextmanager
def lock(workspace: Workspace) -> Iterator[None]:
    """One server a workspace; the kernel gives the lock back however the holder ends."""
    try:
        file = os.open(workspace.lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise Unusable(f"{workspace.lock_file}: {error.strerror}", code="workspace_unwritable") from None
    try:
        _take(file, workspace)
        yield
    finally:
        os.close(file)


def _take(file: int, workspace: Workspace) -> None:
    """Refused while a server has it. One that was killed while it started a program leaves the lock a moment longer to
    the copy of itself that was to become that program."""
    until = time.monotonic() + _COPY_SECONDS
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            running = read_server_file(workspace)
            if running is None or _lives(running.pid) or time.monotonic() > until:
                where = f" at {running.url} (process {running.pid})" if running else ""
                told = f"a server of this workspace runs already{where}; `gemba open` shows it"
                raise Unusable(told, code="already_running") from None
        time.sleep(_GLANCE)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def read_server_file(workspace: Workspace) -> ServerFile | None:
    try:
        return typed.decode(workspace.server_file.read_bytes(), ServerFile)
    except (OSError, msgspec.MsgspecError):
        return None


@contextmanager
def announced(workspace: Workspace, told: ServerFile) -> Iterator[None]:
    """While it lasts, the workspace's commands find the server: its sockets take connections already."""
    partial = workspace.server_file.with_suffix(".partial")
    try:
        partial.write_bytes(msgspec.json.encode(told))
        partial.replace(workspace.server_file)
    except OSError as error:
        raise Unusable(f"{workspace.server_file}: {error.strerror}", code="workspace_unwritable") from None
    try:
        yield
    finally:
        workspace.server_file.unlink(missing_ok=True)
