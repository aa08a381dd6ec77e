"""Three hundred tasks of twenty seconds at once: how long a run of them takes against the twenty seconds that it would
take if nothing but the tasks took time.

Every task is a command of the built-in worker, in a session and a worktree of its own with a process that sleeps; they
stand beside each other, so that all of them can begin together, and the work of each is saved, judged and merged.
Without a repository tasks of a team work one after the other, so there is no such crowd without git.

`bare` is the floor, measured in the same run: as many worktrees, made and looked at by git, each with two interpreters,
a shell and a process that sleeps in it, and nothing of Gemba; how long that takes, and what of a core a task of it
costs. Beside it stands what a task costs the server, and what all else of it costs: git, keepers and agents. Not
counted is what the machine had to do for databases of its own, and for whoever looks.
Exits 1 past the limit. Run as `python -m benchmarks.team_crowd [TASKS] [SECONDS]`.
"""

import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks._floor import DATABASES, any_round, make_repository, running_server
from gemba.testing import retry_until
from tests.fixtures.servers import RunningServer
from tests.fixtures.team_floor import plan, task

TASKS, SECONDS = 300, 20
LIMIT = 1.5

_AT_ONCE = 8  # as the engine has it
_KEEPER = "import os, sys; pid = os.fork() or os.execv(sys.executable, sys.argv[1:]); os.waitpid(pid, 0)"
_AGENT = "import subprocess, sys; subprocess.run(['/bin/sh', '-c', sys.argv[1]])"
_TICKS = os.sysconf("SC_CLK_TCK")
_PR_SET_CHILD_SUBREAPER = 36


class Cost(NamedTuple):
    """Seconds of a core: of the server itself, of what it has started and seen end, and of keepers with their agents,
    which are ours to bury."""

    server: float
    started: float
    kept: float


def main(many: int, seconds: int) -> int:
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    print(f"{'':<12}{'ideal':>8}{'took':>10}{'ratio':>8}{'limit':>8}{'server':>16}{'all else':>16}")
    _bare(many, seconds)
    within = True
    for database in DATABASES:
        within &= any_round(lambda _, database=database: _round(database, many, seconds))  # type: ignore[misc]
    return 0 if within else 1


def _round(database: str, many: int, seconds: int) -> bool:
    with running_server(database) as server:
        make_repository(server.workspace)
        tasks = [task(f"IMPL-{number:03}", first=f"sleep {seconds}") for number in range(1, many + 1)]
        body = {"text": "A crowd", "plan": plan(*tasks), "settings": {"max_parallel": many}}
        before, began = _cost(server), time.monotonic()
        run = server.request("POST", "/api/teams", body).json
        retry_until(lambda: _is_over(server, run["id"]), timeout=20 * seconds, every=0.5)
        took = time.monotonic() - began
        used = Cost(*(now - then for now, then in zip(_cost(server), before, strict=True)))
    _print(database, seconds, took, f"{LIMIT:>8.1f}", many, used)
    return took / seconds <= LIMIT


def _print(name: str, seconds: int, took: float, limit: str, many: int, used: Cost) -> None:
    each = [f"{1000 * part / many:>9.0f} ms each" for part in (used.server, used.started + used.kept)]
    print(f"{name:<12}{seconds:>6} s{took:>8.1f} s{took / seconds:>8.2f}{limit}{''.join(each)}", flush=True)


def _is_over(server: RunningServer, run_id: str) -> bool:
    runs: list[dict[str, Any]] = server.get("/api/teams")["runs"]
    (run,) = [each for each in runs if each["id"] == run_id]
    assert run["state"] in ("running", "completed", "completed_with_warnings"), json.dumps(run, indent=1)
    return bool(run["state"] != "running")


def _cost(server: RunningServer) -> Cost:
    """Keepers outlive the server and lose their parent: who that becomes is told when they end what they took."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    user, system, users, systems = (int(field) / _TICKS for field in fields[11:15])
    return Cost(user + system, users + systems, _bury(server.process.pid))


_buried: list[float] = []  # what each keeper took that has ended: a process is buried once


def _bury(spared: int) -> float:
    """What all of them took; without waiting for anybody else's child."""
    for child in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
        try:
            session, state = _session_and_state(int(child))
        except (FileNotFoundError, ProcessLookupError):
            continue
        if state == "Z" and session == int(child) and int(child) != spared:
            used = os.wait4(int(child), os.WNOHANG)[2]
            _buried.append(used.ru_utime + used.ru_stime)
    return sum(_buried)


def _session_and_state(pid: int) -> tuple[int, str]:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[3]), fields[0]


def _bare(many: int, seconds: int) -> None:
    """The same without Gemba: what no engine could do without."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory(prefix="gemba-bench-") as folder:
        make_repository(Path(folder))
        room = threading.Semaphore(_AT_ONCE)
        began = time.monotonic()
        with ThreadPoolExecutor(many) as threads:
            list(threads.map(lambda number: _bare_task(folder, number, seconds, room), range(many)))
        took = time.monotonic() - began
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    cost = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    _print("bare", seconds, took, f"{'':>8}", many, Cost(0, cost, 0))


def _bare_task(folder: str, number: int, seconds: int, room: threading.Semaphore) -> None:
    tree = f"{folder}/trees/{number}"
    agent = [sys.executable, "-c", _AGENT, f"sleep {seconds}"]
    with room:
        subprocess.run(["git", "worktree", "add", "-q", "-b", f"b{number}", tree], cwd=folder, check=True)
        kept = subprocess.Popen([sys.executable, "-I", "-S", "-c", _KEEPER, *agent], cwd=tree)
    kept.wait()
    with room:
        subprocess.run(["git", "status", "--porcelain"], cwd=tree, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:]]
    sys.exit(main(*given, *(TASKS, SECONDS)[len(given) :]))
