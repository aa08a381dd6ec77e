"""What a session costs that needs no model: a keeper and the built-in agent, against bare interpreters.

A start is over when the agent runs; a whole run when it has read an empty prompt, told of itself and ended, and its
keeper with it. Both may cost at most four bare starts: one at a time, and 50 at once on as many threads. Runs are
interleaved, so that a busy machine slows all of them alike, and the ratio of medians is judged. Exits 1 past a limit.
Run as `python benchmarks/run_start.py [RUNS]`.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gemba.sessions.backend import RunFolder, Start, run_folder
from gemba.sessions.process import ProcessBackend
from gemba.sessions.process_tree import wait_ended
from gemba.sessions.run_folder import read_ending, read_keeper

RUNS = 30
CROWDS = 3
CROWD = 50
LIMIT = 4.0

_BARE = [sys.executable, "-c", "pass"]
_AGENT = (sys.executable, "-m", "gemba.sessions.builtin")


class Floor:
    """Where runs are started, one name each."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._backend = ProcessBackend()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GEMBA_"))}
        self._environment = {**kept, "GEMBA_HOME": str(home), "GEMBA_INTERACTION_MODE": "balanced"}

    def start(self, name: str) -> RunFolder:
        run = run_folder(self._home, name)
        start = Start(name, f"benchmark-{name}", str(run.path), _AGENT, self._environment, str(self._home), stdin="")
        self._backend.start(start)
        return run

    def finish(self, run: RunFolder) -> None:
        keeper = read_keeper(run)
        assert keeper is not None
        assert wait_ended(keeper.process, 60)
        ending = read_ending(run)
        assert ending is not None, "it was killed"
        assert ending.code == 0, self._backend.read(run, 20)


def bare() -> None:
    subprocess.run(_BARE, check=True)


def main(runs: int) -> int:
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(CROWD) as pool:
        floor = Floor(Path(folder))
        alone: dict[str, list[float]] = {"bare interpreter": [], "start": [], "whole run": []}
        for number in range(-2, runs):
            taken = [_timed(bare), *_timed_run(floor, f"alone-{number}")]
            if number >= 0:
                for times, seconds in zip(alone.values(), taken, strict=True):
                    times.append(seconds)
        crowd: dict[str, list[float]] = {"50 bare": [], "50 starts": [], "50 whole runs": []}
        for number in range(CROWDS):
            names = [f"crowd-{number}-{one}" for one in range(CROWD)]
            begun = time.perf_counter()
            list(pool.map(lambda _: bare(), names))
            after_bare = time.perf_counter()
            started = list(pool.map(floor.start, names))
            after_start = time.perf_counter()
            for run in started:
                floor.finish(run)
            after_all = time.perf_counter()
            taken = [after_bare - begun, after_start - after_bare, after_all - after_bare]
            for times, seconds in zip(crowd.values(), taken, strict=True):
                times.append(seconds)
    return max(_report(alone), _report(crowd))


def _timed(call: Callable[[], None]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def _timed_run(floor: Floor, name: str) -> tuple[float, float]:
    begun = time.perf_counter()
    run = floor.start(name)
    started = time.perf_counter() - begun
    floor.finish(run)
    return started, time.perf_counter() - begun


def _report(times: dict[str, list[float]]) -> int:
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    base = next(iter(medians.values()))
    print(f"{'what':<22}{'median ms':>12}{'ratio':>9}{'limit':>9}")
    for name, median in medians.items():
        print(f"{name:<22}{median * 1000:>12.1f}{median / base:>9.2f}{LIMIT:>9.2f}")
    return int(any(median / base > LIMIT for median in medians.values()))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS))
