"""What it costs to say what every session should do next: 1,000 ready items, 50 sessions, 40 items running.

The whole table is made: what is ready is prepared once, each session gets its ranking with the reasons of the first
ten, and the batch that can run at once is chosen. It is compared with a sort of the same many numbers, once a session,
which is the least that a ranking can do, and with half the items. Exits 1 past a limit. Run as
`python -m benchmarks.selection [ROUNDS]`.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable

from gemba import clock
from gemba.work.parallel import choose_batch
from gemba.work.selection import Candidate, Field, Running, Worker

ROUNDS = 20
ITEMS, SESSIONS, RUNNING = 1_000, 50, 40
SHOWN = 10
MILLISECONDS = 50.0
MOST_GROWTH = 2.6  # times, for twice the items
NOW = 1_800_000_000 * clock.SECOND


def globs(draw: random.Random) -> tuple[str, ...]:
    folders = [f"src/{draw.randrange(60)}/{draw.randrange(20)}" for _ in range(draw.randrange(4))]
    return tuple(f"{folder}/**" if draw.random() < 0.5 else f"{folder}/*.py" for folder in folders)


def concepts(draw: random.Random) -> tuple[str, ...]:
    return tuple({f"concept-{draw.randrange(80)}" for _ in range(3)})


def facts(items: int) -> tuple[list[Candidate], list[Running], list[Worker]]:
    draw = random.Random(7)
    ready = [
        Candidate(
            f"shop-{number:04}",
            priority=draw.randrange(5),
            user_order=number if draw.random() < 0.05 else None,
            created_at=NOW - draw.randrange(60) * clock.DAY,
            targets=globs(draw),
            concepts=concepts(draw),
            epic=f"epic-{draw.randrange(40)}",
            tokens=draw.randrange(200_000),
            waiting=draw.randrange(10),
            owner=f"session-{draw.randrange(SESSIONS)}" if draw.random() < 0.05 else None,
        )
        for number in range(items)
    ]
    running = [Running(f"run-{number}", f"session-{number}", globs(draw)) for number in range(RUNNING)]
    workers = [
        Worker(
            f"session-{number}",
            folder=f"/trees/{number}",
            targets=tuple((None, glob) for _ in range(4) for glob in globs(draw)),
            concepts=frozenset(each for _ in range(4) for each in concepts(draw)),
            epics=frozenset(f"epic-{draw.randrange(40)}" for _ in range(3)),
            room=draw.randrange(200_000),
            intent=frozenset(concepts(draw)) if number % 2 else frozenset(),
        )
        for number in range(SESSIONS)
    ]
    return ready, running, workers


def best(rounds: int, work: Callable[[], object]) -> float:
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append((time.process_time() - start) * 1_000)
    return min(times)


def whole_table(ready: list[Candidate], running: list[Running], workers: list[Worker]) -> None:
    field = Field(ready, running, NOW)
    for worker in workers:
        field.rank(worker, SHOWN)
    choose_batch(field.open_to_anyone(), SESSIONS)


def main(rounds: int) -> int:
    known = facts(ITEMS)
    smaller = facts(ITEMS // 2)
    half = best(rounds, lambda: whole_table(*smaller))
    whole = best(rounds, lambda: whole_table(*known))
    numbers = [float(item.created_at) for item in known[0]]
    sorts = best(rounds, lambda: [sorted(numbers) for _ in range(SESSIONS)])
    growth, fine = whole / half, whole <= MILLISECONDS
    print(f"{ITEMS:,} ready items, {SESSIONS} sessions, {RUNNING} running; the best of {rounds} rounds, processor time")
    print(f"{'what':<34}{'ms':>9}{'limit':>9}  verdict")
    print(f"{'every session and the batch':<34}{whole:>9.1f}{MILLISECONDS:>9.0f}  {'within' if fine else 'TOO SLOW'}")
    print(f"{'against sorting alone':<34}{whole / sorts:>8.1f}x{'':>9}  shown")
    verdict = "within" if growth <= MOST_GROWTH else "TOO SLOW"
    print(f"{'against half the items':<34}{growth:>8.1f}x{MOST_GROWTH:>8.1f}x  {verdict}")
    return 0 if fine and growth <= MOST_GROWTH else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))
