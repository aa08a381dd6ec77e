"""Waiting for changes in one folder: inotify where there is one, looking at intervals elsewhere.

What changes after a `FolderWatch` was made is reported, at the latest by the next `wait`: make the watch first, then
look, and no change falls in between. The folder may be deleted, moved and made anew. A waiting thread costs one
`stat` every few seconds.

Called by `gemba-ask --wait` (on the replies) and by the tailer (on the session logs). Standard library only.
"""

import contextlib
import errno
import math
import os
import select
import stat
import struct
import sys
import threading
import time
from types import TracebackType

POLL_SECONDS = 0.2  # between two looks when nothing announces a change
CHECK_SECONDS = 5.0  # between two looks whether the path still names the watched folder: its parent may have moved

_IN_MODIFY, _IN_MOVED_FROM, _IN_MOVED_TO, _IN_CREATE, _IN_DELETE = 0x2, 0x40, 0x80, 0x100, 0x200
_IN_DELETE_SELF, _IN_MOVE_SELF, _IN_UNMOUNT, _IN_Q_OVERFLOW, _IN_IGNORED = 0x400, 0x800, 0x2000, 0x4000, 0x8000
_IN_ONLYDIR = 0x0100_0000
_INSIDE = _IN_MODIFY | _IN_MOVED_FROM | _IN_MOVED_TO | _IN_CREATE | _IN_DELETE
_GONE = _IN_DELETE_SELF | _IN_MOVE_SELF | _IN_UNMOUNT | _IN_IGNORED
_EVENT = struct.Struct("iIII")  # watch, mask, cookie, length of the name that follows

Identity = tuple[int, int]
Entry = tuple[str, int, int, int]
Signature = tuple[Identity, frozenset[Entry]]


class _Inotify:
    """The kernel's three calls, with errors as OSError."""

    def __init__(self) -> None:
        import ctypes

        self._errno = ctypes.get_errno
        self._libc = ctypes.CDLL(None, use_errno=True)
        self.fd = self._checked(self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))

    def add(self, folder: str) -> int:
        mask = _INSIDE | _IN_DELETE_SELF | _IN_MOVE_SELF | _IN_ONLYDIR
        return self._checked(self._libc.inotify_add_watch(self.fd, os.fsencode(folder), mask))

    def remove(self, watch: int) -> None:
        self._libc.inotify_rm_watch(self.fd, watch)  # fails only when the kernel has dropped it already

    def events(self) -> list[tuple[int, int, str]]:
        """(watch, mask, name) of what is pending, as far as it fits one read."""
        try:
            data = os.read(self.fd, 65536)
        except BlockingIOError:
            return []
        found, at = [], 0
        while at < len(data):
            watch, mask, _, length = _EVENT.unpack_from(data, at)
            at += _EVENT.size
            found.append((watch, mask, os.fsdecode(data[at : at + length].rstrip(b"\0"))))
            at += length
        return found

    def _checked(self, result: int) -> int:
        if result == -1:
            raise OSError(self._errno(), os.strerror(self._errno()))
        return result


class FolderWatch:
    """Reports changes in `folder`, which need not exist yet. One thread waits; any may wake it."""

    def __init__(self, folder: str, *, polling: bool = False) -> None:
        self._folder = folder
        self._lock = threading.RLock()  # re-entrant: a signal handler may wake while its thread closes
        self._closed = False
        self._wake_end, self._wake_start = os.pipe()
        os.set_blocking(self._wake_end, False)
        os.set_blocking(self._wake_start, False)
        self._poll = select.poll()
        self._poll.register(self._wake_end, select.POLLIN)
        self._inotify = None if polling else _open_inotify()
        if self._inotify:
            self._poll.register(self._inotify.fd, select.POLLIN)
        self._watch: int | None = None
        self._seen: Signature | None = None
        self._arm()

    @property
    def fd(self) -> int | None:
        """What is readable once there is news, for whoever waits for more than this folder; `wait(0)` then has it.

        None where nothing announces any: `wait` has to be called at intervals.
        """
        return self._inotify.fd if self._inotify and self._watch is not None else None

    def wait(self, timeout: float | None) -> set[str] | None:
        """The names that changed; empty after the timeout (seconds) or `wake`; None: anything may have changed."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            step = POLL_SECONDS if self._watch is None else CHECK_SECONDS
            if deadline is not None:
                step = min(step, max(0.0, deadline - time.monotonic()))
            ready = [fd for fd, _ in self._poll.poll(math.ceil(step * 1000))]
            if self._wake_end in ready:
                os.read(self._wake_end, 65536)
                return set()
            if ready:
                changed = self._read()
                if changed is None or changed:
                    return changed
            elif self._look() != self._seen:
                self._arm()
                return None
            if deadline is not None and time.monotonic() >= deadline:
                return set()

    def wake(self) -> None:
        """Ends the wait that runs, or the next one. From any thread or signal handler; nothing after `close`."""
        with self._lock:
            if not self._closed:
                with contextlib.suppress(BlockingIOError):  # the pipe is full of wakes already
                    os.write(self._wake_start, b"\0")

    def close(self) -> None:
        """Not while another thread waits: wake and join it first."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            os.close(self._wake_start)
            os.close(self._wake_end)
            if self._inotify:
                os.close(self._inotify.fd)

    def __enter__(self) -> "FolderWatch":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read(self) -> set[str] | None:
        names: set[str] = set()
        anything = False
        for watch, mask, name in self._inotify.events() if self._inotify else []:
            if mask & _IN_Q_OVERFLOW:
                anything = True
            elif watch == self._watch:  # else what was still queued of a folder that was left
                if mask & _GONE:
                    self._arm()
                    return None
                names.add(name)
        return None if anything else names

    def _arm(self) -> None:
        """Watch whatever the path names now; without a folder, or without inotify, `_watch` is None and we look."""
        while True:
            self._seen = self._look()
            if self._inotify is None:
                return
            if self._watch is not None:
                self._inotify.remove(self._watch)
                self._watch = None
            try:
                self._watch = self._inotify.add(self._folder)
            except OSError as error:
                if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                    self._give_up_inotify()
                    continue
            if self._look() == self._seen:  # else the folder was replaced between the look and the watch
                return

    def _give_up_inotify(self) -> None:
        """The user's limit of watches is reached, or the file system has none."""
        if self._inotify:
            self._poll.unregister(self._inotify.fd)
            os.close(self._inotify.fd)
            self._inotify = None

    def _look(self) -> Signature | None:
        """What a change alters: which folder it is and, when nothing announces more, all that it holds."""
        try:
            folder = os.stat(self._folder)
            if not stat.S_ISDIR(folder.st_mode):  # it may yet give way to a folder, even one of the same inode
                return None
            identity = (folder.st_dev, folder.st_ino)
            return identity, frozenset() if self._inotify else frozenset(_entries(self._folder))
        except OSError:
            return None


def _open_inotify() -> _Inotify | None:
    if sys.platform != "linux":
        return None
    try:
        return _Inotify()
    except (OSError, ImportError):  # the user's limit of instances is reached, or Python came without ctypes
        return None


def _entries(folder: str) -> list[Entry]:
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                facts = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            found.append((entry.name, facts.st_ino, facts.st_size, facts.st_mtime_ns))
    return found
