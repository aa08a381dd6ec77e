"""What it costs to schedule a task of a team run, in a small and in a large run: to claim what can begin, to begin it,
to hand it in, and to end it with what that frees, each in its transaction. No agent, no folder, no git.

The graphs are 30 deep at most and drawn alike. The cost a task must not grow with the run: the ratio of medians between
1,000 and 100 tasks is judged. Exits 1 past the limit. Run as `python -m benchmarks.team_schedule`.
"""

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import insert

from benchmarks._floor import DATABASES
from gemba.store.database import Database, Transaction
from gemba.store.migrate import open_database
from gemba.teams import claiming, finishing, graph, store
from gemba.teams.claiming import Holder
from gemba.teams.run import RunSettings, RunState
from gemba.teams.tables import edges, runs, tasks
from tests.fixtures.cluster import temporary_cluster

SMALL, LARGE, DEPTH = 100, 1_000, 30
ROUNDS = 3
LIMIT = 2.0


def main() -> int:
    print(f"{'':<12}{f'{SMALL} tasks':>14}{f'{LARGE:,} tasks':>14}{'ratio':>8}{'limit':>8}")
    within = True
    for database in DATABASES:
        with _opened(database) as opened:
            rounds = [(_spent(opened, SMALL, n), _spent(opened, LARGE, n)) for n in range(ROUNDS)]
        small, large = (statistics.median(column) for column in zip(*rounds, strict=True))
        ratio = large / small
        within &= ratio <= LIMIT
        print(f"{database:<12}{small:>11.2f} ms{large:>11.2f} ms{ratio:>8.2f}{LIMIT:>8.1f}", flush=True)
    return 0 if within else 1


@contextmanager
def _opened(database: str) -> Iterator[Database]:
    with tempfile.TemporaryDirectory() as folder:
        if database == "SQLite":
            opened = open_database(f"sqlite:///{folder}/gemba.db", Path(folder, "backups"))
            try:
                yield opened
            finally:
                opened.close()
            return
        with temporary_cluster(fsync=True) as cluster:
            opened = open_database(cluster.url(), Path(folder, "backups"))
            try:
                yield opened
            finally:
                opened.close()


def _spent(database: Database, many: int, number: int) -> float:
    """Milliseconds a task, of a whole run that is scheduled to its end."""
    run_id = f"team-{random.Random(many * 100 + number).getrandbits(48):012x}"
    database.change(partial(_plant, run_id=run_id, many=many))
    holder = Holder("benchmark", "here", f"workspace {run_id}", 60_000_000)
    began = time.perf_counter()
    claimed = database.change(partial(claiming.claim_ready, holder=holder))
    while claimed:
        task_id = claimed.pop(0).partition("/")[2]
        for event in ("started", "submitted"):
            database.change(partial(_move, run_id=run_id, task_id=task_id, event=event))
        claimed += database.change(partial(_end, run_id=run_id, task_id=task_id, holder=holder))
    spent = time.perf_counter() - began
    with database.read() as connection:
        assert finishing.states_of(connection, run_id) == {"completed": many}
        assert store.get_run(connection, run_id).state == RunState.COMPLETED
    return spent * 1_000 / many


def _move(tx: Transaction, *, run_id: str, task_id: str, event: str) -> None:
    store.lock_run(tx, run_id)
    store.move_task(tx, store.lock_task(tx, run_id, task_id), event)


def _end(tx: Transaction, *, run_id: str, task_id: str, holder: Holder) -> list[str]:
    store.lock_run(tx, run_id)
    ended = graph.end(tx, store.lock_task(tx, run_id, task_id), "passed")
    if not ended.ready and finishing.finish_if_over(tx, run_id):
        return []
    return [store.ref_of(run_id, task_id) for _, task_id, _ in claiming.claim_in(tx, ended.run, holder)]


def _plant(tx: Transaction, *, run_id: str, many: int) -> None:
    """A run of layers, each task of which waits for up to three of the layer before."""
    draw = random.Random(many)
    tx.connection.execute(insert(runs), _run(tx, run_id, many))
    layers = [list(range(at, many, DEPTH)) for at in range(DEPTH)]
    place = {task: (depth, at) for depth, layer in enumerate(layers) for at, task in enumerate(layer)}
    blockers = {
        task: draw.sample(layers[depth - 1], min(3, len(layers[depth - 1]))) if depth else []
        for task, (depth, _) in place.items()
    }
    ordered = sorted(place, key=lambda task: place[task])
    names = {task: f"IMPL-{number:03}" for number, task in enumerate(ordered, 1)}
    rows = [
        _task(tx, run_id, names[task], at, [names[each] for each in blockers[task]]) for at, task in enumerate(ordered)
    ]
    tx.insert_many(tasks, rows)
    pairs = [(names[before], names[task]) for task in ordered for before in blockers[task]]
    tx.insert_many(edges, [{"run_id": run_id, "blocker": one, "task": other} for one, other in pairs])


def _run(tx: Transaction, run_id: str, many: int) -> dict[str, Any]:
    nothing = {"analysis": "{}", "roles": "[]"}
    return {
        "id": run_id,
        "state": RunState.RUNNING,
        "workspace": f"workspace {run_id}",
        "origin": "here",
        "text": "A run",
        "agent": "builtin",
        "settings": store.json_of(RunSettings(max_parallel=50)),
        **nothing,
        "branch": f"gemba/{run_id}",
        "base": "0" * 40,
        "tasks": many,
        "unended": many,
        "messages": 0,
        "created_by": "benchmark",
        "created_at": tx.now,
        "started_at": tx.now,
        "unwritten": False,
    }


def _task(tx: Transaction, run_id: str, id: str, at: int, blockers: list[str]) -> dict[str, Any]:
    return graph.new_row(
        tx,
        run_id=run_id,
        id=id,
        place=(at + 1) * graph.STEP,
        owner="developer",
        prefix="IMPL",
        goal=f"Do {id}",
        given="{}",
        chain=id,
        inner_loop=False,
        blocked_by=store.json_of(blockers),
        open_blockers=len(blockers),
    )


if __name__ == "__main__":
    sys.exit(main())
