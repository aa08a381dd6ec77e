"""What durable waits cost, and how quickly they end: 500 flows of asks that nobody has answered yet.

First they wait, and the CPU time of the whole process is measured: the engine, its threads and the hub. Then some are
answered one after the other, and for each the time is taken from the answer's commit to the moment at which its flow
continues. The engine has written down by then, synced to disk, that the wait is over; beside it the delivery of each
answer begins, as it does in a server.

Exits 1 past a limit. Run as `python -m benchmarks.waits [SECONDS]`.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, select

from benchmarks._floor import DATABASES, any_round, write_logs
from benchmarks.event_latency import percentile
from gemba import clock
from gemba.app import App
from gemba.config import Settings, Workspace
from gemba.escalations.escalation import Respond
from gemba.escalations.flows import NEWS, EscalationFlows
from gemba.escalations.store import escalations
from gemba.escalations.verbs import respond
from gemba.event import Draft
from gemba.flows import wanted
from gemba.flows.engine import Engine, Flow
from gemba.flows.wanted import Call
from gemba.store.hub import Hub
from gemba.testing import retry_until
from tests.fixtures.cluster import temporary_cluster

SECONDS = 20
WAITS = 500
SESSIONS = 50
ANSWERS = 200
ANSWERS_PER_SECOND = 20
LIMIT_CPU = 0.03
LIMIT_MS = 20.0
_SETTLE_SECONDS = 3.0
_UNREAD = 3_600 * clock.SECOND


class Figures(NamedTuple):
    """The share of a core while waiting, and milliseconds from each answer to its flow."""

    cpu: float
    wakes: list[float]


def main(seconds: int) -> int:
    print(f"{WAITS} waits for {seconds} s, then {ANSWERS} answers, {ANSWERS_PER_SECOND} a second")
    print(
        f"{'database':<12}{'CPU':>8}{'limit':>7}{'wakes':>8}{'p50 ms':>9}{'p99 ms':>9}{'max ms':>9}{'limit':>7}"
        f"{'of limit':>10}  verdict"
    )
    verdicts = [any_round(lambda _: measured_within(database, seconds)) for database in DATABASES]  # noqa: B023 - called at once
    return 0 if all(verdicts) else 1


def measured_within(database: str, seconds: int) -> bool:
    """Measure one round and print its line; was it within the limits?"""
    with workspace_on(database) as app:
        found = asyncio.run(measure(app, seconds))
    p99 = percentile(found.wakes, 99)
    within = found.cpu < LIMIT_CPU and p99 < LIMIT_MS
    print(
        f"{database:<12}{found.cpu:>8.2%}{LIMIT_CPU:>7.0%}{len(found.wakes):>8}{percentile(found.wakes, 50):>9.1f}"
        f"{p99:>9.1f}{max(found.wakes):>9.1f}{LIMIT_MS:>7.0f}{p99 / LIMIT_MS:>10.0%}"
        f"  {'within' if within else 'TOO MUCH'}",
        flush=True,
    )
    return within


@contextmanager
def workspace_on(database: str) -> Iterator[App]:
    """A workspace with so many asks, on an empty database that syncs to disk."""
    for name in [name for name in os.environ if name.startswith("GEMBA_")]:
        del os.environ[name]
    with tempfile.TemporaryDirectory(prefix="gemba-bench-") as folder:
        workspace, home = Path(folder, "workspace"), Path(folder, "home")
        (workspace / ".gemba").mkdir(parents=True)
        home.mkdir()
        write_logs(home, workspace, SESSIONS, WAITS)
        if database == "SQLite":
            with closing(App.open(Workspace(workspace), Settings(), home)) as app:
                yield app
        else:
            with temporary_cluster(fsync=True) as cluster:
                os.environ["GEMBA_DATABASE_URL"] = cluster.url()
                with closing(App.open(Workspace(workspace), Settings(), home)) as app:
                    yield app
                del os.environ["GEMBA_DATABASE_URL"]


def is_answered(connection: Connection, id: str) -> bool:
    return bool(connection.execute(select(escalations.c.resolved).where(escalations.c.id == id)).scalar())


async def measure(app: App, seconds: int) -> Figures:
    continued: dict[str, int] = {}
    all_are = asyncio.Event()

    async def wait(flow: Flow, id: str) -> None:
        await flow.until(id, is_answered, id, since=0, due=None)
        continued[id] = time.monotonic_ns()
        if len(continued) == ANSWERS:
            all_are.set()

    hub = Hub(app.database)
    await hub.start()
    app.database.on_commit.append(hub.tell)
    filling = asyncio.create_task(hub.run())
    table = EscalationFlows(app.policies, app.workspace.root, _UNREAD, lambda: None).table
    engine = Engine(app.database, app.workspace.flows_file, "benchmark", {**table, "wait": wait}, NEWS)
    async with engine.running(hub):
        ids = await asyncio.to_thread(want, app)
        await asyncio.to_thread(retry_until, lambda: len(engine.waits) == WAITS, timeout=60, every=0.1)
        await asyncio.sleep(_SETTLE_SECONDS)
        cpu, begun = time.process_time(), time.monotonic()
        await asyncio.sleep(seconds)
        share = (time.process_time() - cpu) / (time.monotonic() - begun)
        committed = await asyncio.to_thread(answer, app, ids[:ANSWERS])
        async with asyncio.timeout(60):
            await all_are.wait()
    app.database.on_commit.remove(hub.tell)
    filling.cancel()
    assert continued.keys() == committed.keys()
    return Figures(share, [(continued[id] - committed[id]) / 1e6 for id in committed])


def want(app: App) -> list[str]:
    """Take the asks in, and want a flow for each."""
    app.ingest.drain()
    with app.database.transaction() as tx:
        ids = list(tx.connection.execute(select(escalations.c.id)).scalars())
        wanted.want(tx, "wait", [Call(f"wait/{id}", {"id": id}) for id in ids])
        tx.emit(Draft("escalation.reopened", {}, None, ids[0]))
    assert len(ids) == WAITS, len(ids)
    return ids


def answer(app: App, ids: list[str]) -> dict[str, int]:
    """One after the other, at an even pace; when each was committed."""
    committed = {}
    begun = time.monotonic()
    for number, id in enumerate(ids):
        time.sleep(max(0.0, begun + number / ANSWERS_PER_SECOND - time.monotonic()))
        with app.database.transaction() as tx:
            respond(tx, Respond(option=1), id=id)
        committed[id] = time.monotonic_ns()
    return committed


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else SECONDS))
