"""The built-in advisor: its lines are always good ones, and it orders as it says it does."""

from typing import Any

import msgspec
from hypothesis import given

from gemba.skills.advisor.advise import advise
from gemba.skills.consult.order_input import EpicOrderInput
from gemba.skills.consult.order_lines import OrderDeferred, OrderLine, OrderRecommendation, OrderStrategy, OrderWarning
from gemba.skills.consult.order_rules import judge_order
from gemba.skills.consult.reading import read_input
from tests.fixtures.plans import epic, order_input, order_inputs


def advised(*epics: dict[str, Any], **more: Any) -> list[OrderLine]:
    return advise(read_input(order_input(*epics, **more), EpicOrderInput))


def order(lines: list[OrderLine]) -> list[str]:
    return [line.epic_id for line in lines if isinstance(line, OrderRecommendation)]


def warnings(lines: list[OrderLine], kind: str) -> list[OrderWarning]:
    return [line for line in lines if isinstance(line, OrderWarning) and line.kind == kind]


def line_of(lines: list[OrderLine], id: str) -> OrderRecommendation:
    return next(line for line in lines if isinstance(line, OrderRecommendation) and line.epic_id == id)


@given(order_inputs)
def test_whatever_is_to_be_ordered_the_judge_takes_every_line(document: dict[str, Any]) -> None:
    given_ = read_input(document, EpicOrderInput)
    judge = judge_order(given_)

    lines = advise(given_)
    judge.receive_all(msgspec.to_builtins(line) for line in lines)

    assert judge.line_errors == []
    assert judge.finish() == []
    assert advise(given_) == lines


def test_what_others_wait_for_comes_first_whatever_its_priority() -> None:
    epics = [epic("leaf", current_rank=0, estimated_tokens=5), epic("root", current_rank=4, estimated_tokens=5)]
    epics += [epic(f"x{number}", depends_on_epics=["root"], estimated_tokens=5) for number in range(3)]

    lines = advised(*epics)

    assert order(lines)[0] == "root"
    assert "It frees 3 epics," in line_of(lines, "root").rationale


def test_a_cycle_is_deferred_by_name_with_all_that_depends_on_it() -> None:
    lines = advised(
        epic("a", depends_on_epics=["b"]),
        epic("b", depends_on_epics=["a"]),
        epic("c", depends_on_epics=["b"]),
        epic("me", depends_on_epics=["me"]),
        epic("free", depends_on_epics=["nobody"]),
    )

    assert order(lines) == ["free"]
    assert {line.epic_id for line in lines if isinstance(line, OrderDeferred)} == {"a", "b", "c", "me"}
    assert [warning.detail for warning in warnings(lines, "dep_cycle")] == [
        "these wait for each other: a → b → a",
        "these wait for each other: me → me",
    ]
    assert "nobody, no candidate" in line_of(lines, "free").rationale


def test_an_epic_that_waits_for_an_answer_comes_first_and_soonest_when_the_answer_frees_others() -> None:
    lines = advised(
        epic("plain"),
        epic("alone"),
        epic("head"),
        epic("tail", depends_on_epics=["head"]),
        open_escalations=[
            {"id": "q1", "kind": "question", "blocked_epic": "alone"},
            {"id": "q2", "kind": "blocker", "blocked_epic": "head", "opened_at": "2026-05-02T09:00:00Z"},
        ],
    )

    assert order(lines)[:2] == ["head", "alone"]
    assert "blocker q2, open for 2 days; the answer frees 1 epic" in line_of(lines, "head").rationale
    assert line_of(lines, "alone").confidence < line_of(lines, "plain").confidence


def test_epics_that_touch_the_same_files_stand_in_different_groups() -> None:
    lines = advised(
        epic("a", file_space_signature=["src/a/**"]),
        epic("b", file_space_signature=["src/a/b.py"]),
        epic("c", file_space_signature=["docs"]),
    )
    groups = {line.epic_id: line.parallel_group for line in lines if isinstance(line, OrderRecommendation)}

    assert groups["a"] is None or groups["a"] != groups["b"]
    assert groups["c"] in (groups["a"], groups["b"])
    assert {"a", "b"} == {id for warning in warnings(lines, "parallel_conflict") for id in warning.epic_ids}


def test_the_budget_trims_and_its_thresholds_warn() -> None:
    sprint = {"token_budget": 100, "tokens_used": 10, "burn_thresholds": {"inform": 0.3, "warn": 0.5, "stop": 0.8}}
    epics = [epic(id, estimated_tokens=30) for id in "abc"]

    lines = advised(*epics, epic("d", depends_on_epics=["c"], estimated_tokens=1), sprint_context=sprint)

    strategy = lines[0]
    assert isinstance(strategy, OrderStrategy)
    assert strategy.total_ranked + (strategy.filtered or 0) == 4
    assert [len(warning.epic_ids) > 0 for warning in warnings(lines, "budget_overrun")] == [True, True, True]
    assert "past warn at 50" in warnings(lines, "budget_overrun")[1].detail


def test_a_budget_that_is_used_up_leaves_nothing_to_rank() -> None:
    for sprint in ({"token_budget": 0}, {"token_budget": 10, "tokens_used": 11}):
        lines = advised(epic("a", estimated_tokens=1), sprint_context=sprint)
        assert order(lines) == []
        assert isinstance(lines[0], OrderStrategy)
        assert lines[0].filtered == 1


def test_number_and_confidence_filter_and_are_told() -> None:
    epics = [epic(id, estimated_tokens=30) for id in "abc"]
    few = advised(*epics, max_recommendations=2)
    unsure = advised(*epics, constraints={"min_confidence": 0.99})

    assert order(few) == ["a", "b"]
    assert order(unsure) == []
    assert isinstance(few[0], OrderStrategy)
    assert isinstance(unsure[0], OrderStrategy)
    assert few[0].filter_reason == "1 for max_recommendations (with what depends on them)"
    assert unsure[0].filter_reason == "3 for min_confidence (with what depends on them)"


def test_guidance_lifts_what_it_names_with_what_that_needs_and_lowers_what_it_wants_later() -> None:
    epics = [
        epic("docs"),
        epic("misc"),
        epic("base"),
        {**epic("login", depends_on_epics=["base"]), "title": "Auth for customers"},
        {**epic("old"), "title": "Reports"},
    ]

    lines = advised(*epics, guidance="Focus on auth. Reports later")

    assert order(lines)[0] == "base"
    assert order(lines)[-1] == "old" or order(lines)[-1] == "login"
    assert order(lines).index("old") > order(lines).index("misc")
    assert "sooner (auth)" in line_of(lines, "login").rationale
    assert "later (report)" in line_of(lines, "old").rationale


def test_what_is_known_makes_it_surer() -> None:
    done = [{"epic_id": f"d{number}", "tokens_consumed": 1_000, "elapsed_hours": 2} for number in range(3)]
    bare = line_of(advised(epic("a")), "a")
    rich = line_of(advised(epic("a", estimated_tokens=2_000, file_space_signature=["x"]), recent_completions=done), "a")

    assert bare.confidence < rich.confidence < 1
    assert "2.0 times what epics took of late, about 4.0 h" in rich.rationale
    assert "no estimate" in bare.rationale


def test_all_without_an_estimate_are_named_in_one_warning() -> None:
    (warning,) = warnings(advised(epic("a"), epic("b", estimated_tokens=1), epic("c")), "missing_signal")

    assert warning.epic_ids == ["a", "c"]


def test_a_chain_is_as_long_as_its_epics_where_no_epic_has_an_estimate() -> None:
    lines = advised(epic("a"), epic("b", depends_on_epics=["a"]))

    assert "on a chain of 2 epics." in line_of(lines, "a").rationale
