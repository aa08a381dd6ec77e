"""Every rule of epic_order over drawn plans: the advisor keeps it, and a model that breaks it is found out by its name.

The rules stand once more in `naive_order`, in plain sentences. A wrong model is the advisor with one thing done wrong
in the way that a rule is about; what it says beside that is right, and has to be taken.
"""

import copy
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gemba.paths import share
from gemba.skills.advisor.advise import advise
from gemba.skills.consult.judge import Judge
from gemba.skills.consult.order_input import EpicOrderInput
from gemba.skills.consult.order_rules import RULES, WHOLE, judge_order
from gemba.skills.consult.reading import read_input
from gemba.testing import effort
from tests.fixtures.naive_order import OF_LINES, OF_THE_WHOLE, Document, Lines, above, depends, epics_of, of
from tests.fixtures.plans import AS_OF, IDS, order_inputs, tricks


def advised(document: Document) -> Lines:
    found: Lines = msgspec.to_builtins(advise(read_input(document, EpicOrderInput)))
    return found


def judged(document: Document, lines: list[Any]) -> Judge[Any]:
    judge = judge_order(read_input(document, EpicOrderInput))
    judge.receive_all(copy.deepcopy(lines))
    return judge


def taken(judge: Judge[Any]) -> Lines:
    found: Lines = msgspec.to_builtins(judge.validated)
    return found


@given(order_inputs)
def test_the_advisor_keeps_every_rule(document: Document) -> None:
    lines = advised(document)

    for rule, holds in (OF_LINES | OF_THE_WHOLE).items():
        assert holds(document, lines), rule


def test_every_rule_of_the_judge_has_its_sentence_and_its_wrong_model() -> None:
    assert {rule.id for rule in RULES} | {rule.id for rule in WHOLE} <= OF_LINES.keys() | OF_THE_WHOLE.keys()
    assert {rule.id for rule in RULES} <= WRONG.keys()
    assert {rule.id for rule in WHOLE} <= WRONG_AS_A_WHOLE.keys()


# ---- a model that does one thing wrong -------------------------------------------------------------------------------


SIGNATURES = [[], ["src/a/**"], ["src/a/b.py", "docs"], ["src/c.py"], ["docs"]]


def _plan(drawn: list[tuple[int, int, int]]) -> Document:
    """Plans in which most epics are ranked: no cycles, estimates, and globs that meet here and there."""
    epics = [
        {
            "epic_id": IDS[place],
            "title": f"Epic {place}",
            "ui_state": "unstarted",
            "depends_on_epics": [IDS[other] for other in range(place) if waits >> other & 1],
            "estimated_tokens": tokens,
            "file_space_signature": SIGNATURES[signature],
        }
        for place, (waits, tokens, signature) in enumerate(drawn)
    ]
    return {"workspace": "shop", "as_of": AS_OF, "candidate_epics": epics[::-1]}


plain_inputs = st.lists(
    st.tuples(st.integers(0, 63), st.integers(1, 9_000), st.integers(0, len(SIGNATURES) - 1)), min_size=3, max_size=7
).map(_plan)


def rec(rank: int, id: str, **more: Any) -> Document:
    action = {"verb": "PATCH", "path": f"/api/work-items/{id}", "body": {"user_order": rank}}
    line = {"type": "recommendation", "rank": rank, "epic_id": id, "confidence": 1.0, "rationale": "so"}
    return {**line, "suggested_action": action, **more}


Pick = Callable[[list[Any]], Any]  # one of these; a plan that has none is passed over
Wrong = Callable[[Pick, Document, Lines], tuple[Lines, int]]  # what the model says, and where it is wrong


def _changed(lines: Lines, at: int, **fields: Any) -> tuple[Lines, int]:
    lines[at] = {**lines[at], **fields}
    return lines, at


def _inserted(lines: Lines, at: int, line: Document) -> tuple[Lines, int]:
    lines.insert(at, line)
    return lines, at


def _ranked(lines: Lines) -> list[int]:
    return [place for place, line in enumerate(lines) if line["type"] == "recommendation"]


def _stranger(pick: Pick, given_: Document, lines: Lines) -> tuple[Lines, int]:
    at = pick(_ranked(lines))
    kind = pick(["recommendation", "warning", "deferred"])
    if kind == "recommendation":
        return _inserted(lines, at, rec(lines[at]["rank"], "ghost"))
    strange: dict[str, Document] = {
        "warning": {"kind": "missing_signal", "epic_ids": ["ghost"], "detail": "?"},
        "deferred": {"epic_id": "ghost", "reason": "?"},
    }
    return _inserted(lines, len(lines) - 1, {"type": kind, **strange[kind]})


def _again(pick: Pick, given_: Document, lines: Lines) -> tuple[Lines, int]:
    at = pick(_ranked(lines))
    id = lines[at]["epic_id"]
    if pick([True, False]):
        return _inserted(lines, len(lines) - 1, {"type": "deferred", "epic_id": id, "reason": "?"})
    return _inserted(lines, at + 1, rec(lines[at]["rank"] + 1, id))


def _other_rank(pick: Pick, given_: Document, lines: Lines) -> tuple[Lines, int]:
    places = _ranked(lines)
    at = pick(places[1:])
    rank = pick([lines[at]["rank"] - 1, lines[at]["rank"] + 2, 10**6])
    return _changed(lines, at, rank=rank, suggested_action=rec(rank, lines[at]["epic_id"])["suggested_action"])


def _too_early(pick: Pick, given_: Document, lines: Lines) -> tuple[Lines, int]:
    """What depends on something changes places with it."""
    places = {lines[at]["epic_id"]: at for at in _ranked(lines)}
    first, second = pick([(each, id) for id in places for each in depends(given_, id) if each in places])
    one, other = places[first], places[second]
    lines[one], lines[other] = (
        {**lines[other], **rec(lines[one]["rank"], second, confidence=lines[other]["confidence"])},
        {**lines[one], **rec(lines[other]["rank"], first, confidence=lines[one]["confidence"])},
    )
    return lines, one


def _other_estimate(pick: Pick, given_: Document, lines: Lines) -> tuple[Lines, int]:
    at = pick(_ranked(lines))
    lines[-1]["estimated_total_tokens"] += 1  # it adds up what it says
    return _changed(lines, at, estimated_tokens=epics_of(given_)[lines[at]["epic_id"]]["estimated_tokens"] + 1)


def _grouped(lines: Lines, one: int, other: int) -> tuple[Lines, int]:
    first, second = sorted((one, other))
    _changed(lines, first, parallel_group="together")
    return _changed(lines, second, parallel_group="together")


def _pairs(given_: Document, lines: Lines) -> list[tuple[int, int, bool, bool]]:
    """Two recommendations, whether they share a path, and whether one depends on the other."""
    known = epics_of(given_)
    found = []
    for place, one in enumerate(_ranked(lines)):
        for other in _ranked(lines)[place + 1 :]:
            ids = [lines[at]["epic_id"] for at in (one, other)]
            meet = share(*([known[id]["file_space_signature"] for id in ids]))
            found.append((one, other, meet, ids[0] in above(given_, ids[1])))
    return found


def _meeting(pick: Pick, given_: Document, lines: Lines) -> tuple[Lines, int]:
    return _grouped(lines, *pick([pair[:2] for pair in _pairs(given_, lines) if pair[2]]))


def _waiting(pick: Pick, given_: Document, lines: Lines) -> tuple[Lines, int]:
    return _grouped(lines, *pick([pair[:2] for pair in _pairs(given_, lines) if pair[3] and not pair[2]]))


def _unsure(pick: Pick, given_: Document, lines: Lines) -> tuple[Lines, int]:
    return _changed(lines, pick(_ranked(lines)), confidence=0.05)


def _one_more(pick: Pick, given_: Document, lines: Lines) -> tuple[Lines, int]:
    """An epic that was left out, behind all that were not."""
    ranked = {lines[at]["epic_id"] for at in _ranked(lines)}
    left = [id for id in epics_of(given_) if id not in ranked and depends(given_, id) <= ranked]
    places = _ranked(lines)
    at = places[-1] + 1 if places else 1
    return _inserted(lines, at, rec(len(places) + 1, pick(left)))


def _elsewhere(pick: Pick, given_: Document, lines: Lines) -> tuple[Lines, int]:
    at = pick(_ranked(lines))
    id, rank = lines[at]["epic_id"], lines[at]["rank"]
    path, body = f"/api/work-items/{id}", {"user_order": rank}
    wrong = [
        {"verb": "DELETE", "path": path, "body": {}},
        {"verb": "PUT", "path": path, "body": body},
        {"verb": "PATCH", "path": f"{path}-2", "body": body},
        {"verb": "PATCH", "path": path, "body": {"user_order": rank + 1}},
        {"verb": "PATCH", "path": path, "body": {**body, "state": "done"}},
        {"verb": "PATCH", "path": path, "body": {}},
        {"verb": "POST", "path": "/api/sessions", "body": {"agent": "shell"}},
        {"verb": "POST", "path": "/api/work-items", "body": {"item": {"kind": "task", "title": "x"}}},
        {"verb": "POST", "path": "/api/work-items", "body": {"item": {"kind": "milestone", "title": "M1 x"}}},
        *({"verb": "PATCH", "path": trick, "body": body} for trick in tricks(id)),
    ]
    return _changed(lines, at, suggested_action=pick(wrong))


def _miscounted(pick: Pick, given_: Document, lines: Lines) -> tuple[Lines, int]:
    name = pick(["ranked", "warnings", "deferred"])
    return _changed(lines, len(lines) - 1, **{name: lines[-1][name] + 1})


def _missummed(pick: Pick, given_: Document, lines: Lines) -> tuple[Lines, int]:
    more = pick([1, 10**6])
    return _changed(lines, len(lines) - 1, estimated_total_tokens=lines[-1]["estimated_total_tokens"] + more)


def _unknown_type(pick: Pick, given_: Document, lines: Lines) -> tuple[Lines, int]:
    at = pick([*range(1, len(lines))])
    return _inserted(lines, at, {"type": pick(["idea", "Strategy", "", "recommendation "]), "text": "<b>hm</b>"})


def _unshaped(pick: Pick, given_: Document, lines: Lines) -> tuple[Lines, int]:
    at = pick([*range(1, len(lines))])
    return _inserted(lines, at, pick([{"type": "deferred"}, "so far so good", None, 7, ["strategy"]]))


def _misplaced(pick: Pick, given_: Document, lines: Lines) -> tuple[Lines, int]:
    if pick([True, False]):
        return _inserted(lines, pick([*range(1, len(lines))]), copy.deepcopy(lines[0]))
    return _inserted(lines, len(lines), {"type": "warning", "kind": "missing_signal", "epic_ids": [], "detail": ""})


WRONG: dict[str, Wrong] = {
    "frozen": lambda pick, given_, lines: _changed(
        lines, 0, **pick([{"workspace": "other"}, {"as_of": "2026-05-04T09:00:01Z"}])
    ),
    "considered": lambda pick, given_, lines: _changed(lines, 0, total_considered=lines[0]["total_considered"] + 1),
    "candidate": _stranger,
    "once": _again,
    "rank_order": _other_rank,
    "dependency": _too_early,
    "estimate": _other_estimate,
    "group_paths": _meeting,
    "group_dependency": _waiting,
    "min_confidence": _unsure,
    "max_recommendations": _one_more,
    "budget": _one_more,
    "action": _elsewhere,
    "counts": _miscounted,
    "token_sum": _missummed,
    "type": _unknown_type,
    "shape": _unshaped,
    "order": _misplaced,
}
# What a plan needs so that a rule says something.
ARRANGED: dict[str, Document] = {
    "min_confidence": {"constraints": {"min_confidence": 0.1}},
    "max_recommendations": {"max_recommendations": 2},
    "budget": {"sprint_context": {"token_budget": 9_000, "burn_thresholds": {"stop": 0.9}}},
}


def picker(data: st.DataObject) -> Pick:
    def pick(choices: list[Any]) -> Any:
        assume(choices)
        return data.draw(st.sampled_from(choices))

    return pick


@pytest.mark.parametrize("rule", WRONG)
@settings(max_examples=effort(40, 2_000))
@given(document=plain_inputs, data=st.data())
def test_a_model_that_breaks_a_rule_is_found_out_and_the_good_lines_beside_it_survive(
    rule: str, document: Document, data: st.DataObject
) -> None:
    document = {**document, **ARRANGED.get(rule, {})}
    lines, at = WRONG[rule](picker(data), document, advised(document))

    judge = judged(document, lines)

    errors = {error.index: error for error in judge.line_errors}
    assert (errors[at].rule, errors[at].raw) == (rule, lines[at])
    assert errors[at].reason
    # Only what depends on a line that was refused, or comes too late now, falls with it.
    for place, error in errors.items():
        before = {
            line["epic_id"] for number, line in enumerate(lines[:place]) if number not in errors and "rank" in line
        }
        if place != at:
            assert error.rule == "dependency"
            assert depends(document, lines[place]["epic_id"]) - before
    assert taken(judge) == [line for place, line in enumerate(lines) if place not in errors]
    for name, holds in OF_LINES.items():
        assert holds(document, taken(judge)), name


@given(document=order_inputs, data=st.data())
def test_whatever_a_model_does_wrong_what_is_taken_keeps_every_rule_of_its_lines(
    document: Document, data: st.DataObject
) -> None:
    lines = advised(document)
    for _ in range(data.draw(st.integers(1, 5))):
        many = len(lines)
        at, to = (data.draw(st.integers(0, many - 1)) for _ in range(2))
        match data.draw(st.sampled_from(["drop", "repeat", "move", "epic", "group", "number", "action"])):
            case "drop" if many > 1:
                lines.pop(at)
            case "repeat":
                lines.insert(to, copy.deepcopy(lines[at]))
            case "move":
                lines.insert(to, lines.pop(at))
            case "epic" if "epic_id" in lines[at]:
                lines[at]["epic_id"] = data.draw(st.sampled_from([*IDS, "ghost"]))
            case "group" if "rank" in lines[at]:
                lines[at]["parallel_group"] = data.draw(st.sampled_from(["g1", "g2", 3]))
            case "number" if "rank" in lines[at]:
                name, value = data.draw(
                    st.sampled_from([("rank", 1), ("rank", 4), ("confidence", 0), ("estimated_tokens", 10**5)])
                )
                lines[at][name] = value
            case "action" if "rank" in lines[at]:
                lines[at]["suggested_action"] = rec(data.draw(st.integers(1, 5)), lines[at]["epic_id"])[
                    "suggested_action"
                ]

    judge = judged(document, lines)

    assert len(judge.validated) + len(judge.line_errors) == len(lines)
    for name, holds in OF_LINES.items():
        assert holds(document, taken(judge)), name


# ---- the whole -------------------------------------------------------------------------------------------------------


def _without(type_: str, **fields: Any) -> Wrong:
    """The model leaves a line out; what it counts, it counts right."""

    def wrong(pick: Pick, given_: Document, lines: Lines) -> tuple[Lines, int]:
        fits = [
            place
            for place, line in enumerate(lines)
            if line["type"] == type_ and all(line.get(name) == value for name, value in fields.items())
        ]
        lines.pop(pick(fits))
        lines[-1][{"warning": "warnings", "deferred": "deferred"}[type_]] -= 1
        return lines, -1

    return wrong


WRONG_AS_A_WHOLE: dict[str, Wrong] = {
    "totals": lambda pick, given_, lines: _changed(lines, 0, total_ranked=lines[0]["total_ranked"] - 1),
    "cycles": lambda pick, given_, lines: pick([_without("warning", kind="dep_cycle"), _without("deferred")])(
        pick, given_, lines
    ),
    "deferred_with": lambda pick, given_, lines: _without("deferred", epic_id="behind")(pick, given_, lines),
    "unestimated": _without("warning", kind="missing_signal"),
}
KNOT = [
    {"epic_id": "one", "title": "One", "ui_state": "unstarted", "depends_on_epics": ["two"]},
    {"epic_id": "two", "title": "Two", "ui_state": "unstarted", "depends_on_epics": ["one"]},
]
BEHIND = {"epic_id": "behind", "title": "Behind", "ui_state": "unstarted", "depends_on_epics": ["one"]}
BARE = {"epic_id": "bare", "title": "Bare", "ui_state": "unstarted"}


@pytest.mark.parametrize("rule", WRONG_AS_A_WHOLE)
@given(document=plain_inputs, data=st.data())
def test_what_is_wrong_with_the_whole_is_told_and_takes_no_line_away(
    rule: str, document: Document, data: st.DataObject
) -> None:
    more = [*KNOT, *([BEHIND] if rule == "deferred_with" else []), BARE]
    document = {**document, "candidate_epics": [*document["candidate_epics"], *more]}
    right = advised(document)
    assert judged(document, right).finish() == []
    lines, _ = WRONG_AS_A_WHOLE[rule](picker(data), document, right)

    judge = judged(document, lines)

    assert judge.line_errors == []
    assert taken(judge) == lines
    assert rule in {error.rule for error in judge.finish()}
    assert not OF_THE_WHOLE[rule](document, taken(judge))


@pytest.mark.parametrize("kind", ["strategy", "summary"])
@given(document=plain_inputs)
def test_a_strategy_or_summary_that_is_missing_is_told_and_nothing_is_put_in_its_place(
    kind: str, document: Document
) -> None:
    lines = [line for line in advised(document) if line["type"] != kind]

    judge = judged(document, lines)

    assert taken(judge) == lines
    assert [(error.rule, error.reason) for error in judge.finish()] == [("missing", f"no {kind} came")]
    assert not of(taken(judge), kind)
