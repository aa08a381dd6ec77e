"""A reply's way to its agent: held back, sent, read or not, laid down as a turn, tried again, rerouted, late."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from gemba import clock, wire
from gemba.errors import Conflict, Invalid, NotFound
from gemba.escalations import delivery
from gemba.escalations.assumptions import assumptions
from gemba.escalations.policy import HOUR, Policy
from tests.fixtures.flowing import FlowFloor
from tests.fixtures.servers import BIN

OpenFloor = Callable[..., FlowFloor]

QUICK = {"undelivered_after": 60}
EXPIRING = Policy("p", expire_after=HOUR)
DEFAULTING = Policy("p", expire_after=HOUR, default_answer="8080")


def answered(floor: FlowFloor, text: str = "8080", session: str = "s1", hold: int = 0) -> str:
    id = floor.ask(session=session)
    floor.act(id, "respond", text=text, hold=hold)
    return id


def unread(open_floor: OpenFloor) -> tuple[FlowFloor, str]:
    """An answer that nobody has read in time."""
    floor = open_floor(**QUICK)
    id = answered(floor)
    floor.later(seconds=61)
    floor.until(id, delivery="undelivered")
    floor.commits.until(lambda: floor.turn(id))
    return floor, id


def refused(floor: FlowFloor, id: str, verb: str, **body: Any) -> Conflict:
    with pytest.raises(Conflict) as error:
        floor.act(id, verb, **body)
    return error.value


def test_a_reply_that_is_read_before_anybody_saw_to_it_needs_nobody(open_floor: OpenFloor) -> None:
    floor = open_floor()
    id = answered(floor)
    assert [one.split("/")[:2] for one in floor.wanted()] == [["deliver", id]]

    floor.say("GembaReplyRead", {"event_id": id})

    assert (floor.get(id).delivery, floor.wanted()) == ("delivered", [])


def test_a_reply_is_seen_to_though_somebody_sets_the_clock_back(open_floor: OpenFloor) -> None:
    floor = open_floor()
    floor.start()
    answered(floor)

    floor.jump(hours=-1)

    floor.at_rest()
    assert len(floor.wanted()) == 1


# ---- held back -----------------------------------------------------------------------------------------------------


def test_an_answer_is_held_back_as_long_as_it_says_and_sent_then(open_floor: OpenFloor) -> None:
    floor = open_floor()
    floor.start()
    id = answered(floor, hold=60)
    held = floor.get(id)
    assert (held.state, held.delivery) == ("resolved", "pending")
    assert held.held_until is not None
    floor.later(seconds=30)
    floor.at_rest()
    assert floor.reply(id) is None

    floor.later(seconds=31)

    reply = floor.commits.until(lambda: floor.reply(id))
    assert (reply["text"], reply["outcome"]) == ("8080", "answered")
    shown = floor.until(id, held_until=None)
    assert (shown.delivery, shown.attempts) == ("pending", 0)
    assert floor.until_told("escalation.sent") == [{"attempt": 1}]


def test_an_answer_that_is_held_for_a_second_waits_for_a_second(open_floor: OpenFloor) -> None:
    floor = open_floor()
    floor.start()
    begun = clock.elapsed()
    id = answered(floor, hold=1)

    floor.commits.until(lambda: floor.reply(id))

    assert clock.elapsed() - begun >= clock.SECOND


def test_an_answer_is_undone_while_it_is_held_and_nobody_gets_it(open_floor: OpenFloor) -> None:
    floor = open_floor()
    floor.start()
    id = answered(floor, "a mistake", hold=60)

    reopened = floor.act(id, "reopen")

    assert (reopened.state, reopened.delivery, reopened.resolution, reopened.held_until) == ("open", "none", None, None)
    floor.until_nothing_is_wanted()
    floor.act(id, "respond", text="8080")
    assert floor.commits.until(lambda: floor.reply(id))["text"] == "8080"
    floor.later(seconds=61)
    floor.at_rest()
    assert (floor.reply(id) or {})["text"] == "8080"


def test_an_answer_is_undone_while_it_is_held_although_the_server_was_restarted(open_floor: OpenFloor) -> None:
    floor = open_floor()
    floor.start()
    id = answered(floor, hold=60)
    floor.later(seconds=30)

    assert floor.act(id, "reopen").state == "open"

    floor.later(seconds=60)
    floor.until_nothing_is_wanted()
    assert floor.reply(id) is None
    assert floor.get(id).state == "open"


def test_what_was_sent_cannot_be_undone(open_floor: OpenFloor) -> None:
    floor = open_floor()
    id = answered(floor, hold=60)
    floor.later(seconds=61)
    floor.commits.until(lambda: floor.reply(id))

    error = refused(floor, id, "reopen")

    assert error.code == "not_reopenable"
    assert floor.get(id).state == "resolved"


def test_what_would_be_sent_by_now_cannot_be_undone_either(open_floor: OpenFloor) -> None:
    floor = open_floor()
    id = answered(floor, hold=60)
    floor.jump(seconds=61)

    assert refused(floor, id, "reopen").code == "not_reopenable"


def test_what_is_undone_is_counted_anew_by_its_policy(open_floor: OpenFloor) -> None:
    floor = open_floor(EXPIRING)
    id = floor.ask()
    floor.later(minutes=50)
    floor.act(id, "respond", text="8080", hold=60)
    floor.act(id, "reopen")

    floor.later(minutes=30)
    floor.at_rest()
    assert floor.get(id).state == "open"
    floor.later(minutes=31)

    floor.until(id, state="expired")


# ---- read, or not --------------------------------------------------------------------------------------------------


def test_a_reply_that_is_read_in_time_is_delivered_and_nothing_more_happens(open_floor: OpenFloor) -> None:
    floor = open_floor()
    floor.start()
    asker = floor.asker()
    (opened,) = floor.commits.until(lambda: floor.told("escalation_opened"))
    floor.act(str(opened.ref), "respond", text="8080")

    printed, _ = asker.communicate(timeout=30)

    assert (printed, asker.returncode) == ("8080\n", 0)
    floor.until(str(opened.ref), delivery="delivered")
    floor.until_nothing_is_wanted()
    assert floor.told("escalation.undelivered", "escalation.sent") == []
    assert not (floor.app.home / "turns").exists()


def late_turn(floor: FlowFloor, id: str) -> dict[str, Any] | None:
    turn = floor.turn(id)
    return turn if turn is not None and turn.get("late") else None


def test_an_answer_that_nobody_waits_for_is_the_next_turn_at_once(open_floor: OpenFloor) -> None:
    floor = open_floor(**QUICK)
    floor.start()

    id = answered(floor)

    turn = floor.commits.until(lambda: floor.turn(id))
    assert (turn["text"], turn.get("late")) == ("8080", None)
    assert (floor.get(id).delivery, floor.get(id).turn_session) == ("pending", "s1")


def test_a_reply_that_nobody_reads_is_undelivered_and_laid_down_as_the_next_turn(open_floor: OpenFloor) -> None:
    floor = open_floor(**QUICK)
    floor.start()
    id = floor.ask(wait=True)
    floor.act(id, "respond", text="8080")
    floor.later(seconds=50)
    floor.at_rest()
    assert (floor.get(id).delivery, floor.turn(id)) == ("pending", None)

    floor.later(seconds=11)

    shown = floor.until(id, delivery="undelivered")
    assert (shown.delivery_note, shown.turn_session, shown.attempts) == (delivery.UNREAD, "s1", 1)
    turn = floor.commits.until(lambda: floor.turn(id))
    asked = {"question": "Which port?", "session_id": "s1", "workspace": str(floor.app.workspace.root)}
    assert turn == {**(floor.reply(id) or {}), **asked}
    assert (turn["event_id"], turn["text"], turn["outcome"]) == (id, "8080", "answered")


def test_a_turn_is_gone_once_it_was_read(open_floor: OpenFloor) -> None:
    floor, id = unread(open_floor)

    floor.say("GembaReplyRead", {"event_id": id})

    shown = floor.until(id, delivery="delivered")
    assert shown.delivery_note is None
    floor.commits.until(lambda: floor.turn(id) is None)
    floor.until_nothing_is_wanted()
    assert floor.reply(id) is not None


def test_an_undelivered_reply_is_tried_again_after_longer_and_longer_pauses(open_floor: OpenFloor) -> None:
    floor, id = unread(open_floor)
    for attempt in (2, 3, 4):
        planned = floor.commits.until(lambda: floor.get(id).next_attempt_at)
        due = clock.parse(planned)
        assert due is not None
        left = (due - clock.now()) / clock.SECOND
        assert 30 * 2 ** (attempt - 1) - 25 < left <= 30 * 2 ** (attempt - 1)
        Path(wire.reply_path(str(floor.app.home), id)).unlink()

        floor.later(seconds=left + 1)

        floor.until(id, attempts=attempt)
        floor.commits.until(lambda: floor.reply(id))
    assert [told["attempt"] for told in floor.until_told("escalation.sent", 3)] == [2, 3, 4]
    assert len(floor.told("escalation.undelivered")) == 1


def test_pauses_double_up_to_an_hour_and_the_attempts_last_for_more_than_a_day() -> None:
    seconds = [delivery.pause_before(attempt) // clock.SECOND for attempt in range(2, delivery.ATTEMPTS + 1)]

    assert seconds[:7] == [60, 120, 240, 480, 960, 1920, 3600]
    assert set(seconds[7:]) == {3600}
    assert sum(seconds) > 86_400


def test_after_the_last_attempt_the_reply_stays_where_it_is(
    open_floor: OpenFloor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "ATTEMPTS", 2)
    floor, id = unread(open_floor)

    floor.later(seconds=61)

    floor.until(id, attempts=2)
    floor.until_nothing_is_wanted()
    assert (floor.get(id).delivery, floor.get(id).next_attempt_at) == ("undelivered", None)
    assert floor.turn(id) is not None
    floor.say("GembaReplyRead", {"event_id": id})
    floor.until(id, delivery="delivered")


def test_reading_by_a_session_that_it_is_not_for_delivers_nothing(open_floor: OpenFloor) -> None:
    floor, id = unread(open_floor)

    floor.say("GembaReplyRead", {"event_id": id}, "s2")

    assert floor.get(id).delivery == "undelivered"
    assert floor.turn(id) is not None


def test_an_overturned_assumption_that_nobody_reads_is_undelivered(open_floor: OpenFloor) -> None:
    floor = open_floor(**QUICK)
    id = floor.say(
        "GembaAsk", {"kind": "assumption", "role": "coach", "text": "Which port?", "mode": "balanced", "chose": "80"}
    )
    floor.act(id, "overturn", text="81")

    floor.later(seconds=61)

    def delivered() -> str:
        with floor.app.database.read() as connection:
            found: str = connection.execute(select(assumptions.c.delivery).where(assumptions.c.id == id)).scalar_one()
        return found

    floor.commits.until(lambda: delivered() == "undelivered")
    floor.say("GembaReplyRead", {"event_id": id})
    assert delivered() == "delivered"
    floor.until_nothing_is_wanted()


# ---- another way ---------------------------------------------------------------------------------------------------


def test_a_reply_is_sent_to_its_asker_once_more(open_floor: OpenFloor) -> None:
    floor, id = unread(open_floor)

    again = floor.act(id, "reroute", to="asker")

    assert (again.delivery, again.delivery_note, again.attempts, again.turn_session) == ("pending", None, 0, "s1")
    assert floor.until_told("escalation.rerouted") == [{"to": "asker", "session_id": "s1"}]
    floor.later(seconds=61)
    floor.until(id, delivery="undelivered")
    assert len([wanted for wanted in floor.wanted() if wanted.startswith("deliver/")]) == 1


def test_a_reply_becomes_the_next_turn_of_another_session(open_floor: OpenFloor) -> None:
    floor, id = unread(open_floor)
    floor.say("SessionStart", {"source": "startup"}, "s2")

    again = floor.act(id, "reroute", to="session", session_id="s2")

    assert (again.delivery, again.turn_session) == ("pending", "s2")
    turn = floor.commits.until(lambda: floor.turn(id, "s2"))
    assert (turn["text"], turn["question"]) == ("8080", "Which port?")
    floor.commits.until(lambda: floor.turn(id, "s1") is None)
    floor.say("GembaReplyRead", {"event_id": id}, "s3")
    assert floor.get(id).delivery == "pending"
    floor.say("GembaReplyRead", {"event_id": id}, "s2")
    floor.until(id, delivery="delivered")
    floor.commits.until(lambda: floor.turn(id, "s2") is None)


def test_a_reply_that_was_told_by_hand_is_delivered(open_floor: OpenFloor) -> None:
    floor, id = unread(open_floor)

    told = floor.act(id, "reroute", to="hand")

    assert (told.delivery, told.delivery_note) == ("delivered", "told by hand")
    floor.commits.until(lambda: floor.turn(id) is None)
    floor.until_nothing_is_wanted()


def test_only_an_undelivered_reply_can_be_sent_another_way(open_floor: OpenFloor) -> None:
    floor = open_floor(**QUICK)
    floor.start()
    still_open, pending = floor.ask(), answered(floor)

    for id, found in ((still_open, "none"), (pending, "pending")):
        error = refused(floor, id, "reroute", to="hand")
        assert (error.code, error.found) == ("not_reroutable", found)
    floor.say("GembaReplyRead", {"event_id": pending})
    floor.until(pending, delivery="delivered")
    assert refused(floor, pending, "reroute", to="asker").found == "delivered"


def test_an_answer_in_the_agents_own_window_goes_no_other_way_and_can_be_said_to_be_given_there(
    open_floor: OpenFloor,
) -> None:
    floor = open_floor()
    id = floor.say("PermissionRequest", {"tool_name": "Bash", "tool_input": {"command": "make"}})
    floor.act(id, "respond", decision="yes")

    assert refused(floor, id, "reroute", to="asker").code == "not_reroutable"
    assert floor.act(id, "reroute", to="hand").delivery == "delivered"


def test_another_session_must_be_named_and_known(open_floor: OpenFloor) -> None:
    floor, id = unread(open_floor)

    with pytest.raises(Invalid) as missing:
        floor.act(id, "reroute", to="session")
    assert (missing.value.code, missing.value.pointer) == ("missing_field", "/session_id")
    with pytest.raises((Invalid, NotFound)):
        floor.act(id, "reroute", to="session", session_id="nobody")
    assert floor.get(id).delivery == "undelivered"


# ---- late answers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("policy", "state"), [(EXPIRING, "expired"), (DEFAULTING, "resolved")])
def test_a_late_answer_is_the_agents_next_turn_at_once(open_floor: OpenFloor, policy: Policy, state: str) -> None:
    floor = open_floor(policy)
    id = floor.ask()
    floor.later(hours=2)
    floor.until(id, state=state)
    floor.commits.until(lambda: floor.reply(id))

    late = floor.act(id, "respond", text="9090")

    assert (late.state, late.late, late.delivery, late.turn_session) == ("resolved", True, "pending", "s1")
    assert (late.resolution.outcome, late.resolution.text, late.resolution.late) == ("answered", "9090", True)
    turn = floor.commits.until(lambda: late_turn(floor, id))
    assert (turn["text"], turn["late"], turn["question"]) == ("9090", True, "Which port?")
    assert refused(floor, id, "respond", text="7070").code == "already_resolved"
    assert refused(floor, id, "reopen").code == "not_reopenable"


def test_a_late_answer_is_printed_by_the_agents_next_look_and_counts_as_read(open_floor: OpenFloor) -> None:
    floor = open_floor(EXPIRING)
    id = floor.ask()
    floor.later(hours=2)
    floor.until(id, state="expired")
    floor.act(id, "respond", text="9090")
    floor.commits.until(lambda: late_turn(floor, id))

    environment = {"GEMBA_HOME": str(floor.app.home), "GEMBA_SESSION_ID": "s1", "GEMBA_INTERACTION_MODE": "balanced"}
    workspace = str(floor.app.workspace.root)
    looked = subprocess.run(
        [BIN / "gemba-ask", "--next"],
        env={**os.environ, **environment, "GEMBA_WORKSPACE": workspace},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert "9090" in looked.stdout, looked
    assert looked.returncode == 0, looked
    assert "declined" not in looked.stdout + looked.stderr
    floor.until(id, delivery="delivered")
    floor.commits.until(lambda: floor.turn(id) is None)
    floor.until_nothing_is_wanted()


@pytest.mark.parametrize("how", ["respond", "dismiss"])
def test_what_a_person_decided_cannot_be_answered_late(open_floor: OpenFloor, how: str) -> None:
    floor = open_floor(EXPIRING)
    id = floor.ask()
    floor.act(id, how, text="8080")

    assert refused(floor, id, "respond", text="9090").code == "already_resolved"
