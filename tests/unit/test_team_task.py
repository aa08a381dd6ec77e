"""A task's states and every move between them; what its end frees and skips; what that costs."""

import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.errors import Conflict, Invalid, NotFound
from gemba.teams.plan import PlanTask
from gemba.teams.schedule import Advance, Schedule, advance
from gemba.teams.task import (
    DECIDED,
    DONE,
    ENDED,
    LOST,
    MAY_WAIT,
    TASK,
    Dependent,
    Lost,
    Position,
    Skip,
    TaskState,
    WaitingFor,
    effects_of,
    events_from,
    move,
)

S, W = TaskState, WaitingFor
EVENTS = sorted({event for _, event in TASK.table})
POSITIONS = [Position(state) for state in S if state is not S.WAITING] + [Position(S.WAITING, what) for what in W]

# The same rules in sentences: which states an event is allowed in.
ALIVE = {S.CLAIMED, S.RUNNING, S.VERIFYING, S.WAITING}
ALLOWED = {
    "claimed": {S.PENDING},
    "started": {S.CLAIMED},
    "submitted": {S.RUNNING},
    "passed": {S.VERIFYING},
    "passed_with_warnings": {S.VERIFYING},
    "sent_back": {S.VERIFYING},
    "given_up": {S.VERIFYING},
    "held": {S.PENDING, S.RUNNING, S.VERIFYING},
    "answered": {S.WAITING},
    "released": ALIVE,
    "failed": ALIVE,
    "cancelled": {S.PENDING, S.PARTIAL_COMPLETION} | ALIVE,
    "skipped": {S.PENDING, S.PARTIAL_COMPLETION, S.FAILED} | ALIVE,
    "accepted": {S.WAITING, S.PARTIAL_COMPLETION, S.COMPLETED_WITH_WARNINGS},
    "retried": {S.WAITING, S.PARTIAL_COMPLETION, S.FAILED, S.SKIPPED},
    "revised": set(S) - {S.CLAIMED, S.RUNNING, S.VERIFYING, S.CANCELLED},
    "outdated": ALIVE | DONE | {S.PARTIAL_COMPLETION},
    "reopened": {S.SKIPPED},
}
LEADS = {
    "claimed": S.CLAIMED,
    "started": S.RUNNING,
    "submitted": S.VERIFYING,
    "passed": S.COMPLETED,
    "passed_with_warnings": S.COMPLETED_WITH_WARNINGS,
    "sent_back": S.RUNNING,
    "given_up": S.PARTIAL_COMPLETION,
    "held": S.WAITING,
    "answered": S.RUNNING,
    "failed": S.FAILED,
    "cancelled": S.CANCELLED,
    "skipped": S.SKIPPED,
    "accepted": S.COMPLETED_WITH_WARNINGS,
}  # all others: pending


def legal(position: Position, event: str) -> bool:
    undecided = position.state is S.WAITING and position.waiting_for is not W.DECISION
    return position.state in ALLOWED[event] and not (undecided and event in DECIDED)


PAIRS = [(position, event) for position in POSITIONS for event in EVENTS]


def test_the_sentences_are_about_every_event() -> None:
    assert sorted(ALLOWED) == EVENTS


def test_every_move_that_is_allowed_leads_where_its_event_says() -> None:
    for position, event in PAIRS:
        if legal(position, event):
            waits = W.DECISION if event == "held" else None
            assert move(position, event, waits) == (LEADS.get(event, S.PENDING), waits), (position, event)


def test_every_other_move_raises_and_says_what_is_allowed() -> None:
    for position, event in [*PAIRS, *((position, "painted") for position in POSITIONS)]:
        if event != "painted" and legal(position, event):
            continue
        with pytest.raises(Conflict, match=f"the task is .*: it cannot be {event}") as refused:
            move(position, event)
        assert refused.value.code == "illegal_move"
        if position.waiting_for is None:
            assert refused.value.allowed == [each for each in events_from(position) if legal(position, each)]


def test_a_cancelled_task_stays_so() -> None:
    assert events_from(Position(S.CANCELLED)) == []


@pytest.mark.parametrize("state", list(MAY_WAIT))
def test_a_held_task_is_told_for_what_it_waits(state: TaskState) -> None:
    for what in [*W, None]:
        if what in MAY_WAIT[state]:
            assert move(Position(state), "held", what) == (S.WAITING, what)
        else:
            with pytest.raises(Invalid, match=f"a {state} task that is held waits for") as refused:
                move(Position(state), "held", what)
            assert (refused.value.code, refused.value.pointer) == ("waiting_for", "/waiting_for")


def test_what_does_not_wait_waits_for_nothing() -> None:
    with pytest.raises(Invalid, match="a pending task that is claimed waits for input; allowed: nothing"):
        move(Position(S.PENDING), "claimed", W.INPUT)


def test_only_a_decision_takes_work_as_it_is() -> None:
    with pytest.raises(Conflict, match="the task is waiting for input: it cannot be accepted") as refused:
        move(Position(S.WAITING, W.INPUT), "accepted")

    assert refused.value.found == "waiting for input"
    assert "accepted" not in refused.value.allowed
    assert {"answered", "released", "retried", "revised", "skipped"} <= set(refused.value.allowed)


def test_a_state_frees_skips_or_holds() -> None:
    assert {S.COMPLETED, S.COMPLETED_WITH_WARNINGS} == DONE
    assert {S.FAILED, S.SKIPPED, S.CANCELLED} == LOST
    assert S.PARTIAL_COMPLETION not in ENDED


# ---- what its end means for others -----------------------------------------------------------------------------------


def test_a_done_task_frees_those_that_wait_for_nothing_else() -> None:
    found = effects_of(
        "A-001",
        [Dependent("B-001", S.PENDING, 1), Dependent("B-002", S.PENDING, 2), Dependent("B-003", S.SKIPPED, 1)],
    )

    assert (found.ready, found.waiting, found.skipped) == (("B-001",), ("B-002",), ())


@pytest.mark.parametrize(
    ("lost", "reason"),
    [
        (Lost("A-001", S.FAILED), "it depends on A-001, which failed"),
        (Lost("A-001", S.SKIPPED), "it depends on A-001, which was skipped"),
        (Lost("A-001", S.CANCELLED), "it depends on A-001, which was cancelled"),
        (
            Lost("B-001", S.SKIPPED, Lost("A-001", S.FAILED)),
            "it depends on B-001, which was skipped, since A-001 failed",
        ),
    ],
)
def test_a_lost_task_skips_its_dependents_with_the_reason(lost: Lost, reason: str) -> None:
    found = effects_of(lost, [Dependent("C-001", S.PENDING, 3), Dependent("C-002", S.COMPLETED, 0)])

    assert found == ((), (), (Skip("C-001", reason),))


def tasks(graph: dict[str, tuple[str, ...]]) -> list[PlanTask]:
    return [PlanTask(id, "developer", "", before, id, False) for id, before in graph.items()]


DIAMOND = {"A-001": (), "B-001": ("A-001",), "B-002": ("A-001",), "C-001": ("B-001", "B-002")}


def test_a_run_goes_through_its_graph() -> None:
    run = Schedule(tasks(DIAMOND))

    assert run.ready() == ("A-001",)
    assert run.end("A-001", S.COMPLETED).ready == ("B-001", "B-002")
    assert run.end("B-002", S.COMPLETED_WITH_WARNINGS) == ((), ("C-001",), ())
    assert run.end("B-001", S.COMPLETED).ready == ("C-001",)
    assert not run.is_over
    run.end("C-001", S.COMPLETED)
    assert run.is_over


def test_a_failure_skips_all_behind_it_and_nothing_else() -> None:
    run = Schedule(tasks({**DIAMOND, "D-001": ("C-001",), "E-001": ()}))
    run.end("A-001", S.COMPLETED)

    assert run.end("B-001", S.FAILED).skipped == (
        Skip("C-001", "it depends on B-001, which failed"),
        Skip("D-001", "it depends on C-001, which was skipped, since B-001 failed"),
    )
    assert run.ready() == ("B-002", "E-001")
    assert run.end("B-002", S.COMPLETED).ready == ()


@pytest.mark.parametrize(
    ("id", "state", "words"),
    [
        ("B-001", S.COMPLETED, "B-001 is pending and waits for 1 more: it cannot end as completed"),
        ("A-001", S.RUNNING, "A-001 is pending: it cannot end as running"),
        ("A-001", S.PARTIAL_COMPLETION, "A-001 is pending: it cannot end as partial_completion"),
    ],
)
def test_an_end_that_cannot_be_is_refused(id: str, state: TaskState, words: str) -> None:
    with pytest.raises(Conflict, match=words) as refused:
        Schedule(tasks(DIAMOND)).end(id, state)

    assert refused.value.code == "illegal_end"


def test_a_task_ends_once_and_exists() -> None:
    run = Schedule(tasks(DIAMOND))
    run.end("A-001", S.COMPLETED)

    with pytest.raises(Conflict, match="A-001 is completed: it cannot end as completed"):
        run.end("A-001", S.COMPLETED)
    with pytest.raises(NotFound, match="the plan has no task Z-001"):
        run.end("Z-001", S.COMPLETED)


def test_what_is_revised_runs_again_with_all_that_was_done_behind_it_in_graph_order() -> None:
    run = Schedule(tasks(DIAMOND))
    for id in ("A-001", "B-002", "B-001", "C-001"):
        run.end(id, S.COMPLETED)

    assert run.again("B-001") == ("B-001", "C-001")
    assert run.ready() == ("B-001",)
    assert run.end("B-001", S.COMPLETED).ready == ("C-001",)
    assert run.again("A-001") == ("A-001", "B-001", "B-002")
    assert run.end("A-001", S.COMPLETED).ready == ("B-001", "B-002")


def test_what_is_retried_takes_back_what_was_skipped_for_it_alone() -> None:
    run = Schedule(tasks({**DIAMOND, "D-001": ("C-001",)}))
    run.end("A-001", S.COMPLETED)
    run.end("B-001", S.FAILED)
    run.end("B-002", S.FAILED)

    assert run.again("B-001") == ("B-001",)
    assert run.state_of("C-001") is S.SKIPPED
    with pytest.raises(Conflict, match="C-001 depends on B-002, which is failed: that one has to begin anew first"):
        run.again("C-001")
    assert run.again("B-002") == ("B-002", "C-001", "D-001")
    with pytest.raises(Conflict, match="B-002 is pending: only what has ended can begin anew"):
        run.again("B-002")


@given(st.data())
def test_counters_agree_with_a_look_at_the_whole_graph(data: st.DataObject) -> None:
    ids = [f"A-{number:03}" for number in range(1, data.draw(st.integers(2, 10)))]
    graph = {
        id: tuple(sorted(data.draw(st.sets(st.sampled_from(ids[:at]))) if at else ())) for at, id in enumerate(ids)
    }
    run = Schedule(tasks(graph))
    states = dict.fromkeys(graph, S.PENDING)

    def ready() -> set[str]:
        return {id for id in graph if states[id] is S.PENDING and all(states[each] in DONE for each in graph[id])}

    known = ready()
    while known:
        id = data.draw(st.sampled_from(sorted(known)))
        states[id] = data.draw(st.sampled_from([S.COMPLETED, S.COMPLETED, S.COMPLETED_WITH_WARNINGS, S.FAILED]))
        effects = run.end(id, states[id])
        for each in graph:  # in graph order, so that skips go on
            if states[each] is S.PENDING and any(states[before] in LOST for before in graph[each]):
                states[each] = S.SKIPPED
        known = (known - {id}) | set(effects.ready)
        assert known == ready() == set(run.ready())
        assert {each: run.state_of(each) for each in graph} == states
    assert run.is_over


def lines_run(work: Callable[[], None]) -> int:
    """How many lines of Python something takes: a clock that no other process touches."""
    many = 0

    def count(frame: object, event: str, argument: object) -> object:
        nonlocal many
        many += 1
        return count

    sys.settrace(count)  # type: ignore[arg-type]  # the stub wants frames, which nobody looks at
    try:
        work()
    finally:
        sys.settrace(None)
    return many


def deep(many: int) -> dict[str, tuple[str, ...]]:
    """So many tasks, 30 deep, each waiting for two of the level before it."""
    width = many // 30
    name = "A-{:04}".format
    return {
        name(at): () if at < width else tuple(sorted({name(at - width), name((at // width - 1) * width)}))
        for at in range(width * 30)
    }


def test_what_a_task_costs_does_not_grow_with_the_run() -> None:
    costs = []
    for many in (120, 1_200):
        graph = deep(many)
        run = Schedule(tasks(graph))

        def to_the_end(run: Schedule = run, graph: dict[str, tuple[str, ...]] = graph) -> None:
            for id in graph:
                run.end(id, S.COMPLETED)

        costs.append(lines_run(to_the_end) / len(graph))
        assert run.is_over
    assert costs[1] <= 1.5 * costs[0]


# ---- how a run goes on -----------------------------------------------------------------------------------------------


def planned(id: str, chain: str, inner_loop: bool = True) -> PlanTask:
    return PlanTask(id, "developer", "", (), chain, inner_loop)


@pytest.mark.parametrize(
    ("task", "ready", "wanted"),
    [
        (planned("A-001", "A-001"), [], Advance("none", None, ())),
        (planned("A-001", "A-001"), [planned("B-001", "B-001")], Advance("one", None, ("B-001",))),
        (planned("A-001", "A-001"), [planned("A-002", "A-001")], Advance("one", "A-002", ())),
        (planned("A-001", "A-001", False), [planned("A-002", "A-001", False)], Advance("one", None, ("A-002",))),
        (
            planned("A-001", "A-001"),
            [planned("B-001", "B-001"), planned("A-002", "A-001"), planned("A-003", "A-003")],
            Advance("all", "A-002", ("B-001", "A-003")),
        ),
    ],
)
def test_one_successor_begins_at_once_and_several_all(task: PlanTask, ready: list[PlanTask], wanted: Advance) -> None:
    assert advance(task, ready) == wanted
