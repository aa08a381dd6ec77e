"""A wall clock that is set while asks wait: nothing comes early, nothing comes never, nobody is taken for dead."""

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gemba.testing import effort, retry_until
from tests.fixtures.clocks import DAY, WallClock
from tests.fixtures.past import engine_rows, rows
from tests.fixtures.servers import RunningServer, Stream
from tests.fixtures.workers import RunningWorker

HOUR = 3_600
EXPIRY, REMINDER = 6.0, 2.0
_SLACK = 6.0  # what a busy machine takes
_SETTINGS = f"""
[flows]
lease_seconds = 3
[[policy]]
name = "short"
remind_after = "{REMINDER:g}s"
notify = ["page"]
expire_after = "{EXPIRY:g}s"
"""


@pytest.fixture(params=["sqlite", "postgresql"][: effort(1, 2)])
def moved_server(
    request: pytest.FixtureRequest, start_server: Callable[..., RunningServer], wall_clock: WallClock
) -> RunningServer:
    """A server whose wall clock the test sets."""
    server = start_server(request.getfixturevalue(f"{request.param}_url"), running=False)
    (server.workspace / ".gemba/workspace.toml").write_text(_SETTINGS)
    wall_clock.govern(server)
    return server


def ask(server: RunningServer) -> str:
    payload = {"kind": "question", "role": "coach", "mode": "balanced", "text": "Which port?"}
    return server.append("GembaAsk", payload)


class Heard:
    """When the events of an ask came, in seconds of a clock that nobody sets."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._began = time.monotonic()
        self.at: dict[tuple[str, str], float] = {}

    def until(self, name: str, *ids: str) -> None:
        while not all((name, id) in self.at for id in ids):
            event = self._stream.next()
            self.at[event["event"], event["data"]["ref"]] = self.now()

    def __call__(self, name: str, id: str) -> float:
        return self.at[name, id]

    def now(self) -> float:
        return time.monotonic() - self._began


# ---- it jumps while policies wait -----------------------------------------------------------------------------------


@pytest.mark.chaos
@pytest.mark.parametrize("days", [1, -1], ids=["ahead", "back"])
def test_a_clock_that_jumps_by_a_day_makes_nothing_early_and_nothing_late(
    moved_server: RunningServer,
    new_worker: Callable[[RunningServer], RunningWorker],
    wall_clock: WallClock,
    days: int,
) -> None:
    server, worker = moved_server, new_worker(moved_server)
    server.start()
    assert worker.start()
    heard = Heard(server.events())
    asked = heard.now()
    reminded, seen, held = ask(server), ask(server), ask(server)
    heard.until("escalation_opened", reminded, seen, held)
    # Their flows have begun to count: before that, a moment, a clock that is set cannot be told from time that passed.
    retry_until(lambda: engine_rows(server, "select count(*) from operation_outputs") >= [(3,)], timeout=_SLACK)

    wall_clock.move(days * DAY)
    # What is seen is planned anew, by the clock as it is now; so is what comes behind a reminder.
    server.post(f"/api/escalations/{seen}/ack", {})
    asked_after = heard.now()
    after_the_jump = ask(server)
    hold_began = heard.now()
    answered = server.post(f"/api/escalations/{held}/respond", {"text": "8080", "hold": 3})
    assert answered["held_until"] is not None
    heard.until("escalation.sent", held)
    retry_until(lambda: (server.home / f"replies/{held}.json").exists(), timeout=_SLACK)
    heard.until("escalation.expired", reminded, seen, after_the_jump)

    assert asked + REMINDER < heard("escalation.reminded", reminded) < REMINDER + _SLACK
    assert ("escalation.reminded", seen) not in heard.at
    for id, began in ((reminded, asked), (seen, asked), (after_the_jump, asked_after)):
        assert began + EXPIRY < heard("escalation.expired", id) < heard("escalation_opened", id) + EXPIRY + _SLACK
    assert heard("escalation.reminded", after_the_jump) > asked_after + REMINDER
    assert 3 < heard("escalation.sent", held) - hold_began < 3 + _SLACK
    # Of the two that run the flows neither took the other for dead, in two leases.
    assert len(rows(server, "select id from executors")) == 2
    worker.process.send_signal(signal.SIGTERM)  # together: whoever goes on alone takes the other's runs over
    code, errors = server.stop()
    assert (code, worker.stop()) == (0, 0)
    assert "is dead" not in errors + worker.errors


@pytest.mark.chaos
def test_after_a_start_with_a_clock_a_day_back_nothing_waits_longer_than_its_policy_says(
    moved_server: RunningServer, wall_clock: WallClock
) -> None:
    server = moved_server
    server.start()
    id = ask(server)
    stream = server.events(after=0)
    stream.until("escalation.reminded")
    server.stop()
    wall_clock.move(-DAY)

    server.start()
    started = time.monotonic()
    server.events(after=0).until("escalation.expired")

    assert time.monotonic() - started < EXPIRY + _SLACK
    found = server.get(f"/api/escalations/{id}")
    assert (found["state"], found["reminders"]) == ("expired", 1)


@pytest.mark.chaos
def test_what_fell_due_while_no_server_ran_happens_when_one_does_and_once(
    moved_server: RunningServer, wall_clock: WallClock
) -> None:
    server = moved_server
    server.start()
    id = ask(server)
    server.events(after=0).until("escalation_opened")
    server.stop()
    wall_clock.move(DAY)

    server.start()
    server.events(after=0).until("escalation.expired")
    retry_until(lambda: not rows(server, "select * from flows where name = 'watch'"), timeout=_SLACK)

    names = [name for (name,) in rows(server, f"select name from events where ref = '{id}' order by id")]
    assert names.count("escalation.expired") == 1
    assert names.count("escalation.reminded") <= 1


# ---- an hour --------------------------------------------------------------------------------------------------------


@pytest.mark.chaos
def test_after_a_wait_of_an_hour_and_two_restarts_the_answer_arrives(
    moved_server: RunningServer, wall_clock: WallClock
) -> None:
    server = moved_server
    (server.workspace / ".gemba/workspace.toml").unlink()
    server.start()
    asker = server.ask("--kind", "blocker", "--role", "manager", "--text", "Which port?", "--wait", str(2 * HOUR))
    assert asker.stderr is not None
    id = asker.stderr.readline().split()[0]
    server.events(after=0).until("escalation_opened")

    server.stop()
    wall_clock.move(HOUR // 2)
    server.start()
    wall_clock.move(HOUR // 2)
    server.kill()
    server.start()
    given = server.post(f"/api/escalations/{id}/respond", {"text": "8080"})
    printed, _ = asker.communicate(timeout=30)

    assert (printed, asker.returncode) == ("8080\n", 0)
    server.events(after=0).until("escalation.delivered")
    opened, resolved = given["opened_at"], given["resolution"]["at"]
    assert seconds(resolved) - seconds(opened) >= HOUR
    read = [json.loads(line) for line in session_log(server.home) if b"GembaReplyRead" in line]
    assert [frame["payload"]["event_id"] for frame in read] == [id]
    assert seconds(read[0]["ts"]) - seconds(opened) >= HOUR  # the asker's clock has moved as well


def session_log(home: Path) -> list[bytes]:
    return [line for log in (home / "sessions").iterdir() for line in log.read_bytes().splitlines()]


def seconds(moment: Any) -> float:
    from gemba import clock

    found = clock.parse(moment)
    assert found is not None
    return found / clock.SECOND
