"""The keepers that are known to live, by a handle of each: which of them have ended is one question to the kernel,
however many there are, and a file becomes readable when one has.

A handle is of one process for ever: what gets its id later is never taken for it. What is not known here is looked for
where it lies, in the run's folder. Linux only, as keepers are. Called by `keeping` alone.
"""

from __future__ import annotations

import os
import select
from collections.abc import Collection

from gemba.sessions.backends.run_folder import Keeper


class LivingKeepers:
    """Not for several threads at once, but for `ends`."""

    def __init__(self) -> None:
        self._handles: dict[str, tuple[str, int]] = {}  # by session: the run's id, and the keeper's handle
        self._ends: select.epoll | None = None

    @property
    def ends(self) -> int | None:
        """A file that is readable while one has ended that `among` has not told of; None before there is one."""
        return None if self._ends is None else self._ends.fileno()

    def among(self, session_ids: Collection[str]) -> dict[str, str]:
        """Those of these sessions whose keeper is known to live: the ids of their runs. Others are forgotten."""
        ended = {handle for handle, _ in self._ends.poll(0)} if self._ends is not None else set()
        for session_id, (_, handle) in list(self._handles.items()):
            if handle in ended or session_id not in session_ids:
                self._forget(session_id)
        return {session_id: run_id for session_id, (run_id, _) in self._handles.items()}

    def add(self, session_id: str, keeper: Keeper) -> None:
        """One that was just seen to live; whether it does is asked from now on."""
        self._forget(session_id)
        try:
            handle = os.pidfd_open(keeper.process[0])
        except OSError:  # it has ended, or too many files are open: it is looked for again
            return
        if not keeper.lives:  # looked at after the handle was opened: if this finds the same process, so did that
            os.close(handle)
            return
        self._ends = self._ends or select.epoll()
        self._ends.register(handle, select.EPOLLIN)
        self._handles[session_id] = (keeper.run_id, handle)

    def close(self) -> None:
        for session_id in list(self._handles):
            self._forget(session_id)
        if self._ends is not None:
            self._ends.close()
            self._ends = None

    def _forget(self, session_id: str) -> None:
        _, handle = self._handles.pop(session_id, ("", -1))
        if self._ends is not None and handle != -1:
            self._ends.unregister(handle)
            os.close(handle)
