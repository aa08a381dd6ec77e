"""What a session should do next: every gate and every score, and that neither chance nor order decides."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba import clock
from gemba.paths import share
from gemba.work import selection
from gemba.work.item import Kind, State
from gemba.work.parallel import MOST_CONFLICTS, choose_batch
from gemba.work.selection import Candidate, Field, Line, Ranking, Running, Worker

NOW = 1_800_000_000 * clock.SECOND


def ranked(items: list[Candidate], worker: Worker | None = None, running: tuple[Running, ...] = ()) -> Ranking:
    return Field(items, running, NOW).rank(worker or Worker("s1"), 100)


def order(found: Ranking) -> list[str]:
    return [choice.item_id for choice in found.choices]


def item(id: str = "a", **facts: Any) -> Candidate:
    return Candidate(id, **{"created_at": NOW, "targets": ("src/own.py",), **facts})


def line_of(found: Ranking, kind: str) -> Line | None:
    return next((line for line in found.choices[0].reasons if line.kind == kind), None)


@pytest.mark.parametrize(
    ("facts", "worker", "kind", "said"),
    [
        *[
            ({"state": state}, {}, "state", f"it is {state}; what can be begun is unstarted or staged")
            for state in State
            if state not in (State.UNSTARTED, State.STAGED)
        ],
        ({"owner": "s2"}, {}, "claim", "s2 has claimed it"),
        ({"parts": 1}, {}, "parts", "one unfinished part"),
        ({"parts": 3}, {}, "parts", "3 unfinished parts"),
        ({"kind": Kind.MILESTONE}, {}, "parts", "it is a milestone"),
        (
            {"targets": ("src/a/**",)},
            {},
            "conflict",
            "busy, worked on by s2 now, touches src/a/b.py; this touches src/a",
        ),
        ({}, {"folder": "/trees/1"}, "worktree", "s2 works on busy in the same worktree"),
        ({}, {"is_coach": True}, "role", "s1 is a coach's session"),
    ],
)
def test_a_hard_gate_rules_an_item_out_and_says_why(
    facts: dict[str, Any], worker: dict[str, Any], kind: str, said: str
) -> None:
    running = (Running("busy", "s2", ("src/a/b.py",), folder="/trees/1"),)

    found = ranked([item(**facts)], Worker("s1", **worker), running)

    assert (found.choices, found.total, found.total_ruled_out) == ([], 0, 1)
    [gate] = found.ruled_out[0].gates
    assert gate.kind == kind
    assert said in gate.text


@pytest.mark.parametrize(
    ("facts", "running"),
    [
        ({"state": State.STAGED}, Running("busy", "s2")),
        ({"owner": "s1"}, Running("busy", "s2")),
        ({"kind": Kind.EPIC}, Running("busy", "s2")),
        ({"targets": ("src/a/**",)}, Running("busy", "s1", ("src/a/b.py",))),  # its own work is not in its way
        ({"targets": ("src/a/**",)}, Running("busy", "s2", ("src/ab.py",))),
        ({"targets": ("src/a/**",), "repository": "web"}, Running("busy", "s2", ("src/a/b.py",))),
        ({"targets": ("src/a/**",)}, Running("a", "s2", ("src/a/b.py",))),  # it is this very item
        ({}, Running("busy", "s1", folder="/trees/1")),
    ],
)
def test_what_is_in_nobodys_way_is_open(facts: dict[str, Any], running: Running) -> None:
    assert order(ranked([item(**facts)], Worker("s1", folder="/trees/1"), (running,))) == ["a"]


@pytest.mark.parametrize(
    ("facts", "worker", "kind", "points"),
    [
        *[({"priority": priority}, {}, "priority", 10 * (4 - priority)) for priority in range(5)],
        ({"waiting": 1}, {}, "leverage", 5),
        ({"waiting": 4}, {}, "leverage", 15),
        ({"waiting": 10_000}, {}, "leverage", selection.MOST_LEVERAGE),
        ({"created_at": NOW - 12 * clock.DAY}, {}, "age", 12),
        ({"created_at": NOW - 900 * clock.DAY}, {}, "age", 900),
        ({"created_at": NOW - clock.DAY + 1}, {}, "age", None),
        ({"created_at": NOW + clock.DAY}, {}, "age", None),
        ({"concepts": ("search", "index")}, {"concepts": frozenset({"search"})}, "concept", 8),
        ({"concepts": tuple("abcdef")}, {"concepts": frozenset("abcdef")}, "concept", selection.MOST_CONCEPTS),
        ({"concepts": ("search",)}, {"concepts": frozenset({"billing"})}, "concept", None),
        ({"targets": ("src/a/b.py",)}, {"targets": ((None, "src/a/**"),)}, "files", selection.FILES),
        ({"targets": ("src/a/b.py",)}, {"targets": (("web", "src/a/**"),)}, "files", None),
        ({"epic": "e1"}, {"epics": frozenset({"e1"})}, "epic", selection.EPIC),
        ({"epic": "e1"}, {"epics": frozenset({"e2"})}, "epic", None),
        ({"tokens": 50_001}, {"room": 50_000}, "size", selection.TOO_LARGE),
        ({"tokens": 50_000}, {"room": 50_000}, "size", None),
        ({"tokens": None}, {"room": 0}, "size", None),
        ({"tokens": 50_000}, {"room": None}, "size", None),
        ({"concepts": ("x",), "labels": ("api",)}, {"intent": frozenset({"y"})}, "intent", selection.OUT_OF_INTENT),
        ({"labels": ("api",)}, {"intent": frozenset({"api"})}, "intent", None),
        ({"concepts": ("x",)}, {"intent": frozenset({"x"})}, "intent", None),
        ({"assignee": "ann"}, {}, "assignee", selection.ASSIGNED),
        ({"assignee": "s1"}, {}, "assignee", None),
        ({"targets": ()}, {}, "targets", 0),
        ({"user_order": 3}, {}, "ordered", 0),
    ],
)
def test_a_score_or_a_soft_gate_is_a_line_with_its_points(
    facts: dict[str, Any], worker: dict[str, Any], kind: str, points: int | None
) -> None:
    found = ranked([item(**facts)], Worker("s1", **worker))
    line = line_of(found, kind)

    assert (line and line.points) == points
    assert line is None or line.soft == (kind in ("size", "intent", "assignee"))
    assert found.choices[0].score == sum(each.points for each in found.choices[0].reasons)


def test_what_the_operator_ordered_goes_first_whatever_it_scores() -> None:
    items = [item("best", priority=0), item("second", priority=4, user_order=2), item("first", tokens=9, user_order=1)]

    assert order(ranked(items, Worker("s1", room=1))) == ["first", "second", "best"]


def test_one_soft_gate_puts_an_item_behind_its_like_and_age_brings_it_back() -> None:
    small, large = item("small", tokens=10), item("large", tokens=90)
    old = large._replace(created_at=NOW - 61 * clock.DAY)

    assert order(ranked([small, large], Worker("s1", room=50))) == ["small", "large"]
    assert order(ranked([small, old], Worker("s1", room=50))) == ["large", "small"]


def test_equals_stand_by_priority_then_age_then_id() -> None:
    items = [item("b"), item("a"), item("older", created_at=NOW - 1)]

    assert order(ranked(items)) == ["older", "a", "b"]


def test_more_than_is_shown_is_counted() -> None:
    field = Field([item(f"i{number}") for number in range(9)] + [item("x", owner="s2")], (), NOW)

    found = field.rank(Worker("s1"), 2)

    assert (len(found.choices), found.total, len(found.ruled_out), found.total_ruled_out) == (2, 9, 1, 1)


# ---- what can run at once --------------------------------------------------------------------------------------------


def test_a_batch_has_the_best_and_names_the_pairs_that_conflict() -> None:
    items = [
        item("a", targets=("src/**",)),
        item("b", targets=("src/b.py",)),
        item("c", targets=("docs/x.md",)),
        item("d", targets=()),
        item("e", targets=("src/b.py",), repository="web"),
    ]

    batch = choose_batch(items, 10)

    assert (batch.items, batch.left_out, batch.unknown, batch.more) == (["a", "c", "d", "e"], ["b"], ["d"], False)
    [pair] = batch.conflicts
    assert (pair.first, pair.second) == ("a", "b")
    assert pair.text == "a touches src/** and b touches src/b.py"


def test_a_batch_is_no_larger_than_wanted_and_says_when_more_conflict_than_it_tells() -> None:
    many = [item(f"i{number}", targets=("src/**",)) for number in range(60)]

    assert choose_batch([item(f"i{number}", targets=(f"{number}.py",)) for number in range(9)], 4).items[-1] == "i3"
    batch = choose_batch(many, 10)
    assert (batch.items, len(batch.left_out), len(batch.conflicts), batch.more) == (["i0"], 59, MOST_CONFLICTS, True)


# ---- properties ------------------------------------------------------------------------------------------------------

GLOBS = ("src/**", "src/a.py", "src/*.py", "docs/**", "docs/a/b.md", "**/a.py", "web/x.ts")
SESSIONS = ("s1", "s2", "s3")
some_globs = st.lists(st.sampled_from(GLOBS), max_size=3).map(tuple)
words = st.lists(st.sampled_from("abc"), max_size=3, unique=True).map(tuple)
candidates = st.lists(
    st.builds(
        Candidate,
        id=st.from_regex("i[0-9]{1,3}", fullmatch=True),
        state=st.sampled_from([State.UNSTARTED, State.UNSTARTED, State.STAGED, State.REVIEW]),
        kind=st.sampled_from([Kind.TASK, Kind.EPIC, Kind.MILESTONE]),
        user_order=st.none() | st.integers(0, 3),
        priority=st.integers(0, 4),
        created_at=st.integers(NOW - 50 * clock.DAY, NOW),
        targets=some_globs,
        concepts=words,
        labels=words,
        epic=st.none() | st.sampled_from(["e1", "e2"]),
        tokens=st.none() | st.integers(0, 100),
        waiting=st.integers(0, 40),
        parts=st.sampled_from([0, 0, 0, 1]),
        owner=st.none() | st.sampled_from(SESSIONS),
        assignee=st.none() | st.sampled_from(SESSIONS),
        repository=st.none() | st.just("web"),
    ),
    max_size=12,
    unique_by=lambda each: each.id,
)
runs = st.lists(
    st.builds(
        Running,
        item=st.from_regex("r[0-9]", fullmatch=True),
        owner=st.none() | st.sampled_from(SESSIONS),
        targets=some_globs,
        repository=st.none() | st.just("web"),
        folder=st.none() | st.sampled_from(["/1", "/2"]),
    ),
    max_size=3,
)
workers = st.builds(
    Worker,
    id=st.sampled_from(SESSIONS),
    folder=st.none() | st.sampled_from(["/1", "/2"]),
    targets=st.lists(st.tuples(st.none() | st.just("web"), st.sampled_from(GLOBS)), max_size=3).map(tuple),
    concepts=words.map(frozenset),
    epics=st.just(frozenset({"e1"})),
    room=st.none() | st.integers(0, 100),
    intent=words.map(frozenset),
    is_coach=st.sampled_from([False, False, True]),
)


@given(candidates, runs, workers, st.randoms(use_true_random=False))
def test_the_order_in_which_facts_come_decides_nothing(
    items: list[Candidate], running: list[Running], worker: Worker, draw: random.Random
) -> None:
    known = Field(items, running, NOW).rank(worker, 100)
    batch = choose_batch(Field(items, running, NOW).open_to_anyone(), 100)
    draw.shuffle(items)
    draw.shuffle(running)

    field = Field(items, running, NOW)

    assert field.rank(worker, 100) == known
    assert choose_batch(field.open_to_anyone(), 100) == batch


@given(candidates, runs, workers)
def test_what_a_hard_gate_holds_is_never_chosen_and_everything_else_is(
    items: list[Candidate], running: list[Running], worker: Worker
) -> None:
    def is_held(one: Candidate) -> bool:
        return (
            one.state not in (State.UNSTARTED, State.STAGED)
            or one.kind is Kind.MILESTONE
            or one.parts > 0
            or one.owner not in (None, worker.id)
            or worker.is_coach
            or any(
                each.owner != worker.id
                and (
                    (each.repository == one.repository and share(list(each.targets), list(one.targets)))
                    or (worker.folder is not None and each.folder == worker.folder)
                )
                for each in running
            )
        )

    found = Field(items, running, NOW).rank(worker, 100)

    assert {choice.item_id for choice in found.choices} == {one.id for one in items if not is_held(one)}
    assert {out.item_id for out in found.ruled_out} == {one.id for one in items if is_held(one)}
    assert all(out.gates for out in found.ruled_out)
    for choice in found.choices:
        assert choice.score == sum(line.points for line in choice.reasons)
    by_id = {one.id: one for one in items}
    placed = [by_id[choice.item_id].user_order for choice in found.choices]
    assert placed == sorted(placed, key=lambda place: (place is None, place or 0))


@given(candidates, runs, st.integers(1, 12))
def test_no_two_of_a_batch_share_a_path_and_what_is_left_out_shares_one(
    items: list[Candidate], running: list[Running], most: int
) -> None:
    field = Field(items, running, NOW)
    by_id = {one.id: one for one in items}

    batch = choose_batch(field.open_to_anyone(), most)

    def meet(one: str, other: str) -> bool:
        first, second = by_id[one], by_id[other]
        return first.repository == second.repository and share(list(first.targets), list(second.targets))

    assert len(batch.items) <= most
    assert not [(one, other) for one in batch.items for other in batch.items if one < other and meet(one, other)]
    assert all(any(meet(out, one) for one in batch.items) for out in batch.left_out)
    assert all(meet(pair.first, pair.second) for pair in batch.conflicts)
    if len(batch.items) < most:
        assert {*batch.items, *batch.left_out} == {one.id for one in field.open_to_anyone()}


@pytest.mark.parametrize(
    ("waiting", "only", "words"),
    [
        (1, 0, "one item waits for it"),
        (1, 1, "one item waits for it, and for nothing else"),
        (3, 0, "3 items wait for it"),
        (3, 1, "3 items wait for it, 1 of them for nothing else"),
        (3, 3, "3 items wait for it, and for nothing else"),
    ],
)
def test_how_many_wait_for_an_item_is_said_as_one_would_say_it(waiting: int, only: int, words: str) -> None:
    assert selection._waiting_words(waiting, only) == words
