"""Many who claim at once, in threads of several processes: no task is claimed twice, and a run's limit holds."""

import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import msgspec

from gemba.store import events
from gemba.store.migrate import open_database
from gemba.teams.run import RunSettings
from tests.fixtures import team_claimer
from tests.fixtures.teams import RUN, new_run

ROOT = Path(__file__).parents[2]
TASKS = [f"IMPL-{number:03}" for number in range(1, 201)]
AT_ONCE = 7


def test_nobody_claims_what_another_has_and_no_more_are_at_work_than_the_run_allows(
    database_url: str, tmp_path: Path
) -> None:
    with closing(open_database(database_url, tmp_path / "backups")) as database, database.transaction() as tx:
        new_run(tx, tasks=TASKS, settings=RunSettings(max_parallel=AT_ONCE), branch="gemba/run")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    def start(name: str) -> subprocess.Popen[str]:
        told = json.dumps({"url": database_url, "name": name, "threads": 3})
        command = [sys.executable, "-m", team_claimer.__name__, told]
        return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)

    claimers = [start(f"claimer-{number}") for number in range(3)]
    claimed = [line for each in claimers for line in each.communicate(timeout=100)[0].splitlines()]

    assert [each.returncode for each in claimers] == [0, 0, 0]
    assert sorted(claimed) == [f"{id} 1" for id in TASKS]
    with closing(open_database(database_url)) as database, database.read() as connection:
        told = [msgspec.json.decode(event.payload) for event in events.read_after(connection, 0, 10_000)]
    moves = [said["event"] for said in told if said.get("run_id") == RUN]
    at_work, most = 0, 0
    for move in moves:
        at_work += {"claimed": 1, "passed": -1}.get(move, 0)
        most = max(most, at_work)
    assert (most, at_work) == (AT_ONCE, 0)
    assert moves.count("claimed") == len(TASKS)
