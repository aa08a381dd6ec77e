"""Gates, consensus and the error protocol: every row of their tables, and each stated a second time."""

from fractions import Fraction
from itertools import product

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.errors import Conflict, Invalid
from gemba.teams.consensus import FOLLOWS, MOST_RATINGS, Rating, agree
from gemba.teams.error_protocol import Errors, respond
from gemba.teams.gates import ComputedCheck, Dimension, Gate, Outcome, Review, judge, outcome_of
from gemba.teams.task import TASK, TaskState

D = Dimension


def review(*points: int, reviewer: str = "tester") -> Review:
    completeness, consistency, accuracy, depth = points * 4 if len(points) == 1 else points
    return Review(reviewer, completeness, consistency, accuracy, depth)


def checks(dimension: Dimension, passed: int, failed: int = 0) -> list[ComputedCheck]:
    return [ComputedCheck(dimension, f"check {n}", n < passed) for n in range(passed + failed)]


def all_passed() -> list[ComputedCheck]:
    return [check for dimension in D for check in checks(dimension, 4)]


def scores(gate: Gate) -> dict[Dimension, float]:
    return {each.dimension: each.score for each in gate.dimensions}


# ---- gates -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("score", "attempt", "outcome", "left"),
    [
        (100, 1, "passed", 2),
        (80, 1, "passed", 2),
        (80, 3, "passed", 0),
        (Fraction(7_999, 100), 1, "passed_with_warnings", 2),
        (60, 1, "passed_with_warnings", 2),
        (60, 3, "passed_with_warnings", 0),
        (Fraction(5_999, 100), 1, "sent_back", 2),
        (59, 2, "sent_back", 1),
        (59, 3, "given_up", 0),
        (0, 4, "given_up", 0),
    ],
)
def test_thresholds(score: int, attempt: int, outcome: Outcome, left: int) -> None:
    assert outcome_of(score, attempt) == (outcome, left)


def test_an_outcome_is_a_move_of_the_task() -> None:
    moves = {outcome: TASK.after(TaskState.VERIFYING, outcome) for outcome in Outcome.__args__}  # type: ignore[attr-defined]  # a Literal has its values there

    assert moves == {
        "passed": TaskState.COMPLETED,
        "passed_with_warnings": TaskState.COMPLETED_WITH_WARNINGS,
        "sent_back": TaskState.RUNNING,
        "given_up": TaskState.PARTIAL_COMPLETION,
    }


def test_each_dimension_is_a_quarter() -> None:
    assert judge([], review(100, 80, 60, 40), author="developer", attempt=1).score == 70


@pytest.mark.parametrize(("passed", "failed", "points", "score"), [(3, 1, 100, 75), (3, 1, 50, 50), (1, 2, 90, 33.33)])
def test_a_dimension_is_the_lower_of_checks_and_review(passed: int, failed: int, points: int, score: float) -> None:
    gate = judge(checks(D.DEPTH, passed, failed), review(points), author="developer", attempt=1)

    assert scores(gate)[D.DEPTH] == score


@pytest.mark.parametrize("dimension", list(D))
def test_a_planted_defect_lowers_its_dimension_and_no_other(dimension: Dimension) -> None:
    sound = judge(all_passed(), review(100), author="developer", attempt=1)
    at = [check.dimension for check in all_passed()].index(dimension)
    planted = all_passed()
    planted[at] = msgspec.structs.replace(planted[at], passed=False)

    gate = judge(planted, review(100), author="developer", attempt=1)

    assert scores(gate) == {**scores(sound), dimension: 75}
    assert (gate.score, gate.lowest) == (93.75, dimension)
    assert next(each.failed for each in gate.dimensions if each.dimension is dimension) == ("check 0",)


@pytest.mark.parametrize("dimension", list(D))
def test_what_a_reviewer_sees_lowers_its_dimension_and_no_other(dimension: Dimension) -> None:
    seen = msgspec.structs.replace(review(100), **{dimension.value: 20})

    gate = judge(all_passed(), seen, author="developer", attempt=1)

    assert scores(gate) == {**dict.fromkeys(D, 100), dimension: 20}
    assert (gate.score, gate.outcome, gate.lowest) == (80, "passed", dimension)


def test_a_verdict_explains_itself() -> None:
    gate = judge(checks(D.ACCURACY, 1, 3), review(60), author="developer", attempt=3)

    assert gate.reason == (
        "51.25 of 100 after 3 attempts, 60 are needed: "
        "check 1; check 2; check 3; tester gives completeness 60; and 2 more"
    )
    assert [each.reason for each in gate.dimensions][1:3] == [
        "nothing was computed; tester gives 60",
        "1 of 4 checks passed; tester gives 60",
    ]
    assert (gate.reviewer, gate.attempt, gate.retries_left, gate.outcome) == ("tester", 3, 0, "given_up")


def test_a_verdict_says_what_was_found_and_of_a_command_which() -> None:
    failed = [
        ComputedCheck(D.ACCURACY, "command: tests", passed=False, evidence="exit code 1: 1 failed"),
        ComputedCheck(D.DEPTH, "tested", passed=False, evidence="no test was touched or run"),
        ComputedCheck(D.DEPTH, "parts", passed=True, evidence="3 parts"),
    ]

    sent_back = judge(failed, review(100), author="developer", attempt=1)
    passed = judge([], review(100), author="developer", attempt=1)

    assert (sent_back.outcome, sent_back.score) == ("passed_with_warnings", 62.5)
    assert sent_back.reason == "62.5 of 100, 80 are good: tests: exit code 1: 1 failed; no test was touched or run"
    assert passed.reason == "100 of 100"


def test_nobody_reviews_their_own_work() -> None:
    with pytest.raises(Conflict, match="developer reviews its own work; allowed: another role") as refused:
        judge([], review(100, reviewer="developer"), author="developer", attempt=1)

    assert (refused.value.code, refused.value.pointer) == ("own_review", "/reviewer")


def test_attempts_begin_at_one() -> None:
    with pytest.raises(Invalid, match="attempt is 0; allowed: 1 or more"):
        judge([], review(1), author="developer", attempt=0)


drawn_checks = st.lists(st.builds(ComputedCheck, st.sampled_from(list(D)), st.just("x"), st.booleans()), max_size=20)


@given(drawn_checks, st.tuples(*[st.integers(0, 100)] * 4), st.integers(1, 4))
def test_a_gate_is_what_its_sentence_says(given_: list[ComputedCheck], points: tuple[int, ...], attempt: int) -> None:
    gate = judge(given_, review(*points), author="developer", attempt=attempt)

    total = Fraction()
    for dimension, reviewed in zip(D, points, strict=True):
        own = [check.passed for check in given_ if check.dimension is dimension]
        share = Fraction(own.count(True) * 100, len(own)) if own else Fraction(100)
        total += min(share, Fraction(reviewed)) / 4
    wanted = (
        "passed"
        if total >= 80
        else "passed_with_warnings"
        if total >= 60
        else "sent_back"
        if attempt < 3
        else "given_up"
    )
    assert gate.outcome == wanted
    assert 0 <= total - Fraction(gate.score) < Fraction(11, 1_000)
    assert scores(gate)[gate.lowest] == min(scores(gate).values())


# ---- consensus -------------------------------------------------------------------------------------------------------


def ratings(*given: int, critical: int | None = None) -> list[Rating]:
    return [Rating(f"r{at}", rating, critical == at) for at, rating in enumerate(given)]


@pytest.mark.parametrize(
    ("given", "severity", "reached", "reason"),
    [
        (ratings(5, 5, critical=1), "HIGH", False, "a reviewer calls an issue critical"),
        (ratings(1, 5, 5), "HIGH", False, "a reviewer gives 1"),
        (ratings(2, 2, 5), "HIGH", False, "two or more reviewers give 2"),
        (ratings(2, 5, 5), "MEDIUM", True, "a reviewer gives 2"),
        (ratings(2, 3), "MEDIUM", False, "a reviewer gives 2"),
        (ratings(3, 5), "MEDIUM", True, "the ratings lie 2 or more apart"),
        (ratings(3, 3), "LOW", True, "nobody gives less than 3, and the ratings lie close together"),
        (ratings(4, 5, 5), "LOW", True, "nobody gives less than 3, and the ratings lie close together"),
    ],
)
def test_each_row_of_the_severities(given: list[Rating], severity: str, reached: bool, reason: str) -> None:
    found = agree(given)

    assert (found.severity, found.reached, found.reason) == (severity, reached, reason)


def naive(given: list[Rating]) -> tuple[str, bool]:
    numbers = sorted(each.rating for each in given)
    if 1 in numbers or numbers.count(2) > 1 or True in [each.critical for each in given]:
        return "HIGH", False
    fine = Fraction(sum(numbers), len(numbers)) >= 3
    return ("MEDIUM" if 2 in numbers or numbers[-1] - numbers[0] > 1 else "LOW"), fine


def test_three_reviewers_in_every_way_are_judged_as_the_rules_say() -> None:
    for numbers in product(range(1, 6), repeat=3):
        for critical in (None, 0):
            given = ratings(*numbers, critical=critical)
            found = agree(given)
            assert (found.severity, found.reached) == naive(given), given
            assert found.holds is (found.severity == "HIGH")


@given(st.lists(st.tuples(st.integers(1, 5), st.booleans()), min_size=1, max_size=8), st.randoms())
def test_any_reviewers_are_judged_as_the_rules_say_in_whatever_order(
    drawn: list[tuple[int, bool]], order: object
) -> None:
    given = [Rating(f"r{at}", rating, critical) for at, (rating, critical) in enumerate(drawn)]

    found = agree(given)

    assert (found.severity, found.reached) == naive(given)
    order.shuffle(given)  # type: ignore[attr-defined]  # a random.Random
    again = agree(given)
    assert (again.severity, again.reached, again.mean, again.spread) == (
        found.severity,
        found.reached,
        found.mean,
        found.spread,
    )


@pytest.mark.parametrize(
    ("numbers", "revised", "follows"),
    [
        ((1,), False, "revise"),
        ((1,), True, "ask"),
        ((2,), False, "go_on_and_log"),
        ((2,), True, "go_on_and_log"),
        ((4,), False, "go_on"),
        ((4,), True, "go_on"),
    ],
)
def test_a_task_is_revised_once_and_then_a_person_decides(numbers: tuple[int], revised: bool, follows: str) -> None:
    found = agree(ratings(*numbers), revised=revised)

    assert found.follows == follows == FOLLOWS[found.severity, revised]


@pytest.mark.parametrize(
    ("given", "code", "pointer", "words"),
    [
        ([], "ratings", "", "there are 0 ratings; allowed: 1 to 100"),
        (ratings(*[3] * (MOST_RATINGS + 1)), "ratings", "", "there are 101 ratings; allowed: 1 to 100"),
        (ratings(3, 0), "rating", "/1/rating", "r1 gives 0; allowed: 1 to 5"),
        (ratings(6), "rating", "/0/rating", "r0 gives 6; allowed: 1 to 5"),
        (
            [*ratings(3), *ratings(4)],
            "duplicate_reviewer",
            "/1/reviewer",
            "r0 rates twice; allowed: one rating of each",
        ),
    ],
)
def test_what_are_no_ratings_is_refused(given: list[Rating], code: str, pointer: str, words: str) -> None:
    with pytest.raises(Invalid, match=words) as refused:
        agree(given)

    assert (refused.value.code, refused.value.pointer) == (code, pointer)


# ---- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("errors", "another_way", "escalates", "stops", "left"),
    [
        (Errors(1, 1), True, False, False, 2),
        (Errors(2, 2), True, False, False, 1),
        (Errors(3, 3), False, True, True, 0),
        (Errors(1, 2), True, False, False, 2),
        (Errors(1, 3), False, True, True, 0),
        (Errors(3, 2), False, True, False, 0),
    ],
)
def test_an_error_leads_to_another_way_a_person_or_the_end_of_the_chain(
    errors: Errors, another_way: bool, escalates: bool, stops: bool, left: int
) -> None:
    found = respond(errors)

    assert found[:4] == (another_way, escalates, stops, left)
    assert ("another way" in found.reason) is another_way
    assert ("a person decides" in found.reason) is escalates


def test_three_tasks_of_a_chain_with_an_error_each_stop_it() -> None:
    errors = Errors()
    found = []
    for _ in range(3):
        errors = errors.one_more()
        found.append(respond(errors).stops_chain)
        errors = errors.of_next_task()

    assert found == [False, False, True]
    assert errors == Errors(0, 3)
    assert respond(errors.let_go_on().one_more()).another_way
