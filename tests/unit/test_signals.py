"""Planning signals: what the board says of each epic, and the input of epic_order that is made of it."""

import random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba import clock
from gemba.errors import Conflict
from gemba.skills.advisor.advise import advise
from gemba.skills.consult.board_input import Asked, input_of
from gemba.skills.consult.order_rules import judge_order
from gemba.work.item import Kind, State
from gemba.work.signals import Board, Epic, Fact, Finished, Signals, enclosing, measure, touched_by

NOW = 1_800_000_000 * clock.SECOND
HOUR = 3_600 * clock.SECOND


def epic(id: str, **facts: Any) -> Fact:
    return Fact(id, id.title(), Kind.EPIC, **{"state": State.UNSTARTED, "created_at": NOW, **facts})


def task(id: str, parent: str | None, **facts: Any) -> Fact:
    return Fact(id, id.title(), Kind.TASK, **{"state": State.UNSTARTED, "created_at": NOW, "parent": parent, **facts})


def board(*items: Fact, blocks: tuple[tuple[str, str], ...] = (), **rest: Any) -> Board:
    return Board({one.id: one for one in items}, blocks, **rest)


def measured(*items: Fact, blocks: tuple[tuple[str, str], ...] = (), **rest: Any) -> dict[str, Epic]:
    return measure(board(*items, blocks=blocks, **rest), NOW)


def signals(*items: Fact, blocks: tuple[tuple[str, str], ...] = (), **rest: Any) -> Signals:
    return measured(*items, blocks=blocks, **rest)["a"].signals


def test_depth_unblocking_power_and_the_longest_chain() -> None:
    found = measured(
        *(epic(id, tokens=size) for id, size in (("a", 10), ("b", 20), ("c", 30), ("d", 5), ("alone", 1_000))),
        blocks=(("a", "b"), ("b", "c"), ("a", "d")),
    )

    facts = {id: (one.signals.depth, one.signals.unblocks, one.signals.frees) for id, one in found.items()}
    assert facts == {"a": (0, 2, 3), "alone": (0, 0, 0), "b": (1, 1, 1), "c": (2, 0, 0), "d": (1, 0, 0)}
    assert {id: one.signals.chain_tokens for id, one in found.items()} == {
        "a": 60,
        "alone": 1_000,
        "b": 60,
        "c": 60,
        "d": 15,
    }
    assert found["a"].signals.why[0] == "2 epics wait for it directly, 3 in all"


def test_who_is_on_the_longest_chain_is_said() -> None:
    found = measured(epic("a", tokens=10), epic("b", tokens=20), epic("d"), blocks=(("a", "b"), ("a", "d")))

    assert {id for id, one in found.items() if one.signals.on_critical_path} == {"a", "b"}
    assert "it is on the longest chain: 30 tokens" in found["b"].signals.why


@pytest.mark.parametrize(
    ("items", "blocks", "expected"),
    [
        ([epic("a"), epic("b")], (("b", "a"),), ["b"]),
        ([epic("a"), epic("b"), task("t", "a"), task("u", "b")], (("u", "t"),), ["b"]),
        ([epic("a"), epic("b"), task("t", "a")], (("b", "t"),), ["b"]),
        ([epic("a"), task("s", "a"), task("t", "a")], (("s", "t"),), []),  # within itself
        ([epic("p"), epic("a", parent="p"), epic("b")], (("b", "p"),), ["b"]),  # what it is part of waits
        ([epic("p"), epic("a", parent="p"), task("t", "p")], (("t", "a"),), []),  # its own whole
        ([epic("a"), epic("b", state=State.DONE)], (("b", "a"),), []),
        ([epic("a"), task("t", None)], (("t", "a"),), []),  # in no epic
        ([epic("a"), epic("b"), task("t", "a"), task("deep", "t"), task("u", "b")], (("u", "deep"),), ["b"]),
    ],
)
def test_an_epic_depends_on_the_epics_of_what_blocks_it_or_a_part_of_it(
    items: list[Fact], blocks: tuple[tuple[str, str], ...], expected: list[str]
) -> None:
    assert measured(*items, blocks=blocks)["a"].depends_on == expected


def test_epics_whose_parts_wait_for_each_other_have_no_depth_and_say_why() -> None:
    found = measured(
        *(epic("a"), epic("b"), epic("c"), task("a1", "a"), task("a2", "a"), task("b1", "b"), task("b2", "b")),
        blocks=(("a1", "b1"), ("b2", "a2"), ("b", "c")),
    )

    assert [found[id].signals.depth for id in "abc"] == [None, None, None]
    assert found["c"].signals.why[0] == "it waits in a circle of epics, or behind one"


def test_parts_readiness_size_files_age_and_escalations() -> None:
    found = signals(
        epic("a", created_at=NOW - 3 * clock.DAY, targets=("src/**",), labels=("api",)),
        task("done", "a", state=State.DONE, tokens=7, targets=("old.py",)),
        task("ready", "a", is_ready=True, tokens=100, targets=("docs/**",)),
        task("begun", "a", state=State.IN_PROGRESS, tokens=200),
        task("waits", "a"),
        finished=[Finished("x", "X", NOW, tokens=100), Finished("y", "Y", NOW, tokens=200), Finished("z", "Z", NOW)],
        touched={"begun": ["src/a.py", "docs/**"], "other": ["web/x.ts"]},
        waiting={"begun": 2, "a": 1, "other": 5},
    )

    assert (found.parts.total, found.parts.finished, found.parts.ready, found.parts.started) == (4, 1, 1, 1)
    assert found.readiness == 0.33
    assert (found.estimated_tokens, found.size_against_recent) == (300, 2.0)
    assert found.files == ["src/**", "docs/**", "src/a.py"]
    assert (found.age_days, found.open_escalations, found.labels) == (3, 3, ["api"])
    assert "of 4 parts 1 finished, 1 begun, 1 ready" in found.why
    assert "2 times the size of what was finished lately" in found.why


@pytest.mark.parametrize(
    ("items", "tokens", "readiness"),
    [
        ([epic("a")], None, 0.0),
        ([epic("a", is_ready=True)], None, 1.0),
        ([epic("a", tokens=9), task("t", "a", tokens=100)], 9, 0.0),
        ([epic("a", is_ready=True), task("t", "a", state=State.DONE, tokens=5)], None, 0.0),
        ([epic("a"), epic("inner", parent="a"), task("t", "inner", tokens=5, is_ready=True)], None, 0.0),
    ],
)
def test_what_is_not_known_stays_unknown(items: list[Fact], tokens: int | None, readiness: float) -> None:
    found = signals(*items)

    assert (found.estimated_tokens, found.readiness, found.size_against_recent) == (tokens, readiness, None)


def test_the_epics_to_be_done_and_what_they_wait_for_are_the_candidates() -> None:
    known = board(
        epic("a", user_order=4, tokens=10),
        epic("shelved", state=State.BACKLOG),
        epic("below", state=State.DEFERRED),
        epic("other", state=State.BACKLOG),
        task("t", "a"),
        blocks=(("shelved", "t"), ("below", "shelved")),
        finished=[Finished("x", "X", NOW, NOW - 2 * HOUR, 50), Finished("y", "Y", NOW)],
    )
    asked = [
        Asked("q1", "question", "blocking", "Which port?", "t", NOW),
        Asked("q2", "fyi", "advisory", "?", "no", NOW),
    ]

    given_ = input_of(known, asked, "/shop", "shop", NOW)

    given_.check()
    assert [one.epic_id for one in given_.candidate_epics] == ["a", "below", "shelved"]
    first = given_.candidate_epics[0]
    assert (first.current_rank, first.depends_on_epics, first.estimated_tokens) == (4, ["shelved"], 10)
    assert first.derived is not None
    assert first.derived["parts"] == {"total": 1, "finished": 0, "ready": 0, "started": 0}
    done = given_.recent_completions or []
    assert [(one.elapsed_hours, one.tokens_consumed) for one in done] == [(2.0, 50), (None, None)]
    assert [one.blocked_epic for one in given_.open_escalations or []] == ["a", None]


def test_a_board_without_an_epic_to_be_done_is_refused() -> None:
    with pytest.raises(Conflict, match="there is nothing to put into an order"):
        input_of(board(epic("a", state=State.BACKLOG), task("t", None)), [], "/shop", "shop", NOW)


def test_files_of_a_commit_are_those_of_the_items_that_its_message_names() -> None:
    commits = [
        ("Index faster (shop-1).", ("src/a.py", "src/b.py")),
        ("shop-1, shop-2: tests", ("src/b.py", "tests/b.py")),
        ("shop-10 is another one, and shop-1x", ("web/x.ts",)),
    ]

    assert touched_by(commits, {"shop-1", "shop-2", "shop-3"}) == {
        "shop-1": ["src/a.py", "src/b.py", "tests/b.py"],
        "shop-2": ["src/b.py", "tests/b.py"],
    }


EPICS = tuple("abcdef")
facts = st.fixed_dictionaries(
    {
        "states": st.lists(st.sampled_from(list(State)), min_size=6, max_size=6),
        "homes": st.lists(st.none() | st.integers(0, 5), min_size=8, max_size=8),
        "parents": st.lists(st.none() | st.integers(0, 5), min_size=6, max_size=6),
        "blocks": st.lists(st.tuples(st.integers(0, 13), st.integers(0, 13)), max_size=20),
    }
)


@given(facts, st.randoms(use_true_random=False))
def test_any_board_is_measured_alike_in_any_order_and_the_advisor_can_order_it(
    drawn: dict[str, Any], draw: random.Random
) -> None:
    items = [
        epic(id, state=drawn["states"][place], parent=EPICS[above] if above is not None and above < place else None)
        for place, (id, above) in enumerate(zip(EPICS, drawn["parents"], strict=True))
    ]
    items += [
        task(f"t{place}", None if home is None else EPICS[home], is_ready=True)
        for place, home in enumerate(drawn["homes"])
    ]
    names = [one.id for one in items]
    blocks = [(names[source], names[target]) for source, target in drawn["blocks"] if source != target]
    known = Board({one.id: one for one in items}, blocks)
    found = measure(known, NOW)
    draw.shuffle(items)
    draw.shuffle(blocks)

    assert measure(Board({one.id: one for one in items}, blocks), NOW) == found
    assert set(found) <= set(enclosing(known.items))
    for id, one in found.items():
        assert id not in one.depends_on
        assert (one.signals.depth is None) == (one.signals.frees is None)
    if any(one.fact.state in (State.UNSTARTED, State.STAGED, State.IN_PROGRESS) for one in found.values()):
        given_ = input_of(known, [], "/shop", "shop", NOW)
        given_.check()
        judge = judge_order(given_)
        judge.receive_all(msgspec.to_builtins(line) for line in advise(given_))
        assert (judge.line_errors, judge.finish()) == ([], [])
