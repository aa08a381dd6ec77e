"""How long an ask takes to reach an operator's screen: from the call that appends it to the event on an open stream.

200 sessions live; processes of their own append 20 asks a second in all, each with the moment of the call in it, on
the clock that all processes of a machine share. Several streams read. Every ask has to arrive on each of them once.
SQLite and PostgreSQL both sync to disk; `append` is the part of it that passes before the server can know anything.

Exits 1 when the slowest hundredth takes longer than the limit. Run as `python -m benchmarks.event_latency [SECONDS]`.
"""

from __future__ import annotations

import math
import multiprocessing
import random
import sys
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from benchmarks._floor import DATABASES, any_round, ask_frame, running_server, session_id, start_sessions
from gemba import wire
from tests.fixtures.servers import RunningServer, Stream

SECONDS = 20
SESSIONS = 200
ASKS_PER_SECOND = 20
WRITERS = 4
STREAMS = 5
LIMIT_MS = 50.0
_WARM_UP_SECONDS = 2
_SECOND_NS = 1_000_000_000


class Times(NamedTuple):
    """Milliseconds: of every ask on every stream, and of every append."""

    asks: list[float]
    appends: list[float]


def main(seconds: int) -> int:
    print(
        f"{SESSIONS} sessions, {ASKS_PER_SECOND} asks/s by {WRITERS} processes, {STREAMS} streams, {seconds} s a round"
    )
    print(
        f"{'database':<12}{'asks':>6}{'append p99':>12}{'p50 ms':>9}{'p99 ms':>9}{'max ms':>9}{'limit':>7}"
        f"{'of limit':>10}  verdict"
    )
    verdicts = []
    for database in DATABASES:
        with running_server(database) as server:
            start_sessions(server, SESSIONS)
            verdicts.append(any_round(lambda _: measured_within(server, database, seconds)))  # noqa: B023 - called at once
    return 0 if all(verdicts) else 1


def measured_within(server: RunningServer, database: str, seconds: int) -> bool:
    """Measure one round and print its line; was it within the limit?"""
    times = measure(server, seconds)
    p99 = percentile(times.asks, 99)
    within = p99 < LIMIT_MS
    print(
        f"{database:<12}{len(times.asks) // STREAMS:>6}{percentile(times.appends, 99):>12.1f}"
        f"{percentile(times.asks, 50):>9.1f}{p99:>9.1f}{max(times.asks):>9.1f}{LIMIT_MS:>7.0f}{p99 / LIMIT_MS:>10.0%}"
        f"  {'within' if within else 'TOO SLOW'}",
        flush=True,
    )
    return within


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
        self._stream.close()


def measure(server: RunningServer, seconds: int) -> Times:
    each = ASKS_PER_SECOND * (_WARM_UP_SECONDS + seconds) // WRITERS
    readers = [Reader(server.events("?name=escalation_opened"), each * WRITERS) for _ in range(STREAMS)]
    context = multiprocessing.get_context("spawn")
    pipes = [context.Pipe() for _ in range(WRITERS)]
    for number, (_, end) in enumerate(pipes):
        context.Process(target=write, args=(server.home, server.workspace, number, each, end), daemon=True).start()
    for reader in readers:
        reader.start()
    for pipe, _ in pipes:
        pipe.recv()
    begin = time.monotonic_ns() + _SECOND_NS // 10
    for pipe, _ in pipes:
        pipe.send(begin)
    appended: list[tuple[int, int]] = [moments for pipe, _ in pipes for moments in pipe.recv()]
    for reader in readers:
        reader.join()
        assert sorted(asked for asked, _ in reader.moments) == sorted(asked for asked, _ in appended)
    measured_from = begin + _WARM_UP_SECONDS * _SECOND_NS
    return Times(
        [(seen - asked) / 1e6 for reader in readers for asked, seen in reader.moments if asked >= measured_from],
        [(done - asked) / 1e6 for asked, done in appended if asked >= measured_from],
    )


def write(home: Path, workspace: Path, number: int, many: int, pipe: Connection) -> None:
    """One process that asks for its share of the sessions, at moments drawn around an even beat."""
    draw = random.Random(number)
    beat = _SECOND_NS * WRITERS // ASKS_PER_SECOND
    pipe.send("ready")
    begin: int = pipe.recv()
    moments = []
    for turn in range(many):
        due = begin + int((turn + draw.random()) * beat)
        time.sleep(max(0, due - time.monotonic_ns()) / _SECOND_NS)
        session = session_id(draw.randrange(number, SESSIONS, WRITERS))
        asked = time.monotonic_ns()
        wire.append_frame(str(home), session, ask_frame(workspace, session, title=str(asked)))
        moments.append((asked, time.monotonic_ns()))
    pipe.send(moments)


def percentile(values: list[float], percent: int) -> float:
    """The smallest value that so many percent of the values do not exceed."""
    return sorted(values)[math.ceil(len(values) * percent / 100) - 1]


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else SECONDS))
