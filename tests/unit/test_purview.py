"""Which changes a purview holds: by domain, phase, scope and authority, and by nothing else."""

import itertools
from typing import Any

import msgspec
import pytest

from gemba.personas.file import shipped
from gemba.personas.persona import Authority, Personality, Perspective, Phase, Purview, Scope
from gemba.personas.purview import HELD_MOVES, Change, judge
from tests.fixtures.advisors import changed, persona, with_purview

ALL = tuple(Phase)
STATES = ("backlog", "unstarted", "staged", "in_progress", "review", "done", "deferred", "cancelled")


def change(to: str = "done", start: str = "in_progress", kind: str = "task", **facts: Any) -> Change:
    return Change("g-1", kind, start, to, **facts)


def level(change: Change, phase: Phase, *personas: Any) -> Authority | None:
    return judge(change, phase, personas or shipped().values()).level


@pytest.mark.parametrize("phase", ALL)
def test_security_holds_work_that_is_labelled_auth_in_every_phase(phase: Phase) -> None:
    for labels in (["auth"], ["area:auth"], ["Security"], ["user-login"]):
        verdict = judge(change(labels=labels), phase, shipped().values())

        assert verdict.holds
        assert verdict.concerns[0].persona_id == "security"
        assert f"the label {labels[0]} belongs to auth" in verdict.concerns[0].reasons
    assert judge(change(concepts=["oauth"]), phase, shipped().values()).holds


def test_work_near_auth_that_is_not_labelled_so_is_held_in_the_purviews_own_phases_alone() -> None:
    near = change(targets=["src/auth/**"])

    assert [phase for phase in ALL if level(near, phase) is not None] == []
    designed = with_purview("auth", "blocking", "design")
    assert [phase for phase in ALL if level(near, phase, designed) is not None] == [Phase.DESIGN]
    assert level(change(labels=["author"]), Phase.DESIGN, designed) is None


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"labels": ["design"]}, {"design": "strong", "building": "strong"}),
        ({"kind": "decision"}, {"design": "strong", "building": "strong"}),
        ({"labels": ["qa"]}, {"validating": "blocking", "shipping": "blocking"}),
        ({"targets": ["tests/unit/**"]}, {"validating": "blocking", "shipping": "blocking"}),
        ({"kind": "milestone"}, {"shipping": "blocking"}),
        ({"labels": ["release"]}, {"shipping": "blocking"}),
        ({"targets": ["docs/**"]}, {"shipping": "advisory"}),
        ({"labels": ["billing"]}, {}),
    ],
)
def test_domain_owners_speak_in_their_phases(facts: dict[str, Any], expected: dict[str, str]) -> None:
    found = {str(phase): level(change(**facts), phase) for phase in ALL}

    assert {phase: authority for phase, authority in found.items() if authority is not None} == expected


@pytest.mark.parametrize(("start", "to"), list(itertools.product(STATES, STATES)))
def test_only_work_that_is_called_done_is_held(start: str, to: str) -> None:
    held = level(change(to, start, labels=["auth"]), Phase.BUILDING) is Authority.BLOCKING

    assert held == (to in HELD_MOVES and start != to)


def test_a_domain_of_a_workspaces_own_is_named_by_itself() -> None:
    owner = with_purview("billing", "blocking", "building")

    assert level(change(labels=["billing"]), Phase.BUILDING, owner) is Authority.BLOCKING
    assert level(change(targets=["src/billing/invoice.py"]), Phase.BUILDING, owner) is Authority.BLOCKING
    assert level(change(labels=["building"]), Phase.BUILDING, owner) is None
    assert level(change(labels=["billing"]), Phase.SHIPPING, owner) is None


def test_a_purview_of_a_repository_is_about_that_one() -> None:
    owner = msgspec.structs.replace(with_purview("docs", "blocking", "building"), scope=Scope("repository", "web"))

    assert level(change(labels=["docs"], repository="web"), Phase.BUILDING, owner) is Authority.BLOCKING
    assert level(change(labels=["docs"], repository="api"), Phase.BUILDING, owner) is None
    assert level(change(labels=["docs"]), Phase.BUILDING, owner) is None


@pytest.mark.parametrize("phase", ALL)
def test_a_coachs_purview_never_holds_whatever_a_file_could_say(phase: Phase) -> None:
    coach = with_purview("auth", "blocking", *ALL, variety="coach")

    verdict = judge(change(labels=["auth"]), phase, [coach])

    assert (verdict.level, verdict.holds) == (Authority.STRONG, False)


@pytest.mark.parametrize("phase", ALL)
def test_the_project_manager_holds_nothing_whatever_a_file_could_say(phase: Phase) -> None:
    pm = changed("project-manager", variety="manager", purview=Purview("auth", "blocking", tuple(ALL)))  # type: ignore[arg-type]

    assert level(change(labels=["auth"]), phase, pm) is None


@pytest.mark.parametrize("phase", ALL)
def test_a_perspective_never_holds(phase: Phase) -> None:
    loud = Perspective("auth, docs, testing, shipping, design", ("epic_state_changed",), "always")
    watcher = msgspec.structs.replace(persona(), perspective=loud)

    for facts in ({"labels": ["auth", "docs"]}, {"targets": ["tests/**"]}, {"kind": "milestone"}):
        assert level(change(**facts), phase, watcher) is None


def test_another_personality_decides_nothing_otherwise() -> None:
    other = [
        msgspec.structs.replace(each, personality=Personality("furious", "Blocks everything.", ("No!",)))
        for each in shipped().values()
    ]

    for phase, labels in itertools.product(ALL, (["auth"], ["docs"], ["qa"], ["release"], ["x"])):
        assert judge(change(labels=labels), phase, other) == judge(change(labels=labels), phase, shipped().values())


def test_of_several_the_weightiest_comes_first_and_each_has_its_reasons() -> None:
    verdict = judge(change(labels=["docs", "qa", "release"]), Phase.SHIPPING, shipped().values())

    assert [concern.persona_id for concern in verdict.concerns] == ["deployment-engineer", "qa", "documentarian"]
    assert verdict.concerns[1].reasons == (
        "the label qa belongs to testing",
        "the purview testing of QA is active in phase shipping",
    )
    assert [concern.persona_id for concern in verdict.of(Authority.BLOCKING)] == ["deployment-engineer", "qa"]
