"""epic_order: what its input may be, and the judge, which takes good lines and finds each rule that a line breaks."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.skills.advisor.advise import advise
from gemba.skills.consult.judge import Judge, LineError
from gemba.skills.consult.order_input import EpicOrderInput
from gemba.skills.consult.order_rules import RULES, WHOLE, judge_order
from gemba.skills.consult.reading import InputMisfit, read_input, read_json
from tests.fixtures.plans import epic, order_input

Lines = list[dict[str, Any]]


def read(document: dict[str, Any]) -> EpicOrderInput:
    return read_input(document, EpicOrderInput)


# ---- input -----------------------------------------------------------------------------------------------------------


def test_what_is_not_required_may_be_absent_or_null() -> None:
    nulls = dict.fromkeys(set(EpicOrderInput.__struct_fields__) - {"workspace", "as_of", "candidate_epics"})
    bare = {"summary": None, "depends_on_epics": None, "estimated_tokens": None, "derived": None}

    assert read(order_input(epic("a"))).candidate_epics[0].tokens == 0
    assert read(order_input(epic("a", **bare), **nulls)) == read(order_input(epic("a")))
    assert read(order_input(epic("a"), sprint_context={}, open_escalations=[{}])).token_limit is None


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        (order_input(epic("a"), colour="red"), "/colour"),
        (order_input(epic("a", colour="red")), "/candidate_epics/0/colour"),
        (order_input(epic("a"), sprint_context={"burn_thresholds": {"x": 1}}), "/sprint_context/burn_thresholds/x"),
        (order_input(), "/candidate_epics"),
        (order_input(epic("a"), epic("b"), epic("a")), "/candidate_epics/2/epic_id"),
        (order_input(epic("")), "/candidate_epics/0/epic_id"),
        (order_input(epic("a", estimated_tokens=-1)), "/candidate_epics/0/estimated_tokens"),
        (order_input(epic("a", estimated_tokens=2**70)), "/candidate_epics/0/estimated_tokens"),
        ({"workspace": "w", "as_of": "2026-05-04T09:00:00Z"}, "/candidate_epics"),
        ({**order_input(epic("a")), "as_of": "yesterday"}, "/as_of"),
        ({**order_input(epic("a")), "as_of": "2026-05-04"}, "/as_of"),
        ({**order_input(epic("a")), "as_of": "2026-05-04T09:00:00"}, "/as_of"),
        ({**order_input(epic("a")), "as_of": "2026-02-30T09:00:00Z"}, "/as_of"),
        (order_input(epic("a"), constraints={"min_confidence": 1.1}), "/constraints/min_confidence"),
        (order_input(epic("a"), constraints={"min_confidence": float("nan")}), "/constraints/min_confidence"),
        (order_input(epic("a"), max_recommendations=-1), "/max_recommendations"),
        (order_input(epic("a"), recent_completions=[{"closed_at": "x"}]), "/recent_completions/0/closed_at"),
        (
            order_input(epic("a"), sprint_context={"burn_thresholds": {"inform": 0.9, "warn": 0.8}}),
            "/sprint_context/burn_thresholds/warn",
        ),
        (
            order_input(epic("a"), sprint_context={"burn_thresholds": {"inform": 0.9, "stop": 0.8}}),
            "/sprint_context/burn_thresholds/stop",
        ),
        (
            order_input(epic("a"), sprint_context={"burn_thresholds": {"stop": 95}}),
            "/sprint_context/burn_thresholds/stop",
        ),
    ],
)
def test_an_input_that_does_not_fit_is_refused_by_its_place(document: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InputMisfit) as raised:
        read(document)

    assert raised.value.pointer == pointer
    assert pointer in raised.value.message


@pytest.mark.parametrize("data", [b"", b"{", b'{"as_of": NaN}', b"\xff", b"[" * 100_000])
def test_what_is_not_json_is_refused(data: bytes) -> None:
    with pytest.raises(InputMisfit):
        read_json(data, EpicOrderInput)


# ---- the judge -------------------------------------------------------------------------------------------------------

GIVEN = order_input(
    epic("a", estimated_tokens=100, file_space_signature=["src/a/**"]),
    epic("b", estimated_tokens=200, file_space_signature=["src/b"]),
    epic("c", estimated_tokens=300, depends_on_epics=["a"], file_space_signature=["src/c"]),
    epic("d", depends_on_epics=["c"], file_space_signature=["src/a/x.py"]),
    epic("x", estimated_tokens=1, depends_on_epics=["y"]),
    epic("y", estimated_tokens=1, depends_on_epics=["x"]),
    epic("z", estimated_tokens=1, depends_on_epics=["x"]),
    epic("big", estimated_tokens=99_000),
    constraints={"min_confidence": 0.2},
    max_recommendations=4,
    sprint_context={"token_budget": 1_000, "tokens_used": 100, "burn_thresholds": {"stop": 0.9}},
)


def rec(rank: int, id: str, **more: Any) -> dict[str, Any]:
    action = {"verb": "PATCH", "path": f"/api/work-items/{id}", "body": {"user_order": rank}}
    line = {"type": "recommendation", "rank": rank, "epic_id": id, "confidence": 0.5, "rationale": "so"}
    return {**line, "suggested_action": action, **more}


def good() -> Lines:
    return [
        {
            "type": "strategy",
            "workspace": "shop",
            "as_of": GIVEN["as_of"],
            "model": "m",
            "reasoning": "r",
            "total_considered": 8,
            "total_ranked": 4,
            "filtered": 1,
        },
        rec(1, "a", estimated_tokens=100, parallel_group="g"),
        rec(2, "b", estimated_tokens=200, parallel_group="g"),
        rec(3, "c"),
        rec(4, "d"),
        {"type": "warning", "kind": "dep_cycle", "epic_ids": ["x", "y"], "detail": "x → y → x"},
        {"type": "warning", "kind": "missing_signal", "epic_ids": ["d"], "detail": "no estimate"},
        *({"type": "deferred", "epic_id": id, "reason": "cycle"} for id in "xyz"),
        {"type": "summary", "ranked": 4, "warnings": 2, "deferred": 3, "estimated_total_tokens": 600, "notes": ""},
    ]


def judged(lines: Lines, document: dict[str, Any] = GIVEN) -> Judge[Any]:
    judge = judge_order(read(document))
    judge.receive_all(lines)
    return judge


def test_good_lines_are_all_taken() -> None:
    judge = judged(good())

    assert judge.line_errors == []
    assert judge.finish() == []
    assert len(judge.validated) == len(good())


def change(at: int, **fields: Any) -> Callable[[Lines], object]:
    return lambda lines: lines[at].update(fields)


def swap(one: int, other: int) -> Callable[[Lines], object]:
    def swapped(lines: Lines) -> None:
        lines[one], lines[other] = lines[other], lines[one]
        for line in (lines[one], lines[other]):
            if line["type"] == "recommendation":
                rank = lines.index(line)
                line.update(rec(rank, line["epic_id"]))

    return swapped


BROKEN: list[tuple[str, Callable[[Lines], object]]] = [
    ("frozen", change(0, workspace="other")),
    ("frozen", change(0, as_of="2026-05-04T09:00:01Z")),
    ("considered", change(0, total_considered=9)),
    ("considered", change(0, filtered=9)),
    ("candidate", lambda lines: lines[1].update(rec(1, "ghost"))),
    ("candidate", change(5, epic_ids=["x", "ghost"])),
    ("candidate", change(7, epic_id="ghost")),
    ("once", lambda lines: lines[2].update(rec(2, "a"))),
    ("once", change(8, epic_id="a")),
    ("once", change(8, epic_id="x")),
    ("rank_order", lambda lines: lines[2].update(rec(1, "b"))),
    ("rank_order", lambda lines: lines[2].update(rec(7, "b"))),
    ("dependency", swap(1, 3)),
    ("dependency", lambda lines: lines[4].update(rec(4, "x"))),
    ("estimate", change(1, estimated_tokens=1)),
    ("group_paths", lambda lines: lines[4].update(rec(4, "d", parallel_group="g"))),
    ("group_dependency", change(3, parallel_group="g")),
    ("min_confidence", change(2, confidence=0.1)),
    ("max_recommendations", lambda lines: lines.insert(5, rec(5, "big"))),
    ("budget", lambda lines: lines[2].update(rec(2, "big", estimated_tokens=99_000))),
    ("action", change(1, suggested_action={"verb": "DELETE", "path": "/api/work-items/a", "body": {}})),
    ("action", change(1, suggested_action={"verb": "PATCH", "path": "/api/work-items/b", "body": {"user_order": 1}})),
    ("action", change(1, suggested_action={"verb": "PATCH", "path": "/api/work-items/a", "body": {"user_order": 2}})),
    (
        "action",
        change(
            1,
            suggested_action={"verb": "PATCH", "path": "/api/work-items/a", "body": {"user_order": 1, "state": "done"}},
        ),
    ),
    ("counts", change(-1, ranked=5)),
    ("counts", change(-1, warnings=0)),
    ("counts", change(-1, deferred=4)),
    ("token_sum", change(-1, estimated_total_tokens=601)),
    ("order", lambda lines: lines.insert(1, lines.pop(0))),
    ("order", lambda lines: lines.insert(1, dict(lines[0]))),
    ("order", lambda lines: lines.append(dict(lines[5]))),
    ("order", lambda lines: lines.insert(1, lines.pop(5))),
    ("order", lambda lines: lines.append(dict(lines[-1]))),
    ("type", change(1, type="idea")),
    ("type", lambda lines: lines[1].pop("type")),
    ("shape", change(1, confidence=float("nan"))),
    ("shape", change(1, confidence=2)),
    ("shape", change(1, rank=0)),
    ("shape", change(1, estimated_tokens=-5)),
    ("shape", change(1, rationale=None)),
    ("shape", change(1, rationale="\ud800")),
    ("shape", change(5, kind="weather")),
]


@pytest.mark.parametrize(
    ("rule", "broken"), BROKEN, ids=[f"{number}-{rule}" for number, (rule, _) in enumerate(BROKEN)]
)
def test_a_line_that_breaks_a_rule_is_found(rule: str, broken: Callable[[Lines], object]) -> None:
    lines = good()
    broken(lines)

    judge = judged(lines)

    assert rule in {error.rule for error in judge.line_errors}
    assert len(judge.validated) + len(judge.line_errors) == len(lines)
    assert msgspec.json.encode(judge.line_errors)


def test_every_rule_on_a_line_is_among_those_that_were_broken() -> None:
    assert {rule.id for rule in RULES} <= {rule for rule, _ in BROKEN}


WHOLE_BROKEN: list[tuple[str, Callable[[Lines], object]]] = [
    ("totals", change(0, total_ranked=3)),
    ("totals", change(0, filtered=0)),
    ("cycles", lambda lines: lines.pop(5)),
    ("cycles", lambda lines: lines.pop(7)),
    ("deferred_with", lambda lines: lines.pop(9)),
    ("unestimated", change(6, epic_ids=["c"])),
    ("missing", lambda lines: lines.pop(0)),
    ("missing", lambda lines: lines.pop()),
]


@pytest.mark.parametrize(("rule", "broken"), WHOLE_BROKEN)
def test_what_is_wrong_with_the_whole_is_told_at_the_end(rule: str, broken: Callable[[Lines], object]) -> None:
    lines = good()
    broken(lines)

    assert rule in {error.rule for error in judged(lines).finish()}
    assert {each.id for each in WHOLE} <= {name for name, _ in WHOLE_BROKEN}


def test_a_refused_line_leaves_its_neighbours_alone() -> None:
    lines = good()
    lines[2]["confidence"] = "high"

    judge = judged(lines)

    assert [(error.index, error.rule, error.raw) for error in judge.line_errors] == [(2, "shape", lines[2])]
    assert len(judge.validated) == len(lines) - 1
    assert judge.finish() == []


def test_lines_that_come_in_several_calls_are_judged_as_one_stream_and_texts_of_objects_are_lines() -> None:
    judge = judge_order(read(GIVEN))

    for line in good():
        assert not isinstance(judge.receive(json.dumps(line)), LineError)

    assert judge.finish() == []


def test_fields_that_nobody_knows_are_dropped_with_a_note() -> None:
    lines = good()
    lines[1]["mood"] = "good"
    lines[1]["suggested_action"]["colour"] = "red"

    judge = judged(lines)

    assert judge.line_errors == []
    assert [note.index for note in judge.notes] == [1]
    assert '"mood"' in judge.notes[0].note
    assert b"mood" not in msgspec.json.encode(judge.validated)


def test_markup_in_a_text_is_text() -> None:
    lines = good()
    lines[1]["rationale"] = "<script>alert(1)</script>"

    assert b"<script>" in msgspec.json.encode(judged(lines).validated[1])


def test_a_milestone_may_be_suggested_in_the_place_of_a_rank() -> None:
    lines = good()
    item = {"kind": "milestone", "title": "Beta", "description": "when it is out"}
    lines[1]["suggested_action"] = {"verb": "POST", "path": "/api/work-items", "body": {"item": item}}
    assert judged(lines).line_errors == []

    item["title"] = "M3 Beta"
    assert next(error.rule for error in judged(lines).line_errors) == "action"


def test_ten_thousand_hallucinated_lines_are_refused_one_by_one() -> None:
    lines = [rec(number + 1, f"ghost{number}") for number in range(10_000)]

    judge = judged(lines)

    assert len(judge.line_errors) == 10_000
    assert {error.rule for error in judge.line_errors} == {"candidate"}
    assert {error.rule for error in judge.finish()} >= {"missing", "cycles"}


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
lines_like = st.sampled_from(good()).flatmap(
    lambda line: st.dictionaries(st.sampled_from(sorted(line)), anything, max_size=2).map(lambda more: {**line, **more})
)


@given(st.lists(anything | lines_like, max_size=8))
def test_whatever_comes_every_line_gets_one_verdict_that_can_be_kept(lines: list[Any]) -> None:
    judge = judged(lines)

    assert len(judge.validated) + len(judge.line_errors) == len(lines)
    msgspec.json.encode([judge.validated, judge.line_errors, judge.notes, judge.finish()])


def test_the_same_lines_are_advised_as_are_judged_good() -> None:
    lines = [msgspec.to_builtins(line) for line in advise(read(GIVEN))]

    assert [line["epic_id"] for line in lines if line["type"] == "recommendation"] == ["a", "b", "c", "d"]
    assert judged(lines).line_errors == []
