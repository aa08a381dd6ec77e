"""A crowd of readers: every event reaches each of them once, in order and soon, and the server stays small."""

import random
import time
from pathlib import Path

import pytest

from gemba.testing import SEED, effort, retry_until
from tests.fixtures.audience import Audience
from tests.fixtures.machine import DISTURBED, Stolen
from tests.fixtures.servers import BIN, RunningServer

READERS = effort(100, 1_000)
SECONDS = effort(3, 300)
ASKS_PER_SECOND = 50
SESSIONS = 20
# The short form runs beside other tests, which take its time; its limit only says that nobody is forgotten.
LIMIT_MS = effort(2_500, 250)
MOST_MB = 200
MOST_GROWTH_MB = 32


@pytest.mark.chaos
@pytest.mark.alone
@pytest.mark.timeout(effort(120, 900))
def test_a_crowd_of_readers_misses_nothing_while_asks_keep_coming(server: RunningServer) -> None:
    draw = random.Random(SEED)
    asks = SECONDS * ASKS_PER_SECOND
    with Audience(server.url, server.token, READERS, server.get("/api/escalations")["as_of"]) as audience:
        begun, used, stolen = time.monotonic(), cpu_seconds(server), Stolen()
        warm = 0.0
        for number in range(asks):
            # There is nothing to wait for but the moment itself.
            time.sleep(max(0.0, begun + (number + draw.random()) / ASKS_PER_SECOND - time.monotonic()))
            ask = {"kind": "question", "role": "manager", "mode": "balanced", "text": f"Shall I go on with {number}?"}
            server.append("GembaAsk", ask, f"session-{draw.randrange(SESSIONS)}")
            if number == asks // 3:
                warm = memory_mb(server)
        busy = (cpu_seconds(server) - used) / (time.monotonic() - begun)
        retry_until(lambda: server.get("/api/doctor")["counters"].get("frames_ingested") == asks, timeout=60)
        heard = audience.until(server.get("/api/escalations")["as_of"])
        memory, taken = memory_mb(server), stolen.share

    print(
        f"{READERS} readers, {heard.events} events, {heard.deliveries} deliveries: p50 {heard.percentile(50)} ms, "
        f"p99 {heard.percentile(99)} ms; server {busy:.0%} of a core, {warm:.0f} MB, {memory:.0f} MB in the end; "
        f"{taken:.1%} of the machine went to others"
    )
    assert heard.trouble == []
    assert heard.complete == READERS
    assert heard.events >= asks
    assert heard.deliveries == heard.events * READERS
    assert heard.percentile(99) < LIMIT_MS or taken > DISTURBED
    assert memory < MOST_MB
    assert memory - warm < MOST_GROWTH_MB


def test_more_readers_than_a_process_may_usually_open_files(stopped_server: RunningServer) -> None:
    few = ("/bin/sh", "-c", 'ulimit -S -n 64 && exec "$0" "$@"', str(BIN / "gemba"))
    stopped_server.start(few)
    with Audience(stopped_server.url, stopped_server.token, 100, 0) as audience:
        stopped_server.append("GembaAsk", {"kind": "question", "role": "coach", "text": "Can all of you hear me?"})
        stopped_server.events("?after=0").until("escalation_opened")
        heard = audience.until(stopped_server.get("/api/escalations")["as_of"])

    assert (heard.trouble, heard.complete) == ([], 100)


def memory_mb(server: RunningServer) -> float:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def cpu_seconds(server: RunningServer) -> float:
    # In nanoseconds, of all its threads that live; those of the pool and of the loops do.
    schedules = Path(f"/proc/{server.process.pid}/task").glob("*/schedstat")
    return sum(int(file.read_text().split()[0]) for file in schedules) / 1e9
