"""A work item's table of moves, the rules for its values, and what is decided without a database."""

from itertools import pairwise, product
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.config import Settings, WorkSettings, Workspace
from gemba.errors import Conflict, Invalid
from gemba.work import item
from gemba.work.batch import circles
from gemba.work.explain import Blocker, Facts, reasons
from gemba.work.graph import longest_way
from gemba.work.item import MACHINE, Relation, State, check_move

CLOSED = {State.DONE, State.CANCELLED}


@pytest.mark.parametrize(("source", "target"), list(product(State, State)))
def test_a_move_is_one_of_the_table_or_names_those_that_are(source: State, target: State) -> None:
    targets = [after for (before, _), after in MACHINE.table.items() if before is source]
    if target in targets:
        check_move(source, target)
    else:
        with pytest.raises(Conflict) as refused:
            check_move(source, target)
        assert refused.value.allowed == targets


def test_every_state_can_be_left_and_work_begins_only_on_what_is_planned() -> None:
    for state in State:
        assert [after for (before, _), after in MACHINE.table.items() if before is state]
    assert {before for (before, _), after in MACHINE.table.items() if after is State.REVIEW} == {
        State.UNSTARTED,
        State.STAGED,
        State.IN_PROGRESS,
    }
    assert not [pair for pair in MACHINE.table if pair[0] in CLOSED and MACHINE.table[pair] in CLOSED]


@pytest.mark.parametrize(
    ("title", "number"),
    [("M1 Launch", 1), ("m12: x", 12), ("M3", 3), ("M4A files", None), ("Milestone 1", None), ("M Launch", None)],
)
def test_a_number_is_a_number_and_nothing_else(title: str, number: int | None) -> None:
    assert item.milestone_number(title) == number


@given(st.text())
def test_a_title_is_one_line_that_every_database_takes_or_is_refused(text: str) -> None:
    if 1 <= len(" ".join(text.split())) <= item.LONGEST_TITLE:
        title = item.clean_title(text, "/title")
        assert "\n" not in title
        assert "\0" not in title
        title.encode()
    else:
        with pytest.raises(Invalid, match="/title has"):
            item.clean_title(text, "/title")


@given(st.dictionaries(st.text(), st.recursive(st.none() | st.text(), st.lists, max_leaves=5)))
def test_extras_can_be_stored_whatever_they_are(extras: dict[str, Any]) -> None:
    cleaned = item.clean_extras(extras, "/extras")

    assert b"\\u0000" not in msgspec.json.encode(cleaned).replace(b"\\\\", b"")


@pytest.mark.parametrize(
    ("folder", "prefix"), [("Shop Front", "shop-front"), ("2048", "w2048"), ("★", "work"), ("x" * 50, "x" * 20)]
)
def test_the_prefix_is_the_folders_name_unless_it_is_set(folder: str, prefix: str, tmp_path: Any) -> None:
    workspace = Workspace(tmp_path / folder)

    assert workspace.work_prefix(Settings()) == prefix
    assert workspace.work_prefix(Settings(work=WorkSettings("KET"))) == "KET"


def test_every_reason_is_given_and_only_those() -> None:
    blocker = Blocker("shop-1", "Index", "deferred")
    assert reasons(Facts(State.STAGED, None, None, [], [("shop-9", [])])) == []
    found = reasons(Facts(State.REVIEW, "ann", 0, [blocker], [("shop-9", [blocker])]))
    assert [reason.kind for reason in found] == ["state", "claimed", "blocked", "held"]
    assert found[2].text == "it is blocked by shop-1 (deferred: Index)"
    assert found[3].items == ["shop-9", "shop-1"]


EDGES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=25)


@given(EDGES)
def test_the_longest_way_is_one_and_none_is_longer(pairs: list[tuple[int, int]]) -> None:
    edges: dict[str, list[str]] = {}
    for one, other in pairs:
        if one != other:  # upwards only, so that there is no circle
            edges.setdefault(str(min(one, other)), []).append(str(max(one, other)))

    def depth(id: str) -> int:
        return 1 + max((depth(after) for after in edges.get(id, ())), default=0)

    way = longest_way(edges, {}, "0")
    assert way[0] == "0"
    assert all(after in edges[before] for before, after in pairwise(way))
    assert len(way) == depth("0")


@given(EDGES)
def test_without_the_edges_that_close_circles_there_are_none_and_no_other_is_left_out(
    pairs: list[tuple[int, int]],
) -> None:
    edges = [(str(one), Relation.BLOCKS, str(other)) for one, other in dict.fromkeys(pairs)]
    closing = circles(edges)
    kept = [edge for edge in edges if edge not in closing]

    def reaches(start: str, end: str, among: list[tuple[str, Relation, str]]) -> bool:
        seen, stack = {start}, [start]
        while stack:
            at = stack.pop()
            for source, _, target in among:
                if target == at and source not in seen:
                    seen.add(source)
                    stack.append(source)
        return end in seen

    assert not any(reaches(source, target, kept) for source, _, target in kept)
    assert all(reaches(source, target, kept) for source, _, target in closing)
