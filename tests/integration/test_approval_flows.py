"""What happens to approvals in time, as durable flows on both databases."""

from collections.abc import Callable
from typing import Any

import msgspec

from gemba.actions import ACTIONS
from gemba.escalations.policy import HOUR, Policy
from gemba.handoff.approvals import Approval, get, view
from tests.fixtures.flowing import FlowFloor

OpenFloor = Callable[..., FlowFloor]

CALL = {"command": "rm -rf build", "cwd": "/srv/shop", "tool": "Bash", "requester": "dispatch-1", "session_id": "s1"}


def act(floor: FlowFloor, path: str, body: dict[str, Any], **ids: str) -> Any:
    (action,) = (action for action in ACTIONS if action.path == path)
    with floor.app.database.transaction() as tx:
        return action.verb(tx, msgspec.convert(body, action.body), **ids)


def ask(floor: FlowFloor, **changes: Any) -> Approval:
    made: Approval = act(floor, "/api/approvals", {**CALL, **changes})
    return made


def until(floor: FlowFloor, id: str, **expected: Any) -> Approval:
    def as_expected() -> Approval | None:
        with floor.app.database.read() as connection:
            shown = view(get(connection, id))
        return shown if all(getattr(shown, name) == value for name, value in expected.items()) else None

    return floor.commits.until(as_expected)


def test_a_request_that_nobody_decides_expires_with_its_escalation(open_floor: OpenFloor) -> None:
    floor = open_floor()
    floor.start()
    made = ask(floor, expires_in=1)

    ended = until(floor, made.id, state="expired")
    assert (ended.decided_by, ended.grant_state) == ("gemba", None)
    floor.until(made.escalation_id, state="expired")
    floor.until_nothing_is_wanted()


def test_the_wait_outlives_the_server(open_floor: OpenFloor) -> None:
    floor = open_floor()
    floor.start()
    made = ask(floor, expires_in=3_600)
    floor.later(minutes=50)
    until(floor, made.id, state="pending")
    floor.later(minutes=11)

    until(floor, made.id, state="expired")


def test_a_decision_ends_the_wait(open_floor: OpenFloor) -> None:
    floor = open_floor()
    floor.start()
    made = ask(floor)
    act(floor, "/api/approvals/{id}/refuse", {"reason": "no"}, id=made.id)

    floor.until_nothing_is_wanted()
    assert until(floor, made.id, state="refused").decision_reason == "no"


def test_a_policy_that_ends_the_escalation_ends_the_request_and_grants_nothing(open_floor: OpenFloor) -> None:
    floor = open_floor(Policy("short", kinds=("approval",), expire_after=HOUR, default_answer="yes"))
    floor.start()
    made = ask(floor)
    floor.later(hours=2)

    assert until(floor, made.id, state="expired").grant_state is None
    floor.until(made.escalation_id, state="expired")


def test_a_used_grant_of_which_nothing_more_is_heard_ends_unknown(open_floor: OpenFloor) -> None:
    floor = open_floor()
    floor.start()
    made = ask(floor)
    act(floor, "/api/approvals/{id}/approve", {}, id=made.id)
    act(floor, "/api/approvals/{id}/use", CALL, id=made.id)
    until(floor, made.id, grant_state="consumed")
    floor.later(days=1, minutes=1)

    assert until(floor, made.id, grant_state="unknown").outcome == "nothing was reported"
    floor.until_nothing_is_wanted()


def test_the_clients_frame_ends_the_wait_for_the_outcome(open_floor: OpenFloor) -> None:
    floor = open_floor()
    floor.start()
    made = ask(floor)
    act(floor, "/api/approvals/{id}/approve", {}, id=made.id)
    act(floor, "/api/approvals/{id}/use", CALL, id=made.id)
    floor.say("PostToolUse", {"tool_name": "Bash", "tool_input": {"command": CALL["command"]}})

    until(floor, made.id, grant_state="succeeded")
    floor.until_nothing_is_wanted()
