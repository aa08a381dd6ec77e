"""What a server costs while nothing happens: share of a core, memory, and processes started.

200 sessions are known and 100 escalations open; first without clients, then with streams open, as of pages that are
left in a tab. Exits 1 past a limit. Run as `python -m benchmarks.idle_server [SECONDS]`.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks._floor import DATABASES, ask_frame, running_server, session_id, start_sessions, taken_in
from gemba import wire
from tests.fixtures.servers import RunningServer

SECONDS = 30
SESSIONS = 200
ESCALATIONS = 100
STREAMS = 5
LIMIT_CPU = 0.02
LIMIT_MB = 150.0
_SETTLE_SECONDS = 2.0
_TICKS = os.sysconf("SC_CLK_TCK")


class Usage(NamedTuple):
    """What /proc says of a process: CPU seconds, the most memory it ever had, and a measure of its children.

    Page faults of children that were waited for grow with every process that was started and ended.
    """

    cpu: float
    peak_mb: float
    child_faults: int
    children: int


def main(seconds: int) -> int:
    print(f"{SESSIONS} sessions, {ESCALATIONS} open escalations, {seconds} s each")
    print(f"{'database':<12}{'streams':>8}{'CPU':>9}{'limit':>8}{'peak MB':>10}{'limit':>8}{'processes':>11}  verdict")
    verdicts = []
    for database in DATABASES:
        with running_server(database) as server:
            fill(server)
            for streams in (0, STREAMS):
                for _ in range(streams):
                    server.events()
                verdicts.append(watch(server, database, streams, seconds))
    return 0 if all(verdicts) else 1


def fill(server: RunningServer) -> None:
    start_sessions(server, SESSIONS)
    for number in range(ESCALATIONS):
        session = session_id(number)
        wire.append_frame(str(server.home), session, ask_frame(server.workspace, session))
    taken_in(server, SESSIONS + ESCALATIONS)


def watch(server: RunningServer, database: str, streams: int, seconds: int) -> bool:
    """Print one line of the table; is it within the limits?"""
    time.sleep(_SETTLE_SECONDS)
    pid = server.process.pid
    before, begun = usage(pid), time.monotonic()
    time.sleep(seconds)
    after = usage(pid)
    share = (after.cpu - before.cpu) / (time.monotonic() - begun)
    started = after.child_faults != before.child_faults or after.children > 0
    within = share < LIMIT_CPU and after.peak_mb < LIMIT_MB and not started
    print(
        f"{database:<12}{streams:>8}{share:>9.2%}{LIMIT_CPU:>8.0%}{after.peak_mb:>10.1f}{LIMIT_MB:>8.0f}"
        f"{'some' if started else 'none':>11}  {'within' if within else 'TOO MUCH'}",
        flush=True,
    )
    return within


def usage(pid: int) -> Usage:
    # The program's name stands in brackets and may hold anything; the numbers follow the last of them.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    child_faults, user, system = int(fields[8]), int(fields[11]), int(fields[12])
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    children = sum(len(file.read_text().split()) for file in Path(f"/proc/{pid}/task").glob("*/children"))
    return Usage((user + system) / _TICKS, int(status["VmHWM"].split()[0]) / 1024, child_faults, children)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else SECONDS))
