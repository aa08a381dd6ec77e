"""The demo's developer: it guesses until the operator has spoken, and its change can be made over whatever it left."""

from itertools import permutations

import pytest

from gemba.demo.developer import changed, form_of, load_team_work
from gemba.demo.story import load_project
from gemba.teams.analysis import analyse
from gemba.teams.planning import plan_from

WORK = load_team_work()
FORMS = ("guessed", "above", "from")
GATE = "Your work got 58.75 of 100 at its gate, and 60 are needed. Mend this: tests"


@pytest.mark.parametrize(
    ("notes", "form"),
    [
        ([], "guessed"),
        ([GATE], "guessed"),
        (["operator: above ten, please"], "above"),
        (["operator: whatever you like"], "above"),
        (["operator: From ten on; change the test"], "from"),
        (["operator: from ten", GATE, "noor: no, more than that"], "above"),
    ],
)
def test_what_the_operator_said_last_decides(notes: list[str], form: str) -> None:
    assert form_of(notes, WORK.change) == form


def test_every_place_is_in_the_project_once() -> None:
    files: dict[str, str] = {}
    for commit in load_project().commit:
        files |= commit.files

    for place in WORK.place:
        assert files[place["file"]].count(place["before"].lstrip("\n")) == 1
        assert place.keys() <= {"file", "before", *FORMS}


@pytest.mark.parametrize(("first", "then"), list(permutations(FORMS, 2)))
def test_a_change_can_be_made_over_another(first: str, then: str) -> None:
    for place in WORK.place:
        text = f"above\n{place['before']}below\n"

        assert changed(changed(text, place, first), place, then) == changed(text, place, then)


def test_the_text_asks_for_five_roles_and_none_is_joined() -> None:
    plan = plan_from(analyse(WORK.text))

    assert [task.id for task in plan.tasks] == ["RESEARCH-001", "DESIGN-001", "DRAFT-001", "IMPL-001", "TEST-001"]
    assert {task.id: task.blocked_by for task in plan.tasks}["TEST-001"] == ("DRAFT-001", "IMPL-001")
