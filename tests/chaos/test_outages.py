"""The database goes away while agents ask, operators answer and policies run: PostgreSQL restarts, the disk is full."""

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest

from gemba.testing import effort, seeds
from tests.chaos.floor import DOOMED, PATIENCE, Mortal, Somebody, Witness
from tests.chaos.test_kills import end, every_escalation
from tests.chaos.watched import (
    BusyOperator,
    PatientAgent,
    all_done,
    check_ends,
    check_notified,
    check_opened_once,
    check_read_once,
    check_rule,
    check_told_once,
    set_up,
    take_late_answers,
)
from tests.fixtures.cluster import Cluster
from tests.fixtures.disks import Disk, LimitedDisk, SmallDisk, may_mount, mount, unmount
from tests.fixtures.receiver import Receiver
from tests.fixtures.servers import Answer, RunningServer
from tests.fixtures.workers import RunningWorker

OUTAGES = effort(2, 6)  # a round
FILLINGS = OUTAGES // 2  # of a disk, each longer

pytestmark = pytest.mark.usefixtures("cold_starts")  # beside forked ones the witness meets a 503, and gives up


class Refusing(Mortal):
    """A server that stays, and refuses for a while: whoever wants something asks it again."""

    def _outlive(self, life: int) -> None:
        threading.Event().wait(0.1)

    def request(self, method: str, path: str, body: object = None, confirm: str = "") -> Answer:
        def attempt(server: RunningServer) -> Answer:
            answer = server.request(method, path, body, **({"X_GEMBA_Confirm": confirm} if confirm else {}))
            if answer.status == 503:
                raise ConnectionError(answer.json["detail"])
            return answer

        return self.persist(attempt)


class Shift:
    """Everybody who works while the database comes and goes, and what has to be true when they go home."""

    def __init__(self, server: RunningServer, receiver: Receiver, seed: int, tmp_path: Path) -> None:
        self._server = server
        self._receiver = receiver
        self._mortal = Refusing(server, tmp_path / "died-at")
        self._agents = [PatientAgent(server, f"agent-{number}", f"{seed} {number}") for number in range(4)]
        self._operators = [BusyOperator(self._mortal, f"operator-{number}") for number in range(2)]
        self._witness = Witness(self._mortal)
        self._everybody: list[Somebody] = [*self._agents, *self._operators, self._witness]

    @contextmanager
    def at_work(self) -> Iterator[None]:
        for somebody in self._everybody:
            somebody.start()
        try:
            yield
        finally:
            end(self._agents)

    def check(self, outages: int) -> None:
        asked = [one for agent in self._agents for one in agent.asked]
        assert len(asked) > outages
        ids = {one.event_id for one in asked}
        seen = self._witness.seen
        self._witness.wait_for(lambda _: ids <= {e["ref"] for e in seen if e["name"] == "escalation.delivered"})
        end(self._operators)
        take_late_answers(self._server, self._agents)
        all_done(self._server)
        found = every_escalation(self._server)
        check_rule(self._server, [one for operator in self._operators for one in operator.rules], found)
        self._witness.ended.set()
        self._server.process.terminate()
        self._witness.join(PATIENCE)
        code, errors = self._server.stop()
        assert code == 0, errors
        assert [trouble for somebody in self._everybody for trouble in somebody.trouble] == []
        check_opened_once(asked, found)
        check_ends(self._agents, [one for operator in self._operators for one in operator.sent], found)
        check_told_once(seen, found)
        check_read_once(self._server.home, found)
        check_notified(self._receiver, seen, kills=outages)


@pytest.mark.chaos
@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", seeds(short=1, full=8))
def test_postgresql_restarts_at_random_and_everything_happens_once(
    durable_postgres: Cluster,
    start_server: Callable[..., RunningServer],
    new_worker: Callable[[RunningServer], RunningWorker],
    receiver: Receiver,
    workspace: Path,
    tmp_path: Path,
    seed: int,
) -> None:
    draw = random.Random(seed)
    set_up(workspace, receiver.url)
    server = start_server(durable_postgres.url(), running=False)
    server.start(DOOMED)
    worker = new_worker(server)
    assert worker.start(DOOMED)
    shift = Shift(server, receiver, seed, tmp_path)
    with shift.at_work():
        for number in range(OUTAGES):
            threading.Event().wait(draw.uniform(0.5, 2.5))
            how: Literal["fast", "immediate"] = "immediate" if number % 2 else "fast"
            durable_postgres.stop(how)
            threading.Event().wait(draw.uniform(0, 2))
            durable_postgres.start()

    shift.check(OUTAGES)


@pytest.fixture(params=["limited", "small"] if may_mount() else ["limited"])
def roomy_disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    """One that has room for two databases and their journals, until it is filled."""
    folder = tmp_path / "disk"
    if request.param == "limited":
        folder.mkdir()
        yield LimitedDisk(folder)
        return
    assert mount(folder, "48m")
    yield SmallDisk(folder)
    unmount(folder)


@pytest.mark.chaos
@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", seeds(short=1, full=6))
def test_a_disk_that_is_full_for_a_while_loses_nothing_and_doubles_nothing(
    roomy_disk: Disk,
    start_server: Callable[..., RunningServer],
    receiver: Receiver,
    tmp_path: Path,
    seed: int,
) -> None:
    draw, disk = random.Random(seed), roomy_disk
    workspace = disk.folder / "workspace"
    (workspace / ".gemba").mkdir(parents=True)
    set_up(workspace, receiver.url)
    server = start_server("", running=False)
    server.workspace = workspace
    server.environment["GEMBA_WORKSPACE"] = str(workspace)
    server.start(DOOMED)
    shift = Shift(server, receiver, seed, tmp_path)
    with shift.at_work():
        for _ in range(FILLINGS):
            threading.Event().wait(draw.uniform(0.5, 2.5))
            disk.fill(server)
            threading.Event().wait(draw.uniform(1, 3))
            disk.free(server)

    shift.check(FILLINGS)
