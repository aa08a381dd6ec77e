"""Which of a persona's triggers fire now, who comments because of that, and what is said without a model."""

from typing import Any

import msgspec
import pytest

from gemba import clock
from gemba.personas.commenting import comment
from gemba.personas.file import shipped
from gemba.personas.persona import Persona, Perspective, Phase
from gemba.personas.triggers import (
    MOST_SIGNALS,
    TRIGGERS,
    Around,
    EpicMove,
    ItemSeen,
    SprintSeen,
    Touching,
    own_signals,
    signals_now,
    silence,
)
from tests.fixtures.advisors import changed

NOW = 1_800_000_000 * clock.SECOND
QUIET = Around("i-1", ready=3, unfinished_total=3)
ITEM = ItemSeen("i-1", "Sign in", "task", "review", 1, NOW - 3 * clock.DAY, labels=("auth",), blocked_by=("i-9",))


def of(id: str, mode: str, *triggers: str) -> Persona:
    return changed(id, perspective=Perspective("what matters", triggers, mode))  # type: ignore[arg-type]


def fired(around: Around) -> list[tuple[str, list[str]]]:
    return [(signal.trigger, signal.refs) for signal in signals_now(around, NOW)]


def test_every_trigger_of_a_shipped_persona_is_one_that_can_fire() -> None:
    assert {each for one in shipped().values() for each in one.perspective.triggers} == set(TRIGGERS)


def test_where_nothing_is_the_matter_nothing_fires() -> None:
    running = SprintSeen("sprint-1", "First", "inform", 60, 100, NOW + clock.DAY)

    assert fired(QUIET) == []
    assert fired(QUIET._replace(sprint=running, ready=0, unfinished_total=0)) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            {"moves": [EpicMove("e-1", "Shop", "staged", "in_progress", NOW, "ann")]},
            ("epic_state_changed", ["e-1"]),
        ),
        ({"sprint": SprintSeen("sprint-1", "First", "warn", 85, 100, None)}, ("sprint_overrun", ["sprint-1"])),
        (
            {"sprint": SprintSeen("sprint-1", "First", "stop", 100, 100, None, ("card-2", "card-1"))},
            ("sprint_overrun", ["sprint-1", "card-2", "card-1"]),
        ),
        ({"sprint": SprintSeen("sprint-1", "First", "none", 1, 100, NOW - 1)}, ("sprint_overrun", ["sprint-1"])),
        ({"ready": 0, "unfinished": ["i-1", "i-2"]}, ("ready_set_empty", ["i-1", "i-2"])),
        (
            {"own": [Touching("i-1", None, ("src/a/**",))], "at_work": [Touching("i-2", None, ("src/a/b.py",))]},
            ("parallel_conflict", ["i-1", "i-2"]),
        ),
    ],
)
def test_a_trigger_fires_with_references_to_what_it_saw(
    change: dict[str, Any], expected: tuple[str, list[str]]
) -> None:
    assert fired(QUIET._replace(**change)) == [expected]


def test_an_item_conflicts_neither_with_itself_nor_with_another_repository_and_a_pair_is_told_once() -> None:
    mine = Touching("i-1", None, ("src/a.py", "src/*.py"))
    around = QUIET._replace(
        own=[mine, Touching("i-2", None, ("src/a.py",))],
        at_work=[mine, Touching("i-3", "other", ("src/a.py",)), Touching("i-2", None, ("src/a.py",))],
    )

    assert fired(around) == [("parallel_conflict", ["i-1", "i-2"])]


def test_of_many_conflicts_the_first_are_told_and_how_many_more_there_are() -> None:
    others = [Touching(f"x-{number}", None, ("src/a.py",)) for number in range(MOST_SIGNALS + 3)]
    found = signals_now(QUIET._replace(own=[Touching("i-1", None, ("src/**",))], at_work=others), NOW)

    assert len(found) == MOST_SIGNALS
    assert found[-1].text.endswith("(and 3 more pairs)")


@pytest.mark.parametrize(
    ("mode", "quiet", "loud"),
    [
        ("never", "its volunteer_mode is never", "its volunteer_mode is never"),
        ("on_demand", None, None),
        ("always", None, None),
        ("on_trigger", "its volunteer_mode is on_trigger, and none of its triggers fires now: ready_set_empty", None),
    ],
)
def test_who_comments_is_decided_by_its_mode_and_what_fires(mode: str, quiet: str | None, loud: str | None) -> None:
    persona = of("security", mode, "ready_set_empty")

    assert silence(persona, signals_now(QUIET, NOW)) == quiet
    assert silence(persona, signals_now(QUIET._replace(ready=0), NOW)) == loud


def test_a_trigger_of_somebody_else_makes_nobody_speak() -> None:
    signals = signals_now(QUIET._replace(ready=0), NOW)

    assert silence(of("security", "on_trigger", "sprint_overrun"), signals) is not None
    assert own_signals(of("security", "on_trigger", "sprint_overrun"), signals) == []


def test_one_that_does_not_list_the_skill_is_not_asked() -> None:
    assert silence(shipped()["coordinator"], []) == "it does not list the skill perspective; it lists: team_plan"


# ---- without a model -------------------------------------------------------------------------------------------------


def said(persona: Persona, around: Around) -> list[dict[str, object]]:
    found: list[dict[str, object]] = msgspec.to_builtins(
        comment(persona, around, signals_now(around, NOW), Phase.BUILDING, NOW)
    )
    return found


def test_a_comment_without_a_model_says_what_the_purview_and_the_triggers_see_with_references() -> None:
    sprint = SprintSeen("sprint-1", "First", "stop", 100, 100, None, ("card-1",))
    around = QUIET._replace(item=ITEM, asked=["esc-1"], sprint=sprint)
    persona = of("security", "on_demand", "sprint_overrun")

    strategy, *findings, summary = said(persona, around)

    assert strategy["type"] == "strategy"
    assert "I look at what matters. I answer for auth (blocking)" in str(strategy["reasoning"])
    assert [finding["refs"] for finding in findings] == [["i-1"], ["sprint-1", "card-1"], ["i-1", "i-9"], ["esc-1"]]
    assert "the label auth belongs to auth" in str(findings[0]["text"])
    assert "has used 100 of 100 tokens and passed its threshold stop" in str(findings[1]["text"])
    assert "task, review, priority 1, 3 d old; it waits for i-9" in str(findings[2]["text"])
    expected = "Security: i-1 is of auth, which I answer for (blocking), and of my triggers sprint_overrun fires now."
    assert summary["notes"] == expected
    assert said(persona, around) == [strategy, *findings, summary]


def test_a_comment_on_what_touches_nothing_says_so() -> None:
    _, finding, summary = said(of("documentarian", "on_demand"), QUIET)

    assert finding == {
        "type": "finding",
        "text": "nothing that is stored of it touches this ground.",
        "refs": ["i-1"],
    }
    assert (
        summary["notes"] == "Documentarian: by rule, nothing that is stored of this touches "
        "its purview (docs) or its triggers. Nobody with a model looked at it."
    )


def test_an_escalation_is_told_with_its_words_on_one_line() -> None:
    opened = clock.rfc3339(NOW - 3 * 3_600 * clock.SECOND)
    thing = {"what": "escalation", "kind": "question", "urgency": "blocking", "state": "open", "text": "May\nit?"}
    around = Around("esc-1", thing={**thing, "opened_at": opened}, ready=1)

    _, finding, _ = said(of("project-manager", "on_demand"), around)

    assert finding["text"] == "the escalation is question, blocking, open, opened 3 h ago: May it?"
    assert finding["refs"] == ["esc-1"]
