"""`kill -9` of writers and of the server in the middle of posting: no number twice, none out, every message once."""

import json
import os
import random
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select

from gemba import wire
from gemba.store.database import connect
from gemba.store.migrate import open_database
from gemba.teams.bus_reads import StateQuery, list_states
from gemba.teams.message import KnownState, StateUpdate, merged_all
from gemba.teams.store import get_run
from gemba.teams.tables import messages
from gemba.testing import effort, seeds, some
from tests.chaos.floor import Mortal
from tests.fixtures import team_writer
from tests.fixtures.servers import RunningServer
from tests.fixtures.teams import RUN, TASKS, new_run

ROOT = Path(__file__).parents[2]
WRITERS = 5

# Where the server dies, and the how manyth time it gets there.
DEATHS = [
    *(("update team_runs", passage) for passage in (1, 4)),
    *(("insert team_messages", passage) for passage in (1, 5)),
    *(("insert team_states", passage) for passage in (1, 3)),
    ("insert confirmations", 2),
    ("commit begins", 6),
    ("commit done", 6),
]


def holds_together(url: str, acknowledged: set[int]) -> None:
    """Numbers are gapless, what was acknowledged is there, a batch is whole, and a state is its updates merged."""
    with closing(connect(url)) as database, database.read() as connection:
        rows = connection.execute(select(messages).where(messages.c.run_id == RUN).order_by(messages.c.id)).all()
        kept = {one.task_id: one for one in list_states(connection, RUN, StateQuery()).states}
        last = get_run(connection, RUN).messages
    assert [row.id for row in rows] == list(range(1, last + 1))
    assert acknowledged <= {row.id for row in rows}
    summaries = [row.summary for row in rows]
    assert len(set(summaries)) == len(summaries)
    for task in TASKS:
        updates = [json.loads(row.data) for row in rows if row.type == "state_update"]
        mine = [StateUpdate(**each) for each in updates if each["task_id"] == task]
        expected = merged_all(KnownState(), mine)
        assert (kept[task].key_findings if mine else []) == expected.key_findings


@pytest.mark.chaos
@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", seeds(short=1, full=20))
def test_writers_that_are_killed_leave_whole_batches_without_a_gap(
    seed: int, database_url: str, tmp_path: Path
) -> None:
    draw = random.Random(seed)
    with closing(open_database(database_url, tmp_path / "backups")) as database, database.transaction() as tx:
        new_run(tx)
    batch, many = 5, effort(2_000, 10_000)

    def start(writer: int) -> subprocess.Popen[str]:
        told = {"url": database_url, "writer": writer, "many": many, "batch": batch, "tell": True}
        command = [sys.executable, "-m", team_writer.__name__, json.dumps(told)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)

    acknowledged: set[int] = set()
    writers = [start(number) for number in range(WRITERS)]
    for writer in writers:
        assert writer.stdout is not None
        for _ in range(draw.randrange(1, effort(100, 1_000))):  # and then in the middle of whatever it does
            acknowledged.add(int(writer.stdout.readline()))
        writer.kill()
    for writer in writers:
        rest, _ = writer.communicate()
        *whole, _torn = rest.split("\n")
        acknowledged |= set(map(int, whole))

    holds_together(database_url, acknowledged)
    with closing(connect(database_url)) as database, database.read() as connection:
        count = get_run(connection, RUN).messages
    assert 0 < count < WRITERS * many
    assert count % batch == 0


@pytest.mark.chaos
@pytest.mark.timeout(120)
@pytest.mark.parametrize(("point", "passage"), some(DEATHS, 2), ids=lambda part: str(part).replace(" ", "-"))
def test_a_message_is_posted_once_whenever_the_server_is_killed(
    server: RunningServer, tmp_path: Path, point: str, passage: int
) -> None:
    url = server.environment["GEMBA_DATABASE_URL"] or f"sqlite:///{server.workspace / '.gemba' / 'gemba.db'}"
    with closing(connect(url)) as database, database.transaction() as tx:
        new_run(tx)
    mortal = Mortal(server, tmp_path / "died-at")

    def story() -> set[int]:
        posted: set[int] = set()
        for number in range(12):
            data = {"task_id": TASKS[number % 3], "key_findings": [f"finding {number}"]}
            body = {"type": "state_update", "summary": f"said {number}", "data": data}
            answer = mortal.request("POST", f"/api/teams/{RUN}/messages", body, confirm=wire.new_event_id())
            assert answer.status == 200, answer
            posted.add(answer.json["last"])
        return posted

    posted = mortal.die_during(point, passage, story)

    assert mortal.died_at() == [point]
    assert posted == set(range(1, 13))
    holds_together(url, posted)
