"""How long an ask takes to reach an operator's screen: from the call that appends it to the event on an open stream.

200 sessions live; processes of their own append 20 asks a second in all, each with the moment of the call in it, on
the clock that all processes of a machine share. Several streams read. Every ask has to arrive on each of them once.
SQLite and PostgreSQL both sync to disk. Exits 1 when the slowest hundredth takes longer than the limit.
Run as `python -m benchmarks.event_latency [SECONDS]`.
"""

from __future__ import annotations

import math
import multiprocessing
import random
import sys
import threading
import time
from pathlib import Path

from benchmarks._floor import DATABASES, ask_frame, running_server, session_id, start_sessions
from gemba import wire
from tests.fixtures.servers import RunningServer, Stream

SECONDS = 20
SESSIONS = 200
ASKS_PER_SECOND = 20
WRITERS = 4
STREAMS = 5
LIMIT_MS = 50.0
WARM_UP_SECONDS = 2


def main(seconds: int) -> int:
    print(f"{SESSIONS} sessions, {ASKS_PER_SECOND} asks/s by {WRITERS} processes, {STREAMS} streams, {seconds} s each")
    print(f"{'database':<12}{'asks':>7}{'p50 ms':>9}{'p99 ms':>9}{'max ms':>9}{'limit':>8}{'of limit':>10}  verdict")
    verdicts = []
    for database in DATABASES:
        with running_server(database) as server:
            latencies = measure(server, seconds)
        p50, p99, most = percentile(latencies, 50), percentile(latencies, 99), max(latencies)
        verdicts.append(p99 < LIMIT_MS)
        print(
            f"{database:<12}{len(latencies) // STREAMS:>7}{p50:>9.1f}{p99:>9.1f}{most:>9.1f}{LIMIT_MS:>8.0f}"
            f"{p99 / LIMIT_MS:>9.0%}   {'within' if verdicts[-1] else 'TOO SLOW'}",
            flush=True,
        )
    return 0 if all(verdicts) else 1


class Reader(threading.Thread):
    """Notes when each ask arrives on one stream; ends when all have."""

    def __init__(self, stream: Stream, many: int) -> None:
        super().__init__()
        self._stream = stream
        self._many = many
        self.moments: list[tuple[int, int]] = []  # when it was asked, when it arrived

    def run(self) -> None:
        while len(self.moments) < self._many:
            event = self._stream.next()
            self.moments.append((int(event["data"]["payload"]["title"]), time.monotonic_ns()))


def measure(server: RunningServer, seconds: int) -> list[float]:
    """Milliseconds of every ask on every stream."""
    start_sessions(server, SESSIONS)
    each = ASKS_PER_SECOND * (WARM_UP_SECONDS + seconds) // WRITERS
    readers = [Reader(server.events("?name=escalation_opened"), each * WRITERS) for _ in range(STREAMS)]
    begin = time.monotonic() + 1
    context = multiprocessing.get_context("spawn")
    places = (server.home, server.workspace)
    writers = [context.Process(target=write, args=(*places, number, each, begin)) for number in range(WRITERS)]
    for writer in writers:
        writer.start()
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    for writer in writers:
        writer.join()
    assert all(writer.exitcode == 0 for writer in writers)
    for reader in readers:
        assert len({asked for asked, _ in reader.moments}) == each * WRITERS, "an ask arrived twice"
    measured_from = int((begin + WARM_UP_SECONDS) * 1e9)
    return [(seen - asked) / 1e6 for reader in readers for asked, seen in reader.moments if asked >= measured_from]


def write(home: Path, workspace: Path, number: int, many: int, begin: float) -> None:
    """One process that asks for its share of the sessions, at moments drawn around an even beat."""
    draw = random.Random(number)
    beat = WRITERS / ASKS_PER_SECOND
    for turn in range(many):
        time.sleep(max(0.0, begin + (turn + draw.random()) * beat - time.monotonic()))
        session = session_id(draw.randrange(number, SESSIONS, WRITERS))
        asked = time.monotonic_ns()
        wire.append_frame(str(home), session, ask_frame(workspace, session, title=str(asked)))


def percentile(values: list[float], percent: int) -> float:
    """The smallest value that so many percent of the values do not exceed."""
    return sorted(values)[math.ceil(len(values) * percent / 100) - 1]


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else SECONDS))
