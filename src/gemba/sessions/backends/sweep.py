"""End what is left of a run whose keeper was killed: the agent died with it, what the agent had started did not.

Found by the run's id in its environment, or by its number, which whatever the agent starts inherits. Called by the
backends, and by whoever finds a run without a keeper.
"""

from __future__ import annotations

import hashlib
import signal
import time

from gemba.errors import Unusable
from gemba.sessions.keeper.process_tree import marked, send_signal, wait_ended

_PATIENCE = 10.0  # seconds until a process that survives SIGKILL is told of


def number_of(run_id: str) -> int:
    """The run's own number, by which its processes are known: no other run has it, and no limit is as large."""
    return 1 << 61 | int.from_bytes(hashlib.sha256(run_id.encode()).digest()[:7], "big")


def sweep(session_id: str, run_id: str) -> int:
    """Kill every process of the run; how many there were. Unusable when one stays."""
    swept = set()
    deadline = time.monotonic() + _PATIENCE
    while found := marked(f"GEMBA_RUN_ID={run_id}", number_of(run_id)):
        if time.monotonic() > deadline:
            stays = ", ".join(str(pid) for pid, _ in found)
            raise Unusable(f"session {session_id}: process {stays} cannot be ended", code="process_stays")
        for process in found:
            send_signal(process, signal.SIGKILL)
        for process in found:  # what it forked meanwhile is found by the next look
            wait_ended(process, max(0.0, deadline - time.monotonic()))
        swept.update(found)
    return len(swept)
