"""What several reviewers say of one piece of work, as one verdict, and what follows from it. Pure.

Called by the engine when a discussion has all its ratings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Literal, NamedTuple

import msgspec

from gemba.errors import Invalid

Severity = Literal["HIGH", "MEDIUM", "LOW"]
LEAST, MOST, REACHED_FROM = 1, 5, 3
MOST_RATINGS = 100
_WIDE = 2  # how far apart the lowest and the highest rating are


class Rating(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """From 1 (unusable) to 5; `critical` is an issue that must not pass, whatever the number says."""

    reviewer: Annotated[str, msgspec.Meta(min_length=1, max_length=128)]
    rating: int
    critical: bool = False
    note: Annotated[str, msgspec.Meta(max_length=4_000)] = ""


class SeverityRule(NamedTuple):
    severity: Severity
    reason: str
    holds: Callable[[Sequence[Rating]], bool]


# The first that holds counts.
RULES = (
    SeverityRule("HIGH", "a reviewer calls an issue critical", lambda given: any(each.critical for each in given)),
    SeverityRule("HIGH", "a reviewer gives 1", lambda given: _count(given, 1) >= 1),
    SeverityRule("HIGH", "two or more reviewers give 2", lambda given: _count(given, 2) >= 2),
    SeverityRule("MEDIUM", "a reviewer gives 2", lambda given: _count(given, 2) == 1),
    SeverityRule("MEDIUM", "the ratings lie 2 or more apart", lambda given: _spread(given) >= _WIDE),
    SeverityRule("LOW", "nobody gives less than 3, and the ratings lie close together", lambda _: True),
)

# What follows on a verdict, before and after the one revision that a task gets.
Follows = Literal["revise", "ask", "go_on_and_log", "go_on"]
FOLLOWS: dict[tuple[Severity, bool], Follows] = {
    ("HIGH", False): "revise",  # held; a revision task is inserted before its dependents
    ("HIGH", True): "ask",  # held; a person decides
    ("MEDIUM", False): "go_on_and_log",
    ("MEDIUM", True): "go_on_and_log",
    ("LOW", False): "go_on",
    ("LOW", True): "go_on",
}


class Consensus(msgspec.Struct, frozen=True):
    """`critical` names who said so; `holds` is whether the task is held and its dependents do not start."""

    severity: Severity
    reached: bool
    mean: float
    spread: int
    critical: tuple[str, ...]
    holds: bool
    follows: Follows
    reason: str


def agree(given: Sequence[Rating], *, revised: bool = False) -> Consensus:
    """The verdict on these ratings; `revised` says that the work had its one revision already."""
    _refuse(given)
    rule = next(rule for rule in RULES if rule.holds(given))
    total = sum(each.rating for each in given)
    return Consensus(
        rule.severity,
        rule.severity != "HIGH" and total >= REACHED_FROM * len(given),
        total * 100 // len(given) / 100,
        _spread(given),
        tuple(each.reviewer for each in given if each.critical),
        rule.severity == "HIGH",
        FOLLOWS[rule.severity, revised],
        rule.reason,
    )


def _refuse(given: Sequence[Rating]) -> None:
    if not 1 <= len(given) <= MOST_RATINGS:
        raise Invalid(
            f"there are {len(given)} ratings; allowed: 1 to {MOST_RATINGS}",
            code="ratings",
            pointer="",
            found=len(given),
            allowed=f"1 to {MOST_RATINGS}",
        )
    seen: set[str] = set()
    for at, each in enumerate(given):
        if not LEAST <= each.rating <= MOST:
            raise Invalid(
                f"{each.reviewer} gives {each.rating}; allowed: {LEAST} to {MOST}",
                code="rating",
                pointer=f"/{at}/rating",
                found=each.rating,
                allowed=f"{LEAST} to {MOST}",
            )
        if each.reviewer in seen:
            raise Invalid(
                f"{each.reviewer} rates twice; allowed: one rating of each",
                code="duplicate_reviewer",
                pointer=f"/{at}/reviewer",
                found=each.reviewer,
            )
        seen.add(each.reviewer)


def _count(given: Sequence[Rating], rating: int) -> int:
    return sum(each.rating == rating for each in given)


def _spread(given: Sequence[Rating]) -> int:
    ratings = [each.rating for each in given]
    return max(ratings) - min(ratings)
