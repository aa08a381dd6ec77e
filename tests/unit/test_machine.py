"""A state machine is its table: it allows what stands there, refuses the rest, and draws itself."""

from enum import StrEnum

import pytest

from gemba.errors import Conflict
from gemba.machine import Machine


class Door(StrEnum):
    OPEN = "open"
    SHUT = "shut"
    LOCKED = "locked"


MACHINE = Machine(
    "the door",
    {
        (Door.OPEN, "shut"): Door.SHUT,
        (Door.SHUT, "opened"): Door.OPEN,
        (Door.SHUT, "locked"): Door.LOCKED,
    },
)


def test_a_move_of_the_table_leads_to_its_state() -> None:
    assert MACHINE.after(Door.SHUT, "locked") is Door.LOCKED


@pytest.mark.parametrize(
    ("state", "event", "allowed"),
    [
        (Door.OPEN, "locked", ["shut"]),
        (Door.SHUT, "shut", ["opened", "locked"]),
        (Door.LOCKED, "opened", []),
        (Door.OPEN, "painted", ["shut"]),
    ],
)
def test_any_other_move_is_refused_with_those_that_are_allowed(state: Door, event: str, allowed: list[str]) -> None:
    with pytest.raises(Conflict, match=f"the door is {state}: it cannot be {event}") as refused:
        MACHINE.after(state, event)

    assert (refused.value.code, refused.value.found, refused.value.allowed) == ("illegal_move", state, allowed)


def test_allows_says_the_same_without_raising() -> None:
    pairs = [(state, event) for state in Door for event in ("shut", "opened", "locked")]

    assert {pair for pair in pairs if MACHINE.allows(*pair)} == set(MACHINE.table)


def test_the_diagram_has_one_arrow_a_row() -> None:
    assert MACHINE.diagram() == "\n".join(
        [
            "stateDiagram-v2",
            "    open --> shut: shut",
            "    shut --> open: opened",
            "    shut --> locked: locked",
        ]
    )


def test_a_machine_keeps_its_own_table() -> None:
    table = {(Door.OPEN, "shut"): Door.SHUT}
    machine = Machine("the door", table)
    table.clear()

    assert machine.allows(Door.OPEN, "shut")
