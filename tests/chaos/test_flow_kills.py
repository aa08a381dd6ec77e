"""`kill -9` of server and worker inside the commit windows of the flows: each thing happens once, nothing is lost."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from gemba.testing import effort, seeds
from tests.chaos import doomed
from tests.chaos.floor import DOOMED, Mortal, Somebody, Witness, doom
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
from tests.fixtures.receiver import Receiver
from tests.fixtures.servers import RunningServer
from tests.fixtures.workers import RunningWorker

KILLS = effort(3, 6)  # a round; every other one of the worker, while no server runs
LIFE = 20.0  # seconds that a process gets to reach its point
_COMMITS = ("begin", "insert events", "commit begins", "commit done", "frames read", "frames committed")
SERVER = (*_COMMITS, *doomed.FLOW_POINTS, *doomed.CHECK_POINTS, *doomed.RULE_POINTS)
WORKER = (*_COMMITS, *doomed.FLOW_POINTS)
SELDOM = (*doomed.CHECK_POINTS, *doomed.RULE_POINTS, "insert likes")


@pytest.mark.chaos
@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", seeds(short=1, full=25))
def test_reminders_expiries_checks_and_deliveries_survive_the_death_of_server_and_worker(
    stopped_server: RunningServer,
    new_worker: Callable[[RunningServer], RunningWorker],
    receiver: Receiver,
    tmp_path: Path,
    seed: int,
) -> None:
    server, draw = stopped_server, random.Random(seed)
    set_up(server.workspace, receiver.url)
    mortal, worker = Mortal(server, tmp_path / "died-at"), new_worker(server)
    agents = [PatientAgent(server, f"agent-{number}", f"{seed} {number}") for number in range(4)]
    operators = [BusyOperator(mortal, f"operator-{number}") for number in range(2)]
    witness = Witness(mortal)
    everybody: list[Somebody] = [*agents, *operators, witness]
    mortal.live(DOOMED)
    for somebody in everybody:
        somebody.start()

    for number in range(KILLS):
        point = draw.choice(WORKER if number % 2 else SERVER)
        passage = 1 if point in SELDOM else draw.randint(1, 4)
        if number % 2:
            live_until(worker, point, passage, tmp_path / "died-at")
        else:
            mortal.live_until(point, passage, LIFE)
    assert worker.start(DOOMED)
    mortal.live(DOOMED)
    end(agents)
    asked = [one for agent in agents for one in agent.asked]
    ids = {one.event_id for one in asked}
    witness.wait_for(lambda seen: ids <= {e["ref"] for e in seen if e["name"] == "escalation.delivered"})
    end(operators)
    take_late_answers(server, agents)
    all_done(server)
    found = every_escalation(server)
    check_rule(server, [one for operator in operators for one in operator.rules], found)
    assert worker.stop() == 0
    witness.ended.set()
    server.process.terminate()
    witness.join()
    code, errors = server.stop()
    assert code == 0, errors
    assert [trouble for somebody in everybody for trouble in somebody.trouble] == []
    assert "a flow failed" not in mortal.errors + worker.errors + errors

    check_opened_once(asked, found)
    check_ends(agents, [one for operator in operators for one in operator.sent], found)
    check_told_once(witness.seen, found)
    check_read_once(server.home, found)
    check_notified(receiver, witness.seen, kills=KILLS)
    # The others were killed from outside, at whatever they did.
    assert len(mortal.died_at()) >= KILLS // 2, mortal.died_at()


def live_until(worker: RunningWorker, point: str, passage: int, record: Path) -> None:
    """A life of the worker that ends at the point, or after a while at whatever it does."""
    if worker.start(DOOMED, GEMBA_DOOM=doom(point, passage, record)) and not worker.wait(LIFE):
        worker.process.kill()
    worker.collect()
