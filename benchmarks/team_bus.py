"""How many messages a second five writers make durable on the bus of one team run.

Each writer is a process with connections of its own, and all post to the same run, so that every post waits for the
number that the one before it took: the least favourable case there is. A quarter of the messages are state updates,
which are merged into the states of three tasks. In batches, as agents post what they have gathered and the engine what
a turn led to, it has to be 1,000 a second, on SQLite (WAL, synchronous FULL) and on PostgreSQL with fsync; what one by
one comes to, with a commit and an event each, stands beside it. What is there afterwards is counted, and is gapless.

Exits 1 below the limit. Run as `python -m benchmarks.team_bus [MESSAGES]`.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sqlalchemy import func, select

from benchmarks._floor import DATABASES, any_round
from gemba.store.migrate import open_database
from gemba.teams.bus_reads import StateQuery, list_states
from gemba.teams.tables import messages
from tests.fixtures import team_writer
from tests.fixtures.cluster import temporary_cluster
from tests.fixtures.teams import RUN, TASKS, new_run

MESSAGES = 10_000
SINGLE = 500
WRITERS = 5
BATCH = 50
PER_SECOND = 1_000


def main(many: int) -> int:
    many -= many % (WRITERS * BATCH)
    print(f"{WRITERS} writers, {many:,} messages in batches of {BATCH}, {SINGLE} one by one; messages a second")
    print(f"{'database':<12}{'in batches':>12}{'limit':>9}{'one by one':>12}  verdict")
    fine = True
    for database in DATABASES:
        fine = any_round(lambda _, database=database: compare(database, many)) and fine  # type: ignore[misc]
    return 0 if fine else 1


def compare(database: str, many: int) -> bool:
    """Print one line of the table; is it within the limit?"""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gemba-bench-")))
        if database == "SQLite":
            url = f"sqlite:///{folder / 'gemba.db'}"
        else:
            url = stack.enter_context(temporary_cluster(fsync=True)).url()
        with contextlib.closing(open_database(url, folder / "backups")) as store, store.transaction() as tx:
            new_run(tx)
        rate = per_second(url, folder, many, BATCH)
        single = per_second(url, folder, SINGLE, 1)
        check(url, folder, many + SINGLE)
    verdict = "within" if rate >= PER_SECOND else "TOO SLOW"
    print(f"{database:<12}{rate:>12,.0f}{PER_SECOND:>9,}{single:>12,.0f}  {verdict}", flush=True)
    return rate >= PER_SECOND


def per_second(url: str, folder: Path, many: int, batch: int) -> float:
    """From the moment at which all may begin to the last commit of all."""
    each = many // WRITERS
    writers = []
    try:
        for number in range(WRITERS):
            told = {"url": url, "writer": number, "many": each, "batch": batch, "wait": True}
            command = [sys.executable, "-m", team_writer.__name__, json.dumps(told)]
            writers.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
        begun = time.perf_counter()
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.write("go\n")
            writer.stdin.flush()
        codes = [writer.wait() for writer in writers]
        seconds = time.perf_counter() - begun
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
    assert codes == [0] * WRITERS, codes
    return many / seconds


def check(url: str, folder: Path, many: int) -> None:
    """Every message is there, without a gap, and every state that was reported."""
    with contextlib.closing(open_database(url, folder / "backups")) as store, store.read() as connection:
        numbers = select(func.count(), func.min(messages.c.id), func.max(messages.c.id))
        assert connection.execute(numbers).one() == (many, 1, many), "messages are missing"
        updates = select(func.count()).where(messages.c.type == "state_update")
        kept = list_states(connection, RUN, StateQuery()).states
        assert {state.task_id for state in kept} == {*TASKS}
        reported = {*(text for state in kept for text in state.key_findings)}
        assert len(reported) <= connection.execute(updates).scalar_one()
        assert len(reported) >= (many - SINGLE) // 4, "states are missing"


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else MESSAGES))
