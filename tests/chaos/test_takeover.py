"""An executor that dies, stands still or comes back, in the middle of a step: its flows go on, once.

The step is a check of an answer, a program that says when it has begun and ends when it is told to. Who is dead is
known after a lease in which its number stood still, as seen by one who looks three times a lease: it may see the last
beat a third of a lease late, and the end of the lease another third. The engine then looks for work once a second.
"""

import json
import signal
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from gemba.testing import effort, retry_until
from tests.chaos.floor import DOOMED
from tests.fixtures.past import rows
from tests.fixtures.servers import RunningServer
from tests.fixtures.workers import RunningWorker

LEASE = 2.0
BOUND = LEASE + 2 * LEASE / 3 + 1.0
_SLACK = 4.0  # what a busy machine takes to do it

_SETTINGS = f"""
[flows]
lease_seconds = {LEASE:g}
[[policy]]
name = "checked"
verify = {{ check = ["./check-answer"], seconds = 60 }}
"""
# Tells its own number and that of the process that ran it, and ends when there is a file of its number.
_CHECK = """#!/bin/sh
cat > /dev/null
echo "$$ $PPID" >> begun
while [ ! -e "end-$$" ] && [ ! -e end-all ]; do sleep 0.05; done
[ ! -e "refuse-$$" ] || { echo "refused by $$"; exit 1; }
"""


class Checks:
    """The checks of a workspace, as they run."""

    def __init__(self, workspace: Path) -> None:
        self._folder = workspace
        (workspace / ".gemba/workspace.toml").write_text(_SETTINGS)
        program = workspace / "check-answer"
        program.write_text(_CHECK)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)

    def begun(self) -> list[tuple[int, int]]:
        """(the check's process, the executor's process), in order."""
        file = self._folder / "begun"
        lines = file.read_text().splitlines() if file.exists() else []
        return [(int(line.split()[0]), int(line.split()[1])) for line in lines]

    def wait_for(self, many: int, timeout: float = 20.0) -> tuple[int, int]:
        retry_until(lambda: len(self.begun()) >= many, timeout=timeout)
        return self.begun()[many - 1]

    def end(self, check: int, *, refuse: bool = False) -> None:
        if refuse:
            (self._folder / f"refuse-{check}").touch()
        (self._folder / f"end-{check}").touch()

    def end_all(self) -> None:
        (self._folder / "end-all").touch()
        retry_until(lambda: not any(map(_lives, (check for check, _ in self.begun()))), timeout=10)


def _lives(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


@pytest.fixture
def checks(workspace: Path) -> Iterator[Checks]:
    made = Checks(workspace)
    yield made
    made.end_all()


def ask(server: RunningServer, text: str = "Which port?") -> str:
    payload = {"kind": "blocker", "role": "manager", "mode": "balanced", "text": text}
    id = server.append("GembaAsk", payload)
    retry_until(lambda: rows(server, f"select 1 from escalations where id = '{id}'"), timeout=20)
    return id


def propose(server: RunningServer, id: str) -> None:
    """An answer that has to be checked; without a server, by the command that works without one."""
    done = server.gemba("answer", id, "8080")
    assert done.returncode == 0, done


def told(server: RunningServer, id: str) -> list[str]:
    found = rows(server, f"select name from events where ref = '{id}' order by id")
    return [name for (name,) in found]


def wait_until_told(server: RunningServer, id: str, name: str) -> None:
    retry_until(lambda: name in told(server, id), timeout=20)


def executors(server: RunningServer) -> int:
    return len(rows(server, "select id from executors"))


def no_flow_is_left(server: RunningServer) -> None:
    """But for the delivery of the answer, which nobody reads here."""
    left = "select * from flows where name <> 'deliver' or trouble is not null"
    retry_until(lambda: not rows(server, left), timeout=20)


class Floor(NamedTuple):
    """A server and a worker of one workspace, of which one is to die."""

    server: RunningServer
    victim: RunningServer | RunningWorker
    heir: RunningServer | RunningWorker


# Who dies, and on which database; in the short form each once.
DEATHS = (("server", "sqlite"), ("worker", "postgresql"), ("worker", "sqlite"), ("server", "postgresql"))


@pytest.fixture(params=DEATHS[: effort(2, 4)], ids=" on ".join)
def floor(
    request: pytest.FixtureRequest,
    checks: Checks,
    start_server: Callable[..., RunningServer],
    new_worker: Callable[[RunningServer], RunningWorker],
) -> Floor:
    who, database = request.param
    server = start_server(request.getfixturevalue(f"{database}_url"), running=False)
    worker = new_worker(server)
    return Floor(server, *((server, worker) if who == "server" else (worker, server)))


def with_a_check_that_runs(floor: Floor, checks: Checks, command: tuple[str, ...] = (), **environment: str) -> str:
    """The victim is inside a step, and the heir has seen it alive."""
    server, victim, heir = floor
    victim.start(command, **environment)
    id = ask(server)
    propose(server, id)
    assert checks.wait_for(1)[1] == victim.process.pid
    heir.start()
    retry_until(lambda: executors(server) == 2, timeout=20)
    return id


# ---- it dies --------------------------------------------------------------------------------------------------------


@pytest.mark.chaos
def test_a_dead_executor_in_another_process_is_taken_over_within_its_lease(floor: Floor, checks: Checks) -> None:
    """`floor` names the one that dies; the other one takes over."""
    id = with_a_check_that_runs(floor, checks)

    died = time.monotonic()
    floor.victim.kill()
    again, owner = checks.wait_for(2)
    took = time.monotonic() - died

    assert owner == floor.heir.process.pid
    assert LEASE / 2 < took < BOUND + _SLACK
    checks.end(again)
    wait_until_told(floor.server, id, "escalation.resolved")
    no_flow_is_left(floor.server)
    assert executors(floor.server) == 1
    checks.end_all()
    assert told(floor.server, id).count("escalation.resolved") == 1
    assert told(floor.server, id).count("escalation.refused") == 0
    assert len(checks.begun()) == 2


@pytest.mark.chaos
def test_an_executor_that_dies_and_comes_back_carries_on_without_waiting_for_its_lease(
    floor: Floor, checks: Checks
) -> None:
    server, victim, _ = floor
    settings = server.workspace / ".gemba/workspace.toml"
    settings.write_text(_SETTINGS.replace(f"lease_seconds = {LEASE:g}", "lease_seconds = 3600"))
    victim.start()
    id = ask(server)
    propose(server, id)
    checks.wait_for(1)

    victim.kill()
    victim.start()
    again, owner = checks.wait_for(2)

    assert owner == victim.process.pid
    checks.end(again)
    wait_until_told(server, id, "escalation.resolved")
    no_flow_is_left(server)
    checks.end_all()
    assert told(server, id).count("escalation.resolved") == 1
    assert len(checks.begun()) == 2


# ---- it stands still ------------------------------------------------------------------------------------------------


@pytest.mark.chaos
def test_an_executor_that_stood_still_and_comes_back_does_no_further_step(
    floor: Floor, checks: Checks, tmp_path: Path
) -> None:
    server, victim, _heir = floor
    trace = tmp_path / "trace"
    id = with_a_check_that_runs(floor, checks, DOOMED, GEMBA_DOOM=json.dumps({"trace": str(trace)}))
    first = checks.begun()[0][0]

    victim.process.send_signal(signal.SIGSTOP)
    second, owner = checks.wait_for(2)
    assert owner == floor.heir.process.pid
    checks.end(second)
    wait_until_told(server, id, "escalation.resolved")
    # The heir has begun the delivery too: nothing new is left for the one that comes back.
    retry_until(lambda: bool(rows(server, "select * from flows where name = 'deliver' and started")), timeout=20)
    before = len(trace.read_text().splitlines())
    victim.process.send_signal(signal.SIGCONT)
    # It would refuse the answer that was given meanwhile.
    checks.end(first, refuse=True)
    retry_until(lambda: "check done" in passed_after(trace, before), timeout=20)
    # It beats again, more than once: whatever it still had to do is behind it.
    retry_until(lambda: passed_after(trace, before).count("update executors") >= 3, timeout=20)

    after = passed_after(trace, before)
    assert after.count("step done") == 1
    assert [point for point in after if point in ("step begins", "step recorded", "update escalations")] == []
    no_flow_is_left(server)
    assert told(server, id).count("escalation.resolved") == 1
    assert told(server, id).count("escalation.refused") == 0
    assert len(checks.begun()) == 2
    assert executors(server) == 2


def passed_after(trace: Path, lines: int) -> list[str]:
    return [line.partition(" ")[2] for line in trace.read_text().splitlines()[lines:]]
