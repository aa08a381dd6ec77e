"""Clocks that jump, the agents' and the server's: nothing is lost, order stays sane, typing answers what it may."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from gemba import clock
from gemba.escalations import store, verbs
from gemba.escalations.escalation import Respond
from gemba.store import confirmations
from gemba.store.confirmations import Answer
from tests.fixtures.logs import Logs

DAY = timedelta(days=1)


def at(offset: timedelta) -> str:
    return (datetime.now(UTC) + offset).isoformat()


def opened(logs: Logs) -> list[int]:
    with logs.app.database.read() as connection:
        rows = connection.execute(store.escalations.select().order_by(store.escalations.c.text)).all()
    return [row.opened_at for row in rows]


@pytest.mark.parametrize(
    "ts", ["9999-12-31T23:59:59Z", "+275760-09-13T00:00:00Z", "tomorrow", "", "2026-13-45", "7" * 999]
)
def test_a_frame_with_a_nonsensical_time_is_opened_now(logs: Logs, ts: str) -> None:
    before = clock.now()
    logs.take(logs.ask(ts=ts))

    assert before <= opened(logs)[0] <= clock.now()


def test_clocks_a_day_apart_lose_nothing_and_nothing_comes_from_the_future(logs: Logs) -> None:
    logs.take(logs.ask("1 behind", ts=at(-DAY)), logs.ask("2 ahead", ts=at(DAY)), logs.ask("3 right", ts=at(0 * DAY)))

    behind, ahead, right = opened(logs)
    assert behind < right <= ahead <= clock.now()
    assert behind < clock.now() - 86_000 * clock.SECOND


@pytest.mark.parametrize("jump", [-DAY, DAY, -400 * DAY, 400 * DAY])
def test_a_server_whose_clock_jumps_takes_in_every_frame_once(logs: Logs, jump: timedelta) -> None:
    first, second = logs.ask("first"), logs.ask("second")
    logs.take(first)
    with time_machine.travel(datetime.now(UTC) + jump):
        logs.take(first, second)
        logs.app.prune()
    logs.take(second, logs.ask("third"))

    assert sorted(logs.asked()) == ["first", "second", "third"]
    ids = [event.id for event in logs.told("escalation_opened")]
    assert ids == sorted(ids)
    assert logs.counters()["frames_ingested"] == 3


@pytest.mark.parametrize(
    ("asked", "typed", "answered"),
    [
        (timedelta(), timedelta(), True),
        (-DAY, timedelta(), True),  # waited in its log while the server was down
        (DAY, timedelta(seconds=5), True),  # the asker's clock ran ahead and was set right
        (timedelta(), -DAY, False),  # set back: it may have been typed before the ask
        (timedelta(), DAY, True),
    ],
)
def test_typing_answers_what_was_asked_before_it_by_clocks_that_can_be_believed(
    logs: Logs, asked: timedelta, typed: timedelta, answered: bool
) -> None:
    logs.take(logs.ask("Which?", ts=at(asked)))
    with time_machine.travel(datetime.now(UTC) + timedelta(seconds=10)):
        logs.take(logs.frame("UserPromptSubmit", {"prompt": "that one"}, ts=at(typed - timedelta(seconds=5))))

    assert logs.state("Which?") == ("resolved" if answered else "open")


@pytest.mark.parametrize("jump", [-2 * DAY, 2 * DAY])
def test_a_confirmed_request_is_not_carried_out_twice_when_the_clock_jumps(logs: Logs, jump: timedelta) -> None:
    logs.take(logs.ask(event_id="e-1"))

    def respond() -> Answer:
        with logs.app.database.transaction() as tx:

            def run() -> Answer:
                done = verbs.respond(tx, Respond(text="yes"), id="e-1")
                return Answer(200, done.state.encode())

            return confirmations.once(
                tx, "confirm-1", "the request", run, lambda error: Answer(409, str(error).encode())
            )

    first = respond()
    with time_machine.travel(datetime.now(UTC) + jump):
        if jump < timedelta():
            assert respond().body == first.body
        else:  # forgotten after a day; the state refuses it then
            assert "it is resolved already" in respond().body.decode()
    assert len(logs.told("escalation.resolved")) == 1


def test_a_snooze_over_a_clock_that_jumps_ends(logs: Logs) -> None:
    logs.take(logs.ask(event_id="e-1"))
    with time_machine.travel(datetime.now(UTC) + DAY), logs.app.database.transaction() as tx:
        verbs.snooze(tx, verbs.Snooze(seconds=60), id="e-1")
    logs.app.catch_up()
    assert logs.state("Which?") == "snoozed"

    with time_machine.travel(datetime.now(UTC) + DAY + timedelta(seconds=61)):
        logs.app.catch_up()
    assert logs.state("Which?") == "open"
