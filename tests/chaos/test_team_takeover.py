"""Somebody who works on a task is gone: its worker, its agent, its home. The work goes on once, by whoever is left."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gemba.sessions.backends.backend import run_folder
from gemba.sessions.backends.run_folder import Keeper, read_keeper
from gemba.testing import retry_until
from tests.chaos.team_storm import LEASES, PATIENCE, begin, check_branch, check_messages, moves_of, until_over
from tests.fixtures.floor import stop_runs
from tests.fixtures.past import rows
from tests.fixtures.servers import RunningServer
from tests.fixtures.team_floor import TeamFloor, task
from tests.fixtures.workers import RunningWorker

pytestmark = pytest.mark.timeout(300)

ID = "IMPL-001"


class Told:
    """A task that says each time when it begins, and goes on when it is told to."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        (folder / "begun").touch()

    def task(self) -> dict[str, object]:
        count, folder = f"$(wc -l < {self._folder}/begun)", self._folder
        wait = f"n={count}; until test -e {folder}/go-$n; do sleep 0.05; done"
        return task(
            ID, first=f"echo begun >> {folder}/begun; {wait}; echo {ID} > made-{ID}.txt; echo $n >> {folder}/done"
        )

    def begun(self, times: int) -> None:
        retry_until(lambda: len((self._folder / "begun").read_text().split()) == times, timeout=PATIENCE)

    def go(self, number: int) -> None:
        (self._folder / f"go-{number}").touch()

    def done(self) -> list[str]:
        file = self._folder / "done"
        return file.read_text().split() if file.exists() else []


@pytest.fixture
def told(tmp_path: Path) -> Told:
    return Told(tmp_path / "told")


@pytest.fixture
def server(stopped_server: RunningServer) -> Iterator[RunningServer]:
    (stopped_server.workspace / ".gemba" / "workspace.toml").write_text(LEASES)
    yield stopped_server
    if stopped_server.is_running:
        stopped_server.stop()
    stop_runs(stopped_server.home)


def attempts(server: RunningServer, run_id: str) -> list[str]:
    query = f"select outcome from team_attempts where run_id = '{run_id}' order by number"
    return [outcome for (outcome,) in rows(server, query)]


def keeper_of(server: RunningServer, session: str) -> Keeper | None:
    return read_keeper(run_folder(server.home, server.workspace, session))


@pytest.mark.chaos
def test_an_agent_whose_worker_is_killed_is_adopted_by_the_next_one(
    server: RunningServer, new_worker: Callable[[RunningServer], RunningWorker], told: Told
) -> None:
    server.start()
    run_id = begin(server, [told.task()])
    told.begun(1)
    server.kill()
    worker = new_worker(server)
    assert worker.start()

    told.go(1)

    assert until_over(server, run_id) == "completed"
    assert told.done() == ["1"]
    assert attempts(server, run_id) == ["passed"]
    check_messages(server, run_id, {ID: []})
    check_branch(server.workspace, run_id, {ID: []})
    assert worker.stop() == 0


@pytest.mark.chaos
@pytest.mark.parametrize("victim", ["agent", "keeper"])
def test_an_agent_that_is_killed_is_tried_again_and_the_error_counts(
    server: RunningServer, told: Told, victim: str
) -> None:
    server.start()
    run_id = begin(server, [told.task()])
    told.begun(1)
    keeper = keeper_of(server, f"{run_id}.{ID}.1")
    assert keeper is not None
    process = keeper.process[0]
    if victim == "agent":
        process = int(Path(f"/proc/{process}/task/{process}/children").read_text().split()[0])
    os.kill(process, signal.SIGKILL)
    told.go(2)

    assert until_over(server, run_id) == "completed"
    told.begun(2)
    assert told.done() == ["2"]
    assert attempts(server, run_id) == ["error", "passed"]
    assert rows(server, f"select errors from team_tasks where run_id = '{run_id}'") == [(1,)]
    assert [move.event for move in moves_of(server, run_id)].count("passed") == 1
    check_branch(server.workspace, run_id, {ID: []})


@pytest.mark.chaos
def test_what_a_home_that_is_gone_had_begun_is_done_by_another_one_and_its_agent_has_no_say(
    open_team_floor: Callable[..., TeamFloor],
    new_worker: Callable[[RunningServer], RunningWorker],
    workspace: Path,
    home: Path,
    database_url: str,
    tmp_path: Path,
    told: Told,
) -> None:
    """It comes back in the end, with an agent that went on meanwhile and has handed in what it did."""
    (workspace / ".gemba" / "workspace.toml").write_text(LEASES)
    here = open_team_floor(lease=3)
    (tmp_path / "elsewhere").mkdir()
    there = RunningServer(workspace, tmp_path / "elsewhere", database_url, running=False)
    gone = new_worker(there)
    assert gone.start()
    run_id = here.begin(told.task())
    told.begun(1)
    first, second = f"{run_id}.{ID}.1", f"{run_id}.{ID}.2"
    try:
        gone.kill()
        here.start()
        told.begun(2)

        wanted = f"select session_id, wanted from runs where session_id in ('{first}', '{second}') order by session_id"
        assert [bool(each) for _, each in rows(there, wanted)] == [False, True]
        assert told.done() == []
        told.go(1)
        retry_until(lambda: told.done() == ["1"], timeout=PATIENCE)
        assert gone.start()
        ended = f"select ended_at from runs where session_id = '{first}' and ended_at is not null"
        retry_until(lambda: rows(there, ended), timeout=PATIENCE)
        assert here.task(run_id, ID).state == "running"
        told.go(2)

        assert here.until_over(run_id, PATIENCE).state == "completed"
        assert told.done() == ["1", "2"]
        assert [each.session_id for each in here.detail(run_id, ID).attempts] == [second, first]
        check_branch(workspace, run_id, {ID: []})
        check_messages(there, run_id, {ID: []})
        flows = "select id from flows where substr(name, 1, 5) = 'team.'"
        retry_until(lambda: not rows(there, flows), timeout=PATIENCE)
        assert gone.stop() == 0
    finally:
        here.stop()
        for each in (home, there.home):
            stop_runs(each)
