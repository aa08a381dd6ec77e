"""What the engine of team runs takes for a turn, from the claim of its task to the moment what waits for it may begin,
with the agent's own time taken out: from when its session was wanted until what it handed over was taken in.

That leaves the claim, the envelope, the verdict and its checks, the gate, what is published, and the release. The tasks
stand in a row, each a command of the built-in worker. In a workspace without a repository nothing is git's: that is
judged. Beside it stands the same with a worktree a task, whose work is saved and merged, for comparison.
Exits 1 past a limit. Run as `python -m benchmarks.team_turn [TASKS]`.
"""

import json
import statistics
import sys
from typing import Any

from benchmarks._floor import DATABASES, any_round, make_repository, running_server
from gemba import clock
from gemba.testing import retry_until
from tests.fixtures.servers import RunningServer
from tests.fixtures.team_floor import plan, task

TASKS = 25
LIMIT_MS = {"SQLite": 100, "PostgreSQL": 60}


def main(many: int) -> int:
    print(f"{'':<12}{'without git':>14}{'limit':>8}{'in a worktree':>16}")
    within = True
    for database in DATABASES:
        within &= any_round(lambda _, database=database: _round(database, many))  # type: ignore[misc]
    return 0 if within else 1


def _round(database: str, many: int) -> bool:
    plain, limit = _overhead(database, many, git=False), LIMIT_MS[database]
    beside = _overhead(database, many, git=True)
    print(f"{database:<12}{plain:>11.0f} ms{limit:>5} ms{beside:>13.0f} ms", flush=True)
    return plain < limit


def _overhead(database: str, many: int, *, git: bool) -> float:
    """The median over the tasks of a run, in milliseconds."""
    with running_server(database) as server:
        if git:
            make_repository(server.workspace)
        tasks = [task(f"IMPL-{n:03}", *([f"IMPL-{n - 1:03}"] if n > 1 else [])) for n in range(1, many + 1)]
        run = server.request("POST", "/api/teams", {"text": "A row of tasks", "plan": plan(*tasks)}).json
        over = retry_until(lambda: _ended(server, run["id"]), timeout=300, every=0.5)  # who looks costs time, too
        spent = [_spent(server, run["id"], each) for each in over["all_tasks"]]
    return statistics.median(spent[1:])


def _ended(server: RunningServer, run_id: str) -> Any:
    run = server.get(f"/api/teams/{run_id}")
    assert run["state"] in ("running", "completed", "completed_with_warnings"), json.dumps(run["all_tasks"], indent=1)
    return run if run["state"] != "running" else None


def _spent(server: RunningServer, run_id: str, each: dict[str, str]) -> float:
    (attempt,) = server.get(f"/api/teams/{run_id}/tasks/{each['id']}")["attempts"]
    handed_over = _moment(server.get(f"/api/handoffs/{attempt['handoff_id']}")["created_at"])
    before = _moment(attempt["started_at"]) - _moment(each["claimed_at"])
    behind = _moment(each["ended_at"]) - handed_over
    return (before + behind) / 1_000


def _moment(text: str) -> int:
    moment = clock.parse(text)
    assert moment is not None, text
    return moment


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else TASKS))
