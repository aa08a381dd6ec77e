"""`kill -9` of everybody who works on a team run: every task is done once, every message sent once, the order kept."""

import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gemba import wire
from gemba.testing import effort, seeds, some
from tests.chaos.floor import Mortal
from tests.chaos.team_storm import (
    LEASES,
    Mortals,
    Story,
    Watcher,
    begin,
    check_branch,
    check_messages,
    check_nothing_is_left,
    check_tasks,
    drawn_graph,
    until_over,
)
from tests.fixtures.cluster import Cluster
from tests.fixtures.floor import stop_runs
from tests.fixtures.past import rows
from tests.fixtures.servers import RunningServer
from tests.fixtures.team_floor import plan, task
from tests.fixtures.workers import RunningWorker

TASKS = effort(10, 50)
DEEPEST = effort(4, 30)
DEATHS = effort(8, 100)
WORKERS = 2  # beside the server, which works as well


@pytest.fixture(params=["sqlite", "postgresql"])
def mortals(
    request: pytest.FixtureRequest,
    workspace: Path,
    start_server: Callable[..., RunningServer],
    new_worker: Callable[[RunningServer], RunningWorker],
) -> Iterator[Callable[[random.Random], Mortals]]:
    (workspace / ".gemba" / "workspace.toml").write_text(LEASES)
    cluster: Cluster | None = None
    if request.param == "postgresql":
        cluster = request.getfixturevalue("durable_postgres")
    server = start_server("" if cluster is None else cluster.url(), running=False)
    workers = [new_worker(server) for _ in range(WORKERS)]
    made: list[Mortals] = []

    def make(draw: random.Random) -> Mortals:
        made.append(Mortals(server, workers, cluster, draw))
        return made[-1]

    yield make
    for each in made:
        each.end()


@pytest.mark.chaos
@pytest.mark.timeout(3_000)
@pytest.mark.parametrize("seed", seeds(short=1, full=2))
def test_every_task_is_done_once_while_server_workers_and_database_are_killed(
    mortals: Callable[[random.Random], Mortals], tmp_path: Path, seed: int
) -> None:
    draw = random.Random(seed)
    floor, story = mortals(draw), Story(tmp_path / "story")
    graph = drawn_graph(draw, TASKS, draw.randint(3, DEEPEST))
    floor.start()
    tasks = [
        story.task(id, before, at * DEATHS // TASKS, draw.uniform(0, 1))
        for at, (id, before) in enumerate(graph.items())
    ]
    run_id = begin(floor.server, tasks, max_parallel=draw.randint(2, 6))
    watcher = Watcher(floor.server, run_id, list(graph))
    watcher.start()

    for died in range(DEATHS):
        story.after(died)
        threading.Event().wait(draw.uniform(0, 1.5))
        floor.die()
    assert until_over(floor.server, run_id) == "completed"

    watcher.ended.set()
    watcher.join()
    assert watcher.trouble == []
    assert watcher.most == 1
    assert floor.deaths.total() >= DEATHS
    assert {id: story.told(id) for id in graph} == {id: ["begun", "done"] for id in graph}
    check_tasks(floor.server, run_id, graph)
    check_messages(floor.server, run_id, graph)
    check_branch(floor.server.workspace, run_id, graph)
    check_nothing_is_left(floor.server, run_id, watcher.living)
    assert floor.server.get("/api/audit/verdict")["ok"]
    errors = floor.stop()
    assert "a flow failed" not in errors
    assert "a round of team runs failed" not in errors


# ---- at every point of a turn ----------------------------------------------------------------------------------------

# Where the server dies, and the how manyth time it gets there.
POINTS = [
    *(("update team_tasks", passage) for passage in range(1, 23)),
    *(("insert team_attempts", passage) for passage in (1, 2, 3, 4)),
    *(("update team_attempts", passage) for passage in (1, 2, 3, 4, 5)),
    *(("insert team_artifacts", passage) for passage in (1, 2)),
    *(("insert team_messages", passage) for passage in (1, 2, 4)),
    *(("worktree made", passage) for passage in (1, 2, 3)),
    *(("turn begun", passage) for passage in (1, 2, 3, 4)),
    *(("work saved", passage) for passage in (1, 2, 3)),
    *(("work judged", passage) for passage in (1, 2, 3)),
    *(("work merged", passage) for passage in (1, 2, 3)),
    *(("task ended", passage) for passage in (1, 2)),
    ("worktree gone", 1),
    *(("step done", passage) for passage in (1, 3, 5, 7)),
    *(("step recorded", passage) for passage in (1, 3, 5, 7)),
    *(("insert flows", passage) for passage in (1, 3)),
    *(("delete flows", passage) for passage in (1, 3)),
]
GRAPH = {"RESEARCH-001": [], "IMPL-001": ["RESEARCH-001"], "TEST-001": ["IMPL-001"]}


@pytest.mark.chaos
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("point", "passage"), some(POINTS, 3), ids=lambda part: str(part).replace(" ", "-"))
def test_a_turn_is_done_once_wherever_the_server_is_killed(
    stopped_server: RunningServer, tmp_path: Path, point: str, passage: int
) -> None:
    """Of three tasks the second is sent back by its gate once."""
    server, told = stopped_server, tmp_path / "told"
    (server.workspace / ".gemba" / "workspace.toml").write_text(LEASES)
    mortal = Mortal(server, tmp_path / "died-at")
    told.mkdir()

    def makes(id: str) -> str:
        return f"echo ran >> {told / id}; echo {id} > made-{id}.txt"

    late = f"echo ran >> {told / 'IMPL-001'}; test -e {told / 'once'} && echo IMPL-001 > made-IMPL-001.txt"
    tasks = [
        task("RESEARCH-001", first=makes("RESEARCH-001")),
        task("IMPL-001", "RESEARCH-001", first=f"{late}; touch {told / 'once'}", output="codebase"),
        task("TEST-001", "IMPL-001", first=makes("TEST-001")),
    ]

    def story() -> str:
        body = {"text": "Do all of this", "plan": plan(*tasks)}
        answer = mortal.request("POST", "/api/teams", body, confirm=wire.new_event_id())
        assert answer.status == 201, answer
        assert until_over(server, answer.json["id"], 60) == "completed"
        return str(answer.json["id"])

    try:
        run_id = mortal.die_during(point, passage, story)
        assert mortal.died_at() == [point]
        ran = {id: (told / id).read_text().split() for id in GRAPH}
        assert ran == {"RESEARCH-001": ["ran"], "IMPL-001": ["ran", "ran"], "TEST-001": ["ran"]}
        outcomes = f"select task_id, outcome from team_attempts where run_id = '{run_id}' order by started_at, number"
        assert rows(server, outcomes) == [
            ("RESEARCH-001", "passed"),
            ("IMPL-001", "sent_back"),
            ("IMPL-001", "passed"),
            ("TEST-001", "passed"),
        ]
        check_tasks(server, run_id, GRAPH, attempts=False)
        check_messages(server, run_id, GRAPH)
        check_branch(server.workspace, run_id, GRAPH)
        check_nothing_is_left(server, run_id, dict)
        code, errors = server.stop()
        assert (code, "Traceback" in errors) == (0, False), errors
    finally:
        stop_runs(server.home)
