"""Reminders, their notifications, and the end of what nobody answers: durable flows, on both databases."""

from collections.abc import Callable
from typing import Any

import pytest

from gemba.escalations.policy import HOUR, MINUTE, Channel, Policy
from tests.fixtures.flowing import MOMENT, FlowFloor, phone
from tests.fixtures.receiver import Receiver
from tests.fixtures.servers import free_port

OpenFloor = Callable[..., FlowFloor]

SOON = Policy("soon", remind_after=MOMENT, notify=("phone",))
PATIENT = Policy("patient", remind_after=10 * MINUTE, repeat_every=30 * MINUTE, expire_after=8 * HOUR)


def numbers(floor: FlowFloor) -> list[tuple[int, str]]:
    """(number of the reminder, channel) of what was told."""
    return sorted((told["number"], told["channel"]) for told in floor.until_told("escalation.notified"))


# ---- reminding -----------------------------------------------------------------------------------------------------


def test_whoever_is_to_be_notified_is_once_nobody_looked_for_a_while(open_floor: OpenFloor, receiver: Receiver) -> None:
    floor = open_floor(SOON, channels=(phone(receiver.url),))
    floor.start()

    id = floor.ask("Which port?")

    assert floor.until_told("escalation.notified") == [{"number": 1, "channel": "phone", "ok": True, "problem": None}]
    (request,) = receiver.requests
    assert request.document["title"] == "Blocking blocker: Which port?"
    assert id in request.document["message"]
    assert floor.get(id).reminders == 1
    floor.until_nothing_is_wanted()


def test_reminders_repeat_as_often_as_the_policy_says_and_then_tell_others(
    open_floor: OpenFloor, receiver: Receiver
) -> None:
    repeating = Policy(
        "repeating",
        remind_after=MOMENT,
        repeat_every=MOMENT,
        repeat_at_most=2,
        notify=("phone",),
        then_notify=("team",),
    )
    channels = (
        phone(receiver.url),
        phone(receiver.url, "desk"),
        Channel("team", "group", members=("desk", "page", "inner")),
        Channel("inner", "group", members=("phone", "desk", "team")),
    )
    floor = open_floor(repeating, channels=channels)
    floor.start()

    id = floor.ask()

    floor.until_nothing_is_wanted()
    assert floor.get(id).reminders == 3
    assert numbers(floor) == [(1, "phone"), (2, "desk"), (2, "phone"), (3, "desk"), (3, "phone")]
    titles = [request.document["title"] for request in receiver.requests]
    assert sorted(title.partition(":")[0] for title in titles) == [
        "Blocking blocker",
        *["Blocking blocker (2)"] * 2,
        *["Blocking blocker (3)"] * 2,
    ]


def test_like_asks_that_wait_together_are_told_of_once(open_floor: OpenFloor, receiver: Receiver) -> None:
    floor = open_floor(Policy("p", remind_after=HOUR, notify=("phone",)), channels=(phone(receiver.url),))
    first, *others = (floor.ask("Which port?", session=f"s{number}") for number in range(3))
    other = floor.ask("May I delete the cache?", session="s9")

    floor.later(hours=2)

    for id in (first, *others, other):
        floor.until(id, reminders=1)
    floor.until_told("escalation.notified", many=2)
    floor.until_nothing_is_wanted()
    told = [request.document["message"].splitlines()[0] for request in receiver.requests]
    assert sorted(told) == ["May I delete the cache?", "Which port? (and 2 more ask the same)"]


def test_the_open_page_alone_is_reminded_by_the_event(open_floor: OpenFloor) -> None:
    floor = open_floor(Policy("page", remind_after=MOMENT, notify=("page",)))
    floor.start()
    id = floor.ask()

    assert floor.until_told("escalation.reminded", ref=id) == [{"number": 1, "kind": "blocker"}]
    floor.until_nothing_is_wanted()
    assert floor.notices() == []


def test_a_server_that_was_away_reminds_once_and_not_for_every_time_it_missed(open_floor: OpenFloor) -> None:
    floor = open_floor(PATIENT)
    id = floor.ask()

    floor.later(hours=7)
    floor.until(id, reminders=1)
    floor.later(minutes=31)
    floor.until(id, reminders=2)

    floor.later(hours=1)
    assert floor.until(id, state="expired").reminders == 2


def test_whoever_looks_at_it_is_not_reminded_any_more_and_it_still_ends(open_floor: OpenFloor) -> None:
    floor = open_floor(PATIENT)
    id = floor.ask()
    floor.later(minutes=11)
    floor.until(id, reminders=1)

    floor.act(id, "ack")
    floor.later(hours=2)
    other = floor.ask(session="s2")
    floor.later(hours=5)
    floor.until(other, reminders=1)

    assert floor.get(id).reminders == 1
    floor.later(hours=1)
    assert floor.until(id, state="expired").reminders == 1


@pytest.mark.parametrize("expire_after", [8 * HOUR, None])
def test_a_snooze_pauses_the_reminders_and_they_go_on_after_it(open_floor: OpenFloor, expire_after: int | None) -> None:
    floor = open_floor(Policy("p", remind_after=10 * MINUTE, repeat_every=30 * MINUTE, expire_after=expire_after))
    id = floor.ask()
    floor.later(minutes=11)
    floor.until(id, reminders=1)

    floor.act(id, "snooze", seconds=3_600)
    floor.later(minutes=50)
    other = floor.ask(session="s2")
    floor.later(minutes=11)
    floor.until(other, reminders=1)

    floor.until(id, reminders=2)
    names = ("escalation.reminded", "escalation.snoozed", "escalation.reopened")
    assert [event.name for event in floor.told(*names, ref=id)] == [
        "escalation.reminded",
        "escalation.snoozed",
        "escalation.reopened",
        "escalation.reminded",
    ]


def test_what_is_answered_is_not_reminded_of(open_floor: OpenFloor, receiver: Receiver) -> None:
    floor = open_floor(Policy("p", remind_after=10 * MINUTE, notify=("phone",)), channels=(phone(receiver.url),))
    answered, other = floor.ask(), floor.ask(session="s2")
    floor.act(answered, "respond", text="8080")

    floor.later(minutes=11)

    floor.until_told("escalation.notified", ref=other)
    assert len(receiver.requests) == 1
    assert floor.get(answered).reminders == 0


def test_an_ask_keeps_the_policy_it_came_under(open_floor: OpenFloor) -> None:
    floor = open_floor(PATIENT)
    id = floor.ask()
    floor.close()
    floor = open_floor(Policy("other"))

    floor.later(hours=9)

    assert floor.until(id, state="expired").policy == "patient"


# ---- a channel that fails ------------------------------------------------------------------------------------------


def until_each_was_tried(floor: FlowFloor, tries: int) -> None:
    def each_was() -> bool:
        told = [entry["channel"] for entry in floor.until_told("escalation.notified")]
        return told.count("phone") >= tries and told.count("desk") >= tries

    floor.commits.until(each_was)
    floor.at_rest()


def test_a_channel_that_fails_is_tried_again_after_longer_and_longer_pauses_and_then_given_up(
    open_floor: OpenFloor, receiver: Receiver
) -> None:
    policy = Policy("p", remind_after=MINUTE, repeat_every=HOUR, notify=("phone", "desk"))
    receiver.status = 500
    floor = open_floor(policy, channels=(phone(receiver.url), phone(f"json://127.0.0.1:{free_port()}/x", "desk")))
    id = floor.ask()
    floor.later(minutes=2)
    until_each_was_tried(floor, 1)
    for tries, pause in enumerate([15, 30, 60], start=2):
        floor.later(seconds=pause)
        until_each_was_tried(floor, tries)

    told = floor.until_told("escalation.notified", 8)
    assert sorted((entry["channel"], entry["ok"], entry["problem"]) for entry in told) == [
        *[("desk", False, "desk: the json service cannot be reached, or did not answer")] * 4,
        *[("phone", False, "phone: the json service refused it with 500")] * 4,
    ]
    assert floor.notices() == [(1, "desk", False), (1, "phone", False)]
    floor.later(seconds=120)
    floor.commits.until(lambda: not [wanted for wanted in floor.wanted() if wanted.startswith("notify/")])
    assert len(receiver.requests) == 4

    receiver.status = 200
    floor.later(hours=1)
    floor.until(id, reminders=2)
    floor.commits.until(lambda: (2, "phone", True) in floor.notices())


def test_a_channel_that_comes_back_is_told_once(open_floor: OpenFloor, receiver: Receiver) -> None:
    receiver.status = 503
    floor = open_floor(SOON, channels=(phone(receiver.url),))
    floor.start()
    floor.ask()
    floor.until_told("escalation.notified", 1)
    receiver.status = 200

    floor.later(seconds=16)

    told = floor.until_told("escalation.notified", 2)
    assert [entry["ok"] for entry in told] == [False, True]
    floor.until_nothing_is_wanted()
    assert floor.notices() == [(1, "phone", True)]
    assert len(receiver.requests) == 2


def test_nobody_is_told_again_of_what_is_answered_meanwhile(open_floor: OpenFloor, receiver: Receiver) -> None:
    receiver.status = 503
    floor = open_floor(SOON, channels=(phone(receiver.url),))
    floor.start()
    id = floor.ask()
    floor.until_told("escalation.notified", 1)

    floor.act(id, "dismiss")
    floor.commits.until(lambda: not [wanted for wanted in floor.wanted() if wanted.startswith("watch/")])

    assert len(receiver.requests) == 1


def test_a_channel_that_is_gone_from_the_settings_is_recorded_as_such(open_floor: OpenFloor) -> None:
    floor = open_floor(Policy("p", remind_after=HOUR, notify=("phone",)), channels=(phone("json://127.0.0.1:1/x"),))
    id = floor.ask()
    floor.close()
    floor = open_floor()

    floor.later(hours=2)

    floor.until(id, reminders=1)
    floor.until_nothing_is_wanted()
    assert floor.notices() == []


# ---- clocks that jump ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("days", [1, -1])
def test_a_clock_that_is_set_neither_ends_a_wait_nor_makes_it_longer(open_floor: OpenFloor, days: int) -> None:
    quick = Policy("quick", kinds=("question",), remind_after=MOMENT, repeat_every=MOMENT, repeat_at_most=20)
    floor = open_floor(quick, Policy("slow", remind_after=HOUR, expire_after=2 * HOUR))
    floor.start()
    slow = floor.ask()
    quick_one = floor.ask(kind="question", session="s2")
    floor.until(quick_one, reminders=3)

    floor.jump(days=days)

    floor.until(quick_one, reminders=21)
    assert (floor.get(slow).reminders, floor.get(slow).state) == (0, "open")


# ---- the end ---------------------------------------------------------------------------------------------------


def finished(asker: Any) -> tuple[str, str, int]:
    printed, errors = asker.communicate(timeout=30)
    return printed, errors, asker.returncode


def test_an_ask_that_expires_is_told_as_that_and_never_as_declined(open_floor: OpenFloor) -> None:
    floor = open_floor(Policy("p", expire_after=4 * MOMENT))
    floor.start()

    printed, errors, code = finished(floor.asker())

    assert (printed, code) == ("nobody answered in time\n", 11)
    assert "declined" not in printed + errors
    assert [event.name for event in floor.told("escalation.expired", "escalation.dismissed")] == ["escalation.expired"]


def test_a_default_answer_is_given_when_the_time_is_over_and_told_as_one(open_floor: OpenFloor) -> None:
    floor = open_floor(Policy("p", expire_after=4 * MOMENT, default_answer="Use 8080."))
    floor.start()

    printed, errors, code = finished(floor.asker())

    assert (printed, code) == ("Use 8080.\n", 10)
    assert "declined" not in printed + errors
    (resolved,) = floor.told("escalation.resolved")
    shown = floor.until(str(resolved.ref), delivery="delivered")
    assert shown.resolution is not None
    assert (shown.state, shown.resolution.outcome, shown.resolution.by, shown.seen_at) == (
        "resolved",
        "default",
        "policy",
        None,
    )


def test_a_default_option_answers_with_its_words(open_floor: OpenFloor) -> None:
    floor = open_floor(Policy("p", expire_after=MOMENT, default_option=2))
    floor.start()

    id = floor.ask(options=["red", "green"])

    resolution = floor.until(id, state="resolved").resolution
    assert resolution is not None
    assert (resolution.outcome, resolution.option, resolution.text) == ("default", 2, "green")


NUMBER = {"type": "integer"}


@pytest.mark.parametrize(
    ("policy", "ask"),
    [
        (Policy("p", expire_after=MOMENT, default_option=3), {"options": ["red", "green"]}),
        (Policy("p", expire_after=MOMENT, default_option=1), {}),
        (Policy("p", expire_after=MOMENT, default_answer="blue"), {"options": ["red", "green"]}),
        (Policy("p", expire_after=MOMENT, default_answer="eight"), {"schema": NUMBER}),
    ],
)
def test_a_default_answer_that_does_not_fit_is_not_given_and_the_ask_expires(
    open_floor: OpenFloor, policy: Policy, ask: dict[str, Any]
) -> None:
    floor = open_floor(policy)
    floor.start()

    id = floor.ask(**ask)

    resolution = floor.until(id, state="expired").resolution
    assert resolution is not None
    assert (resolution.outcome, resolution.text, resolution.by) == ("expired", "nobody answered in time", "policy")


def test_a_default_answer_to_an_ask_with_a_schema_is_a_value(open_floor: OpenFloor) -> None:
    floor = open_floor(Policy("p", expire_after=MOMENT, default_answer="8080"))
    floor.start()

    id = floor.ask(schema=NUMBER)

    resolution = floor.until(id, state="resolved").resolution
    assert resolution is not None
    assert (resolution.value, resolution.text) == (8080, "8080")


def test_an_answer_in_the_last_moment_is_the_only_one(open_floor: OpenFloor) -> None:
    floor = open_floor(Policy("p", expire_after=HOUR, default_answer="8080"))
    id = floor.ask()
    floor.act(id, "respond", text="9090")

    floor.later(hours=2)
    floor.commits.until(lambda: not [wanted for wanted in floor.wanted() if wanted.startswith("watch/")])

    shown = floor.get(id)
    assert shown.resolution is not None
    assert (shown.state, shown.resolution.text) == ("resolved", "9090")
    assert [event.name for event in floor.told("escalation.resolved", "escalation.expired")] == ["escalation.resolved"]
