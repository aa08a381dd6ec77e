"""An escalation's states, pair by pair."""

import pytest

from gemba.errors import Conflict
from gemba.escalations.escalation import MACHINE, RANK, UNRESOLVED, State, Urgency
from gemba.escalations.store import TOLD_AS
from gemba.event import NAMES

# The whole table once more, as a reader of the documentation would write it down.
MOVES = {
    "open": {
        "acknowledged": "acknowledged",
        "snoozed": "snoozed",
        "resolved": "resolved",
        "dismissed": "dismissed",
        "expired": "expired",
        "withdrawn": "withdrawn",
    },
    "acknowledged": {
        "acknowledged": "acknowledged",
        "snoozed": "snoozed",
        "reopened": "open",
        "resolved": "resolved",
        "dismissed": "dismissed",
        "expired": "expired",
        "withdrawn": "withdrawn",
    },
    "snoozed": {
        "acknowledged": "acknowledged",
        "snoozed": "snoozed",
        "reopened": "open",
        "resolved": "resolved",
        "dismissed": "dismissed",
        "expired": "expired",
        "withdrawn": "withdrawn",
    },
    "resolved": {"reopened": "open", "answered_late": "resolved"},
    "dismissed": {"reopened": "open"},
    "expired": {"answered_late": "resolved"},
    "withdrawn": {},
}
EVENTS = sorted({event for moves in MOVES.values() for event in moves})


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("state", State)
def test_every_state_allows_its_events_and_refuses_the_others(state: State, event: str) -> None:
    if event in MOVES[state]:
        assert MACHINE.after(state, event) == MOVES[state][event]
    else:
        with pytest.raises(Conflict, match=f"the escalation is {state}: it cannot be {event}") as refused:
            MACHINE.after(state, event)
        assert sorted(refused.value.allowed) == sorted(MOVES[state])


def test_the_table_has_no_other_events() -> None:
    assert {event for _, event in MACHINE.table} == set(EVENTS)


def test_an_unresolved_escalation_can_go_into_every_state() -> None:
    for state in UNRESOLVED:
        others = {target for (source, _), target in MACHINE.table.items() if source == state}
        assert others >= set(State) - set(UNRESOLVED)


def test_what_is_settled_stays_settled_unless_it_is_opened_again_or_answered_late() -> None:
    settled = {pair for pair in MACHINE.table if pair[0] not in UNRESOLVED}

    assert settled == {
        (State.RESOLVED, "reopened"),
        (State.DISMISSED, "reopened"),
        (State.RESOLVED, "answered_late"),
        (State.EXPIRED, "answered_late"),
    }


@pytest.mark.parametrize("event", EVENTS)
def test_every_move_has_its_event(event: str) -> None:
    assert f"escalation.{TOLD_AS.get(event, event)}" in NAMES


def test_blocking_comes_first() -> None:
    assert sorted(Urgency, key=RANK.__getitem__) == [Urgency.BLOCKING, Urgency.ADVISORY]
