"""Three hundred tasks of twenty seconds at once: how long a run of them takes against the twenty seconds that it would
take if nothing but the tasks took time.

Every task is a command of the built-in worker, in a session and a worktree of its own with a process that sleeps; they
stand beside each other, so that all of them can begin together, and the work of each is saved, judged and merged.
`busy` is the server's own share of a core meanwhile.
Exits 1 past the limit. Run as `python -m benchmarks.team_crowd [TASKS] [SECONDS]`.
"""

import json
import sys
import time
from typing import Any

from benchmarks._floor import DATABASES, any_round, make_repository, running_server
from gemba.testing import retry_until
from tests.chaos.test_streams import cpu_seconds
from tests.fixtures.servers import RunningServer
from tests.fixtures.team_floor import plan, task

TASKS, SECONDS = 300, 20
LIMIT = 1.5


def main(many: int, seconds: int) -> int:
    print(f"{'':<12}{'ideal':>8}{'took':>10}{'ratio':>8}{'limit':>8}{'busy':>8}")
    within = True
    for database in DATABASES:
        within &= any_round(lambda _, database=database: _round(database, many, seconds))  # type: ignore[misc]
    return 0 if within else 1


def _round(database: str, many: int, seconds: int) -> bool:
    with running_server(database) as server:
        make_repository(server.workspace)
        tasks = [task(f"IMPL-{number:03}", first=f"sleep {seconds}") for number in range(1, many + 1)]
        body = {"text": "A crowd", "plan": plan(*tasks), "settings": {"max_parallel": many}}
        used, began = cpu_seconds(server), time.monotonic()
        run = server.request("POST", "/api/teams", body).json
        retry_until(lambda: _is_over(server, run["id"]), timeout=20 * seconds, every=0.5)
        took = time.monotonic() - began
        busy = (cpu_seconds(server) - used) / took
    ratio = took / seconds
    print(f"{database:<12}{seconds:>6} s{took:>8.1f} s{ratio:>8.2f}{LIMIT:>8.1f}{busy:>8.0%}", flush=True)
    return ratio <= LIMIT


def _is_over(server: RunningServer, run_id: str) -> bool:
    runs: list[dict[str, Any]] = server.get("/api/teams")["runs"]
    (run,) = [each for each in runs if each["id"] == run_id]
    assert run["state"] in ("running", "completed", "completed_with_warnings"), json.dumps(run, indent=1)
    return bool(run["state"] != "running")


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:]]
    sys.exit(main(*given, *(TASKS, SECONDS)[len(given) :]))
