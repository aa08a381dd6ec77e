"""Requests and grants, pair by pair."""

from typing import Any

import pytest

from gemba.errors import Conflict
from gemba.handoff.approval import GRANT, REQUEST, GrantState, RequestState
from gemba.machine import Machine

# Both tables once more, as a reader of the documentation would write them down.
REQUEST_MOVES: dict[str, dict[str, str]] = {
    "pending": {
        "approved": "approved",
        "edited": "superseded",
        "refused": "refused",
        "expired": "expired",
        "withdrawn": "withdrawn",
    },
    "approved": {"taken back": "pending"},
    "superseded": {},
    "refused": {},
    "expired": {},
    "withdrawn": {},
}
GRANT_MOVES: dict[str, dict[str, str]] = {
    "unused": {"consumed": "consumed"},
    "consumed": {"succeeded": "succeeded", "failed": "failed", "lost": "unknown"},
    "succeeded": {},
    "failed": {},
    "unknown": {},
}
TABLES: list[tuple[Machine[Any], dict[str, dict[str, str]]]] = [(REQUEST, REQUEST_MOVES), (GRANT, GRANT_MOVES)]
EVERY_EVENT = sorted({event for _, moves in TABLES for row in moves.values() for event in row})
PAIRS = [
    pytest.param(machine, moves, state, event, id=f"{machine.noun}: {state} {event}")
    for machine, moves in TABLES
    for state in moves
    for event in EVERY_EVENT
]


@pytest.mark.parametrize(("machine", "moves", "state", "event"), PAIRS)
def test_every_state_allows_its_events_and_refuses_the_others(
    machine: Machine[Any], moves: dict[str, dict[str, str]], state: str, event: str
) -> None:
    if event in moves[state]:
        assert machine.after(state, event) == moves[state][event]
    else:
        with pytest.raises(Conflict, match=f"{machine.noun} is {state}: it cannot be {event}") as refused:
            machine.after(state, event)
        assert refused.value.allowed == list(moves[state])


def test_the_tables_have_no_other_states_and_events() -> None:
    assert list(RequestState) == list(REQUEST_MOVES)
    assert list(GrantState) == list(GRANT_MOVES)
    for machine, moves in TABLES:
        assert {event for _, event in machine.table} == {event for row in moves.values() for event in row}


def test_a_grant_is_consumed_once_and_has_no_outcome_before() -> None:
    used = GRANT.after(GrantState.UNUSED, "consumed")

    assert used is GrantState.CONSUMED
    assert not any(GRANT.allows(state, "consumed") for state in GrantState if state is not GrantState.UNUSED)
    assert GRANT.events_from(GrantState.UNUSED) == ["consumed"]


def test_a_request_that_was_decided_is_never_decided_again_unless_its_approval_is_taken_back() -> None:
    for event in REQUEST.events_from(RequestState.PENDING):
        after = REQUEST.after(RequestState.PENDING, event)
        assert REQUEST.events_from(after) == (["taken back"] if after is RequestState.APPROVED else [])
