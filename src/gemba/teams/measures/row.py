"""One check of a gate as a row: what it is called, what it counts for, of which work it is asked, and what it asks.

Types and a few words, no I/O. Called by the four modules of this folder; `measuring.py` has all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from gemba.handoff.check import shown
from gemba.teams.gates import Dimension
from gemba.teams.plan import Output
from gemba.teams.seen import Seen

MOST_NAMED = 5  # things in a sentence
_LONGEST_NAME = 80

ARTIFACT: tuple[Output, ...] = ("artifact", "mixed")
CODE: tuple[Output, ...] = ("codebase", "mixed")
ALL: tuple[Output, ...] = ("artifact", "codebase", "mixed")


class Found(NamedTuple):
    passed: bool
    evidence: str


class Row(NamedTuple):
    """`look` returns None where there is nothing to look at: then the check is not made."""

    name: str
    dimension: Dimension
    outputs: tuple[Output, ...]
    look: Callable[[Seen], Found | None]
    sentence: str


def named(things: Iterable[str]) -> str:
    """The first few, each short, and how many more there are."""
    found = list(things)
    first = ", ".join(shown(each, _LONGEST_NAME) for each in found[:MOST_NAMED])
    return first + (f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else "")


def none_of(wrong: Iterable[str], fault: str, otherwise: str) -> Found:
    """Passed when there is none; `fault` is the beginning of the sentence that names them."""
    found = list(wrong)
    return Found(False, f"{fault}: {named(found)}") if found else Found(True, otherwise)
