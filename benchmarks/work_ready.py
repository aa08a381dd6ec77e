"""What work costs where there is much of it: reading what is ready, making an item and judging a new relation.

Each is measured through a real server, on a small plan (1,000 items) and on a large one (100,000 items and 300,000
relations: parts of epics, blockers before them), and the ratio is judged: what is ready is read from an index, so a
hundred times the items may cost three times the time at most. Every read follows a change, so that none is answered
from memory. Making an item is compared with an empty database. Plans are inserted as an import would.

Exits 1 beyond a limit. Run as `python -m benchmarks.work_ready [SAMPLES]`.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from benchmarks._floor import DATABASES, any_round, running_server
from gemba.config import Settings, Workspace
from gemba.store.database import connect
from gemba.work.batch import Given, insert_many
from gemba.work.item import Kind, Relation, State
from gemba.work.relations import Ends
from gemba.work.store import NewItem, clean_values
from tests.fixtures.servers import RunningServer

SAMPLES = 200
SMALL, LARGE = 1_000, 100_000
RELATIONS = 3  # an item: one to its epic, the others to what it waits for
PARTS = 50  # of an epic
READY_MILLISECONDS = 20.0
READY_RATIO, MAKE_RATIO, RELATE_RATIO = 3.0, 1.5, 3.0
INSERTED_PER_SECOND = 5_000


class Times(NamedTuple):
    """Milliseconds: the median, and what 99 of 100 stay within."""

    median: float
    most: float


def main(samples: int) -> int:
    print(f"{samples} samples each; plans of {SMALL:,} and {LARGE:,} items with {RELATIONS} relations an item")
    print(f"{'database':<12}{'what':<22}{'small ms':>10}{'large ms':>10}{'99 %':>9}{'ratio':>8}{'limit':>8}  verdict")
    verdicts = [judged(database, samples) for database in DATABASES]
    return 0 if all(verdicts) else 1


def judged(database: str, samples: int) -> bool:
    with running_server(database) as server:
        empty = measured(samples, lambda: make(server))
    small, _ = measure_plan(database, SMALL, samples)
    large, rate = measure_plan(database, LARGE, samples)
    rows = [
        ("ready, after a change", small["ready"], large["ready"], READY_RATIO),
        ("make an item (empty)", empty, large["make"], MAKE_RATIO),
        ("relate two", small["relate"], large["relate"], RELATE_RATIO),
    ]
    fine = rate >= INSERTED_PER_SECOND and large["ready"].most <= READY_MILLISECONDS
    for name, less, more, limit in rows:
        ratio = more.median / less.median
        fine = fine and ratio <= limit
        print(
            f"{database:<12}{name:<22}{less.median:>10.2f}{more.median:>10.2f}{more.most:>9.2f}{ratio:>8.2f}{limit:>8.1f}"
            f"  {'within' if ratio <= limit else 'TOO SLOW'}",
            flush=True,
        )
    print(f"{database:<12}insert many: {rate:,.0f} items a second; at least {INSERTED_PER_SECOND:,}", flush=True)
    return fine


def measure_plan(database: str, size: int, samples: int) -> tuple[dict[str, Times], float]:
    with running_server(database) as server:
        rate = fill(server, size)
        draw = random.Random(1)
        ends = iter(fresh_ends(size, draw))

        def read() -> Callable[[], Any]:
            make(server)
            return lambda: server.get("/api/work-items/ready?limit=50")

        def relate() -> None:
            one, other = next(ends)
            server.post(f"/api/work-items/{one}/relations", {"kind": "blocks", "target": other})

        readings: list[Times] = []

        def read_within(_round: int) -> bool:
            readings.append(measured_after(samples, read))
            return readings[-1].most <= READY_MILLISECONDS

        any_round(read_within)
        found = {
            "ready": readings[-1],
            "make": measured(samples, lambda: make(server)),
            "relate": measured(samples, relate),
        }
    return found, rate


def make(server: RunningServer) -> None:
    assert server.request("POST", "/api/work-items", {"item": {"title": "One more", "priority": 3}}).status == 201


def measured(samples: int, act: Callable[[], Any]) -> Times:
    return measured_after(samples, lambda: act)


def measured_after(samples: int, prepare: Callable[[], Callable[[], Any]]) -> Times:
    times: list[float] = []
    for _ in range(samples + 5):
        act = prepare()
        begun = time.perf_counter()
        act()
        times.append((time.perf_counter() - begun) * 1000)
    kept = times[5:]  # the first open connections and compile statements
    return Times(statistics.median(kept), statistics.quantiles(kept, n=100)[98])


def fill(server: RunningServer, size: int) -> float:
    """Insert a plan in one transaction, while no server waits for its end; items a second."""
    server.stop()
    workspace = Workspace(Path(server.workspace))
    store = connect(server.environment["GEMBA_DATABASE_URL"] or workspace.database_url(Settings()))
    store.surroundings["work_prefix"] = "bench"
    given, edges = plan(size)
    begun = time.perf_counter()
    try:
        with store.transaction() as tx:
            insert_many(tx, given, edges)
    finally:
        store.close()
    rate = len(given) / (time.perf_counter() - begun)
    server.start()
    return rate


def plan(size: int) -> tuple[list[Given], list[Ends]]:
    """Epics with their parts; each part waits for two that came before it, of which most are done."""
    draw = random.Random(0)
    given: list[Given] = []
    edges: dict[Ends, None] = {}
    epic = ""
    for number in range(size):
        if number % PARTS == 0:
            epic = id_of(number)
            given.append(item_of(number, Kind.EPIC, State.UNSTARTED, None))
            continue
        state = State.DONE if draw.random() < 0.7 else State.UNSTARTED
        given.append(item_of(number, Kind.TASK, state, epic))
        for _ in range(RELATIONS - 1):
            before = draw.randrange(max(0, number - 500), number)
            if before % PARTS:
                edges[id_of(before), Relation.BLOCKS, id_of(number)] = None
    return given, list(edges)


def fresh_ends(size: int, draw: random.Random) -> list[tuple[str, str]]:
    """Pairs without a relation, further apart than any that the plan made: one near its beginning and one near its end,
    so that as much is reached from each in a large plan as in a small one."""
    found: dict[tuple[str, str], None] = {}
    while len(found) < 1_000:
        one, other = draw.randrange(SMALL // 4), size - 1 - draw.randrange(SMALL // 4)
        if one % PARTS and other % PARTS and other - one > 500:
            found[id_of(one), id_of(other)] = None
    return list(found)


def id_of(number: int) -> str:
    return f"bench-{number:06}"


def item_of(number: int, kind: Kind, state: State, parent: str | None) -> Given:
    item = NewItem(title=f"Item {number}", kind=kind, state=state, parent=parent, priority=number % 5)
    return Given(id_of(number), clean_values(msgspec.structs.asdict(item), ""), {})


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES))
