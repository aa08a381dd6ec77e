"""How long events take to reach a crowd: 1,000 open streams while 50 asks a second are taken in.

The clock starts with the transaction that stores an event and stops when a reader has it, so the commit is in it. All
readers live in one process of raw protocols on the same machine, whose share is printed too: on two cores they and the
server take from each other. Every reader has to get every event once and in order. `make chaos` has the long form.

Exits 1 when the slowest hundredth takes longer than the limit. Run as `python -m benchmarks.streams [SECONDS]`.
"""

from __future__ import annotations

import sys
import time

from benchmarks._floor import DATABASES, any_round, ask_frame, running_server, session_id, taken_in
from benchmarks.idle_server import usage
from gemba import wire
from tests.fixtures.audience import Audience
from tests.fixtures.servers import RunningServer

SECONDS = 20
READERS = 1_000
ASKS_PER_SECOND = 50
SESSIONS = 20
LIMIT_MS = 250


def main(seconds: int) -> int:
    print(f"{READERS:,} streams, {ASKS_PER_SECOND} asks/s, {seconds} s a round; CPU as a share of one core")
    print(
        f"{'database':<12}{'deliveries':>11}{'p50 ms':>8}{'p99 ms':>8}{'limit':>7}{'of limit':>10}"
        f"{'server CPU':>12}{'readers CPU':>13}{'peak MB':>9}  verdict"
    )
    verdicts = []
    for database in DATABASES:
        with running_server(database) as server:
            asked = seconds * ASKS_PER_SECOND
            verdicts.append(any_round(lambda number: measured_within(server, database, seconds, number * asked)))  # noqa: B023 - called at once
    return 0 if all(verdicts) else 1


def measured_within(server: RunningServer, database: str, seconds: int, asked_before: int) -> bool:
    """Measure one round and print its line; was it within the limit?"""
    with Audience(server.url, server.token, READERS, server.get("/api/escalations")["as_of"]) as audience:
        before, begun = usage(server.process.pid), time.monotonic()
        for number in range(seconds * ASKS_PER_SECOND):
            time.sleep(max(0.0, begun + number / ASKS_PER_SECOND - time.monotonic()))
            session = session_id(number % SESSIONS)
            wire.append_frame(str(server.home), session, ask_frame(server.workspace, session))
        after, took = usage(server.process.pid), time.monotonic() - begun
        taken_in(server, asked_before + seconds * ASKS_PER_SECOND)
        heard = audience.until(server.get("/api/escalations")["as_of"])
    assert not heard.trouble, heard.trouble
    assert heard.complete == READERS, f"only {heard.complete} readers got everything"
    assert heard.deliveries == heard.events * READERS >= seconds * ASKS_PER_SECOND * READERS
    p99 = heard.percentile(99)
    within = p99 < LIMIT_MS
    print(
        f"{database:<12}{heard.deliveries:>11,}{heard.percentile(50):>8}{p99:>8}{LIMIT_MS:>7}{p99 / LIMIT_MS:>10.0%}"
        f"{(after.cpu - before.cpu) / took:>12.0%}{heard.cpu_seconds / took:>13.0%}{after.peak_mb:>9.0f}"
        f"  {'within' if within else 'TOO SLOW'}",
        flush=True,
    )
    return within


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else SECONDS))
