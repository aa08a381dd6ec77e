"""What follows when somebody in a run misses a skill."""

import pytest

from gemba.teams.capabilities import shipped
from gemba.teams.gap import Closing, Gap, close, name_of
from gemba.teams.plan import PlanRole

DEVELOPER = PlanRole("developer", "IMPL", capabilities=("developer",))
TESTER = PlanRole("tester", "TEST", capabilities=("tester", "analyst"))


def closing(capability: str, *roles: PlanRole, limit: int = 5, for_gap: bool = False) -> Closing:
    return close(Gap(name_of(capability), "developer", for_gap, roles or (DEVELOPER,), limit), shipped())


@pytest.mark.parametrize("words", ["tester", "Tester", " TEST ", "test", "Testing"])
def test_a_known_capability_gets_a_role_of_its_own_where_there_is_room(words: str) -> None:
    found = closing(words)

    assert found.role == PlanRole("tester", "TEST", capabilities=("tester",))
    assert found.is_new
    assert found.goal
    assert "room" in found.reason


@pytest.mark.parametrize("words", ["tester", "analyst"])
def test_a_role_that_has_it_does_it(words: str) -> None:
    assert closing(words, DEVELOPER, TESTER, limit=2) == Closing(
        "tester has it", TESTER, goal=closing(words, DEVELOPER).goal
    )


def test_a_role_of_a_plans_own_is_known_by_its_name() -> None:
    own = PlanRole("lawyer", "LAW")

    assert closing("lawyer", DEVELOPER, own).role == own


@pytest.mark.parametrize(
    ("capability", "more", "words"),
    [
        ("juggling", {}, "no capability that is known: researcher, planner"),
        ("tester", {"limit": 1}, "with 1 roles the limit is reached"),
        ("developer", {}, "what its own role, developer, is there for"),
        ("tester", {"for_gap": True}, "itself added"),
    ],
)
def test_a_person_is_asked_otherwise_with_the_reason(capability: str, more: dict[str, int], words: str) -> None:
    found = closing(capability, **more)  # type: ignore[arg-type]

    assert found.role is None
    assert words in found.reason


def test_a_prefix_that_is_taken_is_not_given_twice() -> None:
    found = closing("tester", DEVELOPER, PlanRole("taster", "TEST"))

    assert (found.role, "TEST is taken by taster" in found.reason) == (None, True)


def test_names_are_bounded_and_one_line() -> None:
    assert len(name_of("x\n" * 10_000)) <= 100
    assert "\n" not in name_of("a\nb")
    assert name_of(" Data\tScience ") == name_of("data science")
