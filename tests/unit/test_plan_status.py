"""A dispatch moves only along the table of statuses, and its agent goes on only so often without anybody else."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.handoff import fields
from gemba.handoff.status import (
    MACHINE,
    NEXT_TURN,
    RETRY_CAP,
    PlanStatus,
    Progress,
    Refusal,
    allowed_after,
    decide,
    start_turn,
)

S = PlanStatus
ENDINGS = [S.APPROVAL_REQUEST, S.COMPLETE, S.BLOCKED, S.NEEDS_INPUT]
LEGAL = {
    None: list(S),
    S.IN_PROGRESS: list(S),
    S.APPROVAL_REQUEST: [S.IN_PROGRESS],
    S.COMPLETE: [S.IN_PROGRESS],
    S.BLOCKED: [S.IN_PROGRESS],
    S.NEEDS_INPUT: [S.IN_PROGRESS],
}


def standing(status: PlanStatus | None) -> Progress:
    """A dispatch of that status whose agent has sent no IN_PROGRESS that would count."""
    return Progress(status, 0)


def after(*sent: str, progress: Progress | None = None) -> Progress | Refusal:
    """Where a dispatch stands after these, each accepted but perhaps the last."""
    now: Progress | Refusal = progress or Progress()
    for status in sent:
        assert isinstance(now, Progress)
        now = decide(now, status)
    return now


def taken(*sent: str, progress: Progress | None = None) -> Progress:
    now = after(*sent, progress=progress)
    assert isinstance(now, Progress)
    return now


# ---- the table ----------------------------------------------------------------------------------------------------


def test_the_statuses_are_those_of_the_contract() -> None:
    assert tuple(S) == fields.PLAN_STATUSES


@pytest.mark.parametrize(("before", "sent"), list(itertools.product([None, *S], S)))
def test_every_pair_of_statuses(before: PlanStatus | None, sent: PlanStatus) -> None:
    found = decide(standing(before), sent)

    if sent in LEGAL[before]:
        assert found == Progress(sent, 1 if sent is S.IN_PROGRESS else 0)
    else:
        assert isinstance(found, Refusal)
        assert (found.code, found.allowed) == ("illegal_move", ["IN_PROGRESS"])
        assert found.message == f"the dispatch is {before}: it cannot become {sent}; allowed: IN_PROGRESS"


@pytest.mark.parametrize(("before", "sent"), list(itertools.product(S, [*S, NEXT_TURN])))
def test_the_machine_has_the_same_table(before: PlanStatus, sent: str) -> None:
    assert MACHINE.allows(before, sent) is (sent == NEXT_TURN or sent in LEGAL[before])
    if MACHINE.allows(before, sent):
        assert MACHINE.after(before, sent) is (S.IN_PROGRESS if sent == NEXT_TURN else S(sent))


@pytest.mark.parametrize("before", [None, *S])
def test_what_is_allowed_is_told_without_the_move_of_the_runtime(before: PlanStatus | None) -> None:
    assert allowed_after(before) == [status.value for status in LEGAL[before]]


@pytest.mark.parametrize("before", [None, *S])
@pytest.mark.parametrize("sent", ["", "DONE", "complete", " COMPLETE", NEXT_TURN, "COMPLETE\x00"])
def test_what_is_no_status_is_refused_with_those_that_are_allowed(before: PlanStatus | None, sent: str) -> None:
    found = decide(standing(before), sent)

    assert isinstance(found, Refusal)
    assert found.allowed == [status.value for status in LEGAL[before]]


# ---- the runtime's move -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by_person", [False, True])
@pytest.mark.parametrize("before", [None, *S])
def test_the_next_turn_of_the_runtime_is_in_progress_whatever_was_before(
    before: PlanStatus | None, by_person: bool
) -> None:
    assert start_turn(standing(before), by_person=by_person) == Progress(S.IN_PROGRESS, 0)


@pytest.mark.parametrize(("before", "sent"), list(itertools.product([None, *S], S)))
def test_a_turn_that_the_runtime_started_may_end_in_any_status(before: PlanStatus | None, sent: PlanStatus) -> None:
    assert taken(sent, progress=start_turn(standing(before), by_person=False)).status is sent


# ---- the cap ------------------------------------------------------------------------------------------------------


def test_an_in_progress_and_two_more_in_a_row_are_accepted() -> None:
    assert RETRY_CAP == 2
    assert taken(*["IN_PROGRESS"] * 3) == Progress(S.IN_PROGRESS, 3)


def test_the_next_one_is_refused_with_its_code_and_what_is_allowed() -> None:
    found = after(*["IN_PROGRESS"] * 4)

    assert found == Refusal(
        "IN_PROGRESS_LIMIT",
        "IN_PROGRESS came 3 times in a row, which is the most; "
        "allowed: APPROVAL_REQUEST, COMPLETE, BLOCKED, NEEDS_INPUT, or a person's answer",
        ["APPROVAL_REQUEST", "COMPLETE", "BLOCKED", "NEEDS_INPUT"],
    )


@pytest.mark.parametrize("status", ENDINGS)
def test_at_the_limit_every_other_status_is_still_taken(status: PlanStatus) -> None:
    assert taken("IN_PROGRESS", "IN_PROGRESS", "IN_PROGRESS", status) == Progress(status, 0)


@pytest.mark.parametrize("status", ENDINGS)
@pytest.mark.parametrize("by_runtime", [False, True])
def test_another_status_starts_the_count_anew(status: PlanStatus, by_runtime: bool) -> None:
    ended = taken(*["IN_PROGRESS"] * 3, status)
    progress = start_turn(ended, by_person=False) if by_runtime else ended

    assert taken(*["IN_PROGRESS"] * 3, progress=progress).in_progress == 3
    refused = after(*["IN_PROGRESS"] * 4, progress=progress)
    assert isinstance(refused, Refusal)
    assert refused.code == "IN_PROGRESS_LIMIT"


def test_the_answer_of_a_person_starts_the_count_anew() -> None:
    progress = start_turn(taken(*["IN_PROGRESS"] * 3), by_person=True)

    assert progress == Progress(S.IN_PROGRESS, 0)
    assert taken(*["IN_PROGRESS"] * 3, progress=progress).in_progress == 3


def test_the_move_of_the_runtime_is_neither_counted_nor_starts_the_count_anew() -> None:
    progress = Progress()
    for count in (1, 2, 3):
        progress = taken("IN_PROGRESS", progress=start_turn(progress, by_person=False))
        assert progress.in_progress == count

    found = decide(start_turn(progress, by_person=False), "IN_PROGRESS")

    assert isinstance(found, Refusal)
    assert found.code == "IN_PROGRESS_LIMIT"


def test_a_refusal_changes_nothing() -> None:
    progress = taken(*["IN_PROGRESS"] * 3)
    decide(progress, "IN_PROGRESS")

    assert taken("COMPLETE", progress=progress) == Progress(S.COMPLETE, 0)


def test_a_count_that_lies_beside_another_status_does_not_count() -> None:
    assert taken("IN_PROGRESS", progress=Progress(S.BLOCKED, 7)) == Progress(S.IN_PROGRESS, 1)
    assert start_turn(Progress(S.COMPLETE, 7), by_person=False) == Progress(S.IN_PROGRESS, 0)


@given(st.lists(st.sampled_from([*S, "runtime", "person"]), max_size=40))
def test_no_history_has_more_in_progress_in_a_row_than_the_cap(events: list[str]) -> None:
    progress, row, status = Progress(), 0, None
    for event in events:
        if event in ("runtime", "person"):
            progress = start_turn(progress, by_person=event == "person")
            row, status = 0 if event == "person" else row, S.IN_PROGRESS
            continue
        found = decide(progress, event)
        legal = event in LEGAL[status] and not (event == S.IN_PROGRESS and row == RETRY_CAP + 1)
        assert isinstance(found, Progress) is legal
        if isinstance(found, Progress):
            progress, status = found, S(event)
            row = row + 1 if event == S.IN_PROGRESS else 0
    assert progress == Progress(status, row)
