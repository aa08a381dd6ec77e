"""What a session costs that needs no model: a keeper and the built-in agent, against bare interpreters.

A start is over when the agent runs; a whole run when it has read an empty prompt, told of itself and ended, and its
keeper with it. Each may cost at most four bare starts: of one run the processor's time is counted, which a busy machine
does not change; of 50 at once, on as many threads, the time until all are there. `50 sessions` are those of a server,
from the first of as many requests at once until it has written down of each that its agent runs; all work in the
workspace itself, since what a worktree costs is git's. The first of them have told of their work and ended by then, and
the server has taken that in beside: they may cost twice as much. The ratio of medians is judged, of rounds in turn with
the bare ones.
Exits 1 past a limit. Run as `python -m benchmarks.run_start [RUNS]`.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks._floor import DATABASES, living, running_server, start_agents
from gemba.sessions.backends.backend import RunFolder, Start, run_folder
from gemba.sessions.backends.process import ProcessBackend
from gemba.sessions.backends.run_folder import keeper_command, read_ending, read_keeper, starting
from gemba.sessions.keeper.process_tree import wait_ended
from gemba.testing import retry_until
from tests.fixtures.servers import RunningServer

RUNS = 30
CROWDS = 3
CROWD = 50
LIMIT = 4.0
LIMIT_SERVER = 8.0

_BARE = [sys.executable, "-c", "pass"]
_AGENT = (sys.executable, "-m", "gemba.sessions.builtin")


class Floor:
    """Where runs are started, each under a name of its own."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._backend = ProcessBackend()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GEMBA_"))}
        self._environment = {**kept, "GEMBA_HOME": str(home), "GEMBA_INTERACTION_MODE": "balanced"}

    def start(self, name: str) -> RunFolder:
        self._backend.start(self._start_of(name))
        return run_folder(self._home, "", name)

    def finish(self, run: RunFolder) -> None:
        keeper = read_keeper(run)
        assert keeper is not None
        assert wait_ended(keeper.process, 60)
        self._check(run)

    def processor_seconds(self, name: str) -> float:
        """Of a whole run, keeper and agent together."""
        with starting(self._start_of(name), "pipe") as run:
            seconds = processor_seconds(keeper_command(run, detached=False))
        self._check(run)
        return seconds

    def _start_of(self, name: str) -> Start:
        folder = str(run_folder(self._home, "", name).path)
        return Start(name, f"benchmark-{name}", folder, _AGENT, self._environment, str(self._home), stdin="")

    def _check(self, run: RunFolder) -> None:
        ending = read_ending(run)
        assert ending is not None, "it was killed"
        assert ending.code == 0, self._backend.read(run, 20)


def processor_seconds(command: list[str]) -> float:
    process = subprocess.Popen(command, env={})
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    assert status == 0
    return used.ru_utime + used.ru_stime


def measure_alone(floor: Floor, runs: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {"bare": [], "whole run": []}
    for number in range(-2, runs):
        taken = processor_seconds(_BARE), floor.processor_seconds(f"alone-{number}")
        if number >= 0:
            for seconds, one in zip(taken, times.values(), strict=True):
                one.append(seconds)
    return times


def measure_crowds(floor: Floor) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {f"{CROWD} bare": [], f"{CROWD} starts": [], f"{CROWD} whole runs": []}
    with ThreadPoolExecutor(CROWD) as pool:
        for number in range(CROWDS):
            names = [f"crowd-{number}-{one}" for one in range(CROWD)]
            bare, between = seconds_of_bare(pool), time.perf_counter()
            started = list(pool.map(floor.start, names))
            all_started = time.perf_counter()
            for run in started:
                floor.finish(run)
            taken = bare, all_started - between, time.perf_counter() - between
            for seconds, one in zip(taken, times.values(), strict=True):
                one.append(seconds)
    return times


def measure_sessions(server: RunningServer, database: str) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {f"{CROWD} bare": [], f"{CROWD} sessions, {database}": []}
    with ThreadPoolExecutor(CROWD) as pool:
        for _ in range(CROWDS):
            taken = seconds_of_bare(pool), seconds_of_sessions(server, pool)
            for seconds, one in zip(taken, times.values(), strict=True):
                one.append(seconds)
            retry_until(lambda: not living(server), timeout=120, every=0.1)
    return times


def seconds_of_bare(pool: ThreadPoolExecutor) -> float:
    begun = time.perf_counter()
    list(pool.map(lambda _: subprocess.run(_BARE, check=True), range(CROWD)))
    return time.perf_counter() - begun


def seconds_of_sessions(server: RunningServer, pool: ThreadPoolExecutor) -> float:
    stream = server.events("?name=session_transition")
    begun = time.perf_counter()
    asked = [pool.submit(start_agents, server, "builtin", 1, "Say what you can do.") for _ in range(CROWD)]
    missing = {id for one in asked for id in one.result()}
    while missing:
        event = stream.next()["data"]
        if event["payload"]["to"] == "running":
            missing.discard(event["session_id"])
    seconds = time.perf_counter() - begun
    stream.close()
    return seconds


def main(runs: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        floor = Floor(Path(folder))
        found = [_report("processor", measure_alone(floor, runs)), _report("clock", measure_crowds(floor))]
    for database in DATABASES:
        with running_server(database) as server:
            found.append(_report("clock", measure_sessions(server, database), LIMIT_SERVER))
    return max(found)


def _report(by: str, times: dict[str, list[float]], limit: float = LIMIT) -> int:
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    base = next(iter(medians.values()))
    print(f"{'by the ' + by:<26}{'median ms':>12}{'ratio':>9}{'limit':>9}  verdict")
    for name, median in medians.items():
        ratio = median / base
        verdict = "within" if ratio < limit else "TOO SLOW"
        print(f"{name:<26}{median * 1000:>12.1f}{ratio:>9.2f}{limit:>9.2f}  {verdict}", flush=True)
    return int(any(median / base >= limit for median in medians.values()))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS))
