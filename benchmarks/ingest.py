"""How many asks a second become durable: from frames in session logs to escalations stored with their events.

Against the same driver without any of Gemba: one row an ask, inserted and committed by itself, on the same disk under
the same durability (SQLite in WAL with synchronous FULL through `sqlite3`, PostgreSQL with fsync through psycopg). The
frames lie in the logs of many sessions, as after a time without a server, and are taken in many at a time. `live` has
the logs grow one ask at a time, each noticed, taken in and committed by itself: the least favourable case there is.
`plain, batched` is the plain insert with one commit for all: what the database could do for one who does nothing else.

All are measured in turn, and the ratio of medians is judged. Exits 1 below the limit. Run as
`python -m benchmarks.ingest [ASKS]`.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import func, select

from benchmarks._floor import DATABASES, ask_frame, session_id, write_logs
from gemba import wire
from gemba.app import App
from gemba.config import Settings, Workspace
from gemba.escalations.store import escalations
from gemba.watch import FolderWatch
from tests.fixtures.cluster import temporary_cluster

ASKS = 3_000
SESSIONS = 50
ROUNDS = 5
LIMIT = 0.5
_LIVE = 300

Insert = Callable[[list[bytes], bool], None]


def main(asks: int) -> int:
    for name in [name for name in os.environ if name.startswith("GEMBA_")]:
        del os.environ[name]
    print(f"{asks:,} asks of {SESSIONS} sessions, median of {ROUNDS} rounds, asks a second")
    print(f"{'database':<12}{'plain':>9}{'Gemba':>9}{'ratio':>8}{'limit':>8}{'live':>9}{'plain, batched':>17}  verdict")
    verdicts = []
    for database in DATABASES:
        with contextlib.ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gemba-bench-")))
            (folder / "workspace/.gemba").mkdir(parents=True)
            if database == "SQLite":
                url, plain = "", stack.enter_context(plain_sqlite(folder / "plain.db"))
            else:
                cluster = stack.enter_context(temporary_cluster(fsync=True))
                url, plain = cluster.url(), stack.enter_context(plain_postgres(cluster.conninfo()))
            verdicts.append(compare(database, folder, url, plain, asks))
    return 0 if all(verdicts) else 1


def compare(database: str, folder: Path, url: str, plain: Insert, asks: int) -> bool:
    """Print one line of the table; is it within the limit?"""
    os.environ["GEMBA_DATABASE_URL"] = url
    workspace = folder / "workspace"
    frames = [ask_frame(workspace, session_id(number % SESSIONS)) for number in range(asks)]
    done: dict[str, list[float]] = {"plain": [], "batched": [], "Gemba": [], "live": []}
    for number in range(ROUNDS):
        home = folder / f"home-{number}"
        home.mkdir()
        done["plain"].append(per_second(asks, plain, frames, False))
        with contextlib.closing(App.open(Workspace(workspace), Settings(), home)) as app:
            before = stored(app)
            write_logs(home, workspace, SESSIONS, asks)
            done["Gemba"].append(per_second(asks, app.ingest.drain))
            assert stored(app) - before == asks, "not every ask became an escalation"
            done["live"].append(per_second(_LIVE, take_in_singly, app, _LIVE))
            assert stored(app) - before == asks + _LIVE, "not every ask was taken in at once"
        done["batched"].append(per_second(asks, plain, frames, True))
    median = {name: statistics.median(values) for name, values in done.items()}
    ratio = median["Gemba"] / median["plain"]
    print(
        f"{database:<12}{median['plain']:>9,.0f}{median['Gemba']:>9,.0f}{ratio:>8.2f}{LIMIT:>8.2f}{median['live']:>9,.0f}"
        f"{median['batched']:>17,.0f}  {'within' if ratio >= LIMIT else 'TOO SLOW'}",
        flush=True,
    )
    return ratio >= LIMIT


def per_second(many: int, work: Callable[..., object], *arguments: Any) -> float:
    begun = time.perf_counter()
    work(*arguments)
    return many / (time.perf_counter() - begun)


def take_in_singly(app: App, many: int) -> None:
    """Each ask written to its log without a sync of its own, and taken in before the next is written."""
    with FolderWatch(str(app.home / "sessions")) as watch:
        app.ingest.look_again()
        app.ingest.follow(watch)
        for number in range(many):
            session = session_id(number % SESSIONS)
            with Path(wire.log_path(str(app.home), session)).open("ab") as log:
                log.write(ask_frame(app.workspace.root, session))
            app.ingest.follow(watch)


def stored(app: App) -> int:
    with app.database.read() as connection:
        return connection.execute(select(func.count()).select_from(escalations)).scalar_one()


@contextlib.contextmanager
def plain_sqlite(file: Path) -> Iterator[Insert]:
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("CREATE TABLE asks (id INTEGER PRIMARY KEY, frame TEXT NOT NULL)")

        def insert(frames: list[bytes], batched: bool) -> None:
            if batched:
                connection.execute("BEGIN")
            for frame in frames:
                connection.execute("INSERT INTO asks (frame) VALUES (?)", (frame.decode(),))
            if batched:
                connection.execute("COMMIT")

        yield insert


@contextlib.contextmanager
def plain_postgres(conninfo: str) -> Iterator[Insert]:
    with contextlib.closing(psycopg.connect(conninfo, autocommit=True)) as connection:
        connection.execute("CREATE TABLE asks (id bigserial PRIMARY KEY, frame text NOT NULL)")

        def insert(frames: list[bytes], batched: bool) -> None:
            with connection.transaction() if batched else contextlib.nullcontext():
                for frame in frames:
                    connection.execute("INSERT INTO asks (frame) VALUES (%s)", (frame.decode(),))

        yield insert


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ASKS))
