"""What a manager may apply by itself: what its file lists, in those phases, so often, up to that cost."""

from typing import Any

import msgspec
import pytest

from gemba.personas.authority import Use, fits, may_apply
from gemba.personas.file import shipped
from gemba.personas.persona import MutationAuthority, Phase
from tests.fixtures.advisors import persona

GRANTED = """
[mutation_authority]
actions = ["PATCH /api/work-items/*", "POST /api/work-items/{id}/claim"]
phases = ["building", "validating"]
max_per_consult = 2
max_dollars = 0.50
"""
USE = Use("PATCH", "/api/work-items/g-1", Phase.BUILDING, 0, 0)


def test_what_is_listed_may_be_applied_and_the_ruling_says_by_what() -> None:
    ruling = may_apply(persona(GRANTED), USE)

    assert ruling == (
        True,
        ("PATCH /api/work-items/g-1 is allowed to Own by PATCH /api/work-items/*, in phase building",),
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"verb": "DELETE"}, "DELETE /api/work-items/g-1 is none of its actions"),
        ({"path": "/api/consults"}, "PATCH /api/consults is none of its actions"),
        ({"phase": Phase.SHIPPING}, "the phase is shipping; it may apply in: building, validating"),
        ({"applied_so_far": 2}, "it has applied 2 in this consult; allowed: 2"),
        ({"spent_micros": 500_001}, "the consult has cost 0.50 dollars; it may apply up to 0.50"),
        ({"revoked": True}, "the authority of Own is revoked"),
    ],
)
def test_each_limit_alone_is_enough_to_refuse(change: dict[str, Any], reason: str) -> None:
    ruling = may_apply(persona(GRANTED), USE._replace(**change))

    assert not ruling.allowed
    assert len(ruling.reasons) == 1
    assert ruling.reasons[0].startswith(reason)


def test_what_is_just_within_the_limits_is_allowed() -> None:
    assert may_apply(persona(GRANTED), USE._replace(applied_so_far=1, spent_micros=500_000)).allowed


def test_nobody_may_apply_anything_by_default() -> None:
    for each in (*shipped().values(), persona()):
        assert not may_apply(each, USE).allowed


def test_a_coach_may_apply_nothing_whatever_a_file_could_say() -> None:
    granted = MutationAuthority(("PATCH /api/work-items/*",), tuple(Phase), 100, 100.0)
    coach = msgspec.structs.replace(persona(variety="coach"), mutation_authority=granted)

    assert may_apply(coach, USE) == (False, ("Own is a coach: a person applies what it recommends",))


@pytest.mark.parametrize(
    "path",
    [
        "/api/work-items/",
        "/api/work-items",
        "/api/work-items/a/b",
        "/api/work-items/..",
        "/api/work-items/%2e%2e",
        "/api/work-items/a%2Fclaim",
        "/api/work-items/a?force=1",
        "/api/work-items/a#b",
        "/api/work-items/*",
        "//api/work-items/a",
        "api/work-items/a",
        "http://elsewhere/api/work-items/a",
    ],
)
def test_a_path_that_could_mean_another_one_fits_no_pattern(path: str) -> None:
    assert not fits("PATCH /api/work-items/*", "PATCH", path)
    assert not may_apply(persona(GRANTED), USE._replace(path=path)).allowed
