"""Which tasks words are about, which one is the first to improve, and what of a text is markup."""

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.teams.affected import affected_by, lowest
from gemba.teams.gates import ComputedCheck, Dimension, Review, judge
from gemba.teams.markdown import literal


def row(id: str, state: str = "pending", owner: str = "developer", **points: int) -> Any:
    gate = None
    if points:
        given_: dict[str, Any] = {"completeness": 100, "consistency": 100, "accuracy": 100, "depth": 100, **points}
        checks = [ComputedCheck(each, f"{each} is there", True) for each in Dimension]
        gate = msgspec.json.encode(judge(checks, Review("builtin", **given_), author="x", attempt=3)).decode()
    return SimpleNamespace(id=id, state=state, owner=owner, prefix=id.rpartition("-")[0], gate=gate)


ROWS = [
    row("RESEARCH-001", "completed", "researcher"),
    row("IMPL-001", "running"),
    row("IMPL-002"),
    row("TEST-001", owner="tester"),
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("IMPL-002 should keep the old name", {"IMPL-002"}),
        ("impl-002, please", {"IMPL-002"}),
        ("the developer uses tabs", {"IMPL-001", "IMPL-002"}),
        ("TEST: no network", {"TEST-001"}),
        ("IMPL-001 and the tester", {"IMPL-001", "TEST-001"}),
        ("use small files", {"IMPL-001", "IMPL-002", "TEST-001"}),
        ("RESEARCH-001 was good", {"IMPL-001", "IMPL-002", "TEST-001"}),
        ("IMPL-0011 is none", {"IMPL-001", "IMPL-002", "TEST-001"}),
    ],
)
def test_words_go_to_the_open_tasks_that_they_name_else_to_all_that_are_open(text: str, expected: set[str]) -> None:
    assert affected_by(text, ROWS) == expected


def test_words_to_a_run_that_is_over_are_about_nothing() -> None:
    assert affected_by("IMPL-001", [row("IMPL-001", "completed"), row("TEST-001", "skipped")]) == set()


def test_the_lowest_stored_score_is_the_first_to_improve() -> None:
    rows = [
        row("IMPL-001", "completed", accuracy=90),
        row("TEST-001", "completed_with_warnings", depth=62, accuracy=70),
    ]

    found = lowest(rows, None)

    assert found is not None
    assert (found.task_id, found.dimension, found.score) == ("TEST-001", "depth", 62)
    assert found.reason


def test_a_dimension_that_is_named_is_looked_at_alone() -> None:
    rows = [row("IMPL-001", "completed", accuracy=90), row("TEST-001", "completed", depth=62, accuracy=95)]

    found = lowest(rows, Dimension.ACCURACY)

    assert found is not None
    assert (found.task_id, found.score) == ("IMPL-001", 90)


def test_of_equals_the_first_in_graph_order_is_improved() -> None:
    found = lowest([row("IMPL-001", "completed", depth=70), row("IMPL-002", "completed", depth=70)], None)

    assert found is not None
    assert found.task_id == "IMPL-001"


@pytest.mark.parametrize("state", ["running", "failed", "skipped", "pending"])
def test_what_is_not_done_is_not_improved(state: str) -> None:
    assert lowest([row("IMPL-001", state, depth=10), row("IMPL-002", "completed", depth=100)], None) is None


# ---- words in Markdown -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a | b", r"a \| b"),
        ("a\n\n# b", "a # b"),
        ("`code` *b* [x](y)", r"\`code\` \*b\* \[x](y)"),
        ("<script>&lt;", r"\<script>\&lt;"),
        ("snake_case __init__ AT&T", r"snake_case \_\_init\_\_ AT\&T"),
        ("C:\\x", r"C:\\x"),
        ("10 < 20 ~~no~~", r"10 \< 20 \~\~no\~\~"),
    ],
)
def test_words_stand_in_markdown_as_they_were_written(text: str, expected: str) -> None:
    assert literal(text, 200) == expected


@given(st.text(max_size=300))
def test_no_words_leave_their_line_or_their_cell(text: str) -> None:
    shown = literal(text, 100)

    assert len(shown.splitlines()) <= 1
    bare = shown.replace("\\\\", "").replace("\\|", "").replace("\\`", "").replace("\\<", "")
    assert not {"|", "`", "<"} & {*bare}
