"""A task's gate: four dimensions, what the score of them lets through, and what comes next. Pure.

Each dimension is the lower of two figures: the share of its computed checks that passed, and the score of a reviewer
who is not the author. So no reviewer lifts what a check found, and no check what a reviewer saw. Scores are compared
exactly and shown rounded down: what is shown as 80 has passed as 80. Called by the engine when a task is handed in.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from fractions import Fraction
from math import floor
from typing import Annotated, Literal

import msgspec

from gemba.errors import Conflict, Invalid
from gemba.text import one_line

COMPLETED_FROM = 80
WARNINGS_FROM = 60
MOST_RETRIES = 2
COMMAND = "command: "  # before the name of a check that is a command of the project
_FULL = 100


class Dimension(StrEnum):
    COMPLETENESS = "completeness"  # all that was asked for is there
    CONSISTENCY = "consistency"  # its parts agree with each other and with the run
    ACCURACY = "accuracy"  # what is claimed is so
    DEPTH = "depth"  # it goes as far as the task


class ComputedCheck(msgspec.Struct, frozen=True):
    """One thing that was computed and not claimed, with what was found."""

    dimension: Dimension
    name: str
    passed: bool
    evidence: str = ""


Points = Annotated[int, msgspec.Meta(ge=0, le=100)]


class Review(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What somebody who is not the author gives each dimension, of 100."""

    reviewer: Annotated[str, msgspec.Meta(min_length=1, max_length=128)]
    completeness: Points
    consistency: Points
    accuracy: Points
    depth: Points
    note: Annotated[str, msgspec.Meta(max_length=4_000)] = ""

    def of(self, dimension: Dimension) -> int:
        points: int = getattr(self, dimension)
        return points


class DimensionScore(msgspec.Struct, frozen=True):
    """`computed` is null where there was nothing to compute: there the reviewer's score stands alone."""

    dimension: Dimension
    score: float
    computed: float | None
    reviewed: int
    failed: tuple[str, ...]
    reason: str


Outcome = Literal["passed", "passed_with_warnings", "sent_back", "given_up"]  # events of `task.TASK`


class Gate(msgspec.Struct, frozen=True, omit_defaults=True):
    """How one attempt was judged. `outcome` is what happens to the task; `lowest` is what to improve first; `surveyed`
    says why what was asked for is not done by it, where only a survey was made."""

    score: float
    outcome: Outcome
    attempt: int
    retries_left: int
    dimensions: tuple[DimensionScore, ...]
    lowest: Dimension
    reviewer: str
    reason: str
    surveyed: str = ""


def judge(checks: Sequence[ComputedCheck], review: Review, *, author: str, attempt: int, surveyed: str = "") -> Gate:
    """The verdict on an attempt (from 1); a Conflict where the reviewer is the author."""
    if review.reviewer == author:
        raise Conflict(
            f"{review.reviewer} reviews its own work; allowed: another role, the built-in reviewer, or a person",
            code="own_review",
            pointer="/reviewer",
            found=review.reviewer,
        )
    if attempt < 1:
        raise Invalid(f"attempt is {attempt}; allowed: 1 or more", code="attempt", pointer="/attempt", found=attempt)
    exact = {dimension: _exact(dimension, checks, review) for dimension in Dimension}
    total = sum(exact.values(), Fraction()) / len(Dimension)
    outcome, retries_left = outcome_of(total, attempt)
    lowest = min(Dimension, key=exact.__getitem__)  # the first of those that are equally low
    dimensions = tuple(_explained(dimension, exact[dimension], checks, review) for dimension in Dimension)
    reason = f"{shown(total):g} of {_FULL}{_MEANING[outcome].format(attempt=attempt)}"
    why = _why(dimensions, checks, review)
    return Gate(
        shown(total),
        outcome,
        attempt,
        retries_left,
        dimensions,
        lowest,
        review.reviewer,
        f"{reason}: {why}" if why else reason,
        one_line(surveyed, _LONGEST_WHY),
    )


_MEANING: dict[Outcome, str] = {
    "passed": "",
    "passed_with_warnings": f", {COMPLETED_FROM} are good",
    "sent_back": f", {WARNINGS_FROM} are needed",
    "given_up": f" after {{attempt}} attempts, {WARNINGS_FROM} are needed",
}
_MOST_WHY = 4
_LONGEST_WHY = 120


def _why(dimensions: Sequence[DimensionScore], checks: Sequence[ComputedCheck], review: Review) -> str:
    """What was not as it should be, the worst first: what checks found; where none did, whose score it is."""
    found: list[str] = []
    for one in sorted(dimensions, key=lambda one: one.score):
        failed = [each for each in checks if each.dimension is one.dimension and not each.passed]
        found += map(_said_of, failed)
        if not failed and one.score < _FULL:
            found.append(f"{review.reviewer} gives {one.dimension} {one.reviewed}")
    more = [f"and {len(found) - _MOST_WHY} more"] if len(found) > _MOST_WHY else []
    return "; ".join([*found[:_MOST_WHY], *more])


def _said_of(check: ComputedCheck) -> str:
    """What a check found says enough; of a command one wants to know which."""
    if not check.evidence:
        return check.name
    of_command = f"{check.name.removeprefix(COMMAND)}: " if check.name.startswith(COMMAND) else ""
    return of_command + one_line(check.evidence, _LONGEST_WHY)


def outcome_of(score: Fraction | float, attempt: int) -> tuple[Outcome, int]:
    """What a score means for an attempt, and how many retries are left behind it."""
    left = max(0, MOST_RETRIES + 1 - attempt)
    if score >= COMPLETED_FROM:
        return "passed", left
    if score >= WARNINGS_FROM:
        return "passed_with_warnings", left
    return ("sent_back" if left else "given_up"), left


def shown(score: Fraction) -> float:
    return floor(score * 100) / 100


def _share(dimension: Dimension, checks: Sequence[ComputedCheck]) -> Fraction | None:
    own = [check.passed for check in checks if check.dimension is dimension]
    return Fraction(_FULL * sum(own), len(own)) if own else None


def _exact(dimension: Dimension, checks: Sequence[ComputedCheck], review: Review) -> Fraction:
    share = _share(dimension, checks)
    reviewed = Fraction(review.of(dimension))
    return reviewed if share is None else min(share, reviewed)


def _explained(
    dimension: Dimension, exact: Fraction, checks: Sequence[ComputedCheck], review: Review
) -> DimensionScore:
    own = [check for check in checks if check.dimension is dimension]
    share, reviewed = _share(dimension, checks), review.of(dimension)
    failed = tuple(check.name for check in own if not check.passed)
    if share is None:
        reason = f"nothing was computed; {review.reviewer} gives {reviewed}"
    else:
        reason = f"{len(own) - len(failed)} of {len(own)} checks passed; {review.reviewer} gives {reviewed}"
    return DimensionScore(dimension, shown(exact), None if share is None else shown(share), reviewed, failed, reason)
