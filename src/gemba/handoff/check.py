"""One comparison of what an envelope claims with what was found, and what a gate makes of it. Types; no I/O."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from gemba import config
from gemba.text import storable

Need = config.Need
GatePolicy = config.GateSettings  # what a workspace or a dispatch says that its gate makes of each check
Answer = Literal["ok", "failed", "unknown"]

MOST_CLAIMS = 1_000  # of one list; what is beyond them is not believed
_LONGEST_SHOWN = 500


class Check(msgspec.Struct, frozen=True):
    """One line of a verdict. Its name is a field of the policy; its texts are bounded and can be stored."""

    name: str
    claimed: str
    found: str
    verdict: Answer
    note: str = ""


def check(name: str, claimed: object, found: str, verdict: Answer, note: str = "") -> Check:
    return Check(name, shown(claimed), shown(found), verdict, shown(note))


def refusals(checks: Sequence[Check], policy: GatePolicy) -> list[Check]:
    """The checks for which a COMPLETE is refused."""
    return [check for check in checks if check.verdict == "failed" and getattr(policy, check.name, "off") == "require"]


def claims_in(name: str, value: object) -> tuple[list[Any], list[Check]]:
    """The items of a claimed list, a text alone being one, and a check for what is none or too many."""
    if value is None:
        return [], []
    if isinstance(value, str):
        return [value], []
    if not isinstance(value, list):
        return [], [check(name, value, "it is no list", "failed")]
    if len(value) <= MOST_CLAIMS:
        return value, []
    beyond = check(name, f"{len(value):,} of them", f"{MOST_CLAIMS:,} were checked", "failed", "claim no more at once")
    return value[:MOST_CLAIMS], [beyond]


def shown(value: object, longest: int = _LONGEST_SHOWN) -> str:
    """A value for a person to read: bounded, without what no database takes."""
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):  # a number or a nesting that JSON cannot have either
        text = f"a value that cannot be shown ({type(value).__name__})"
    text = storable(text[: longest + 1])
    return text if len(text) <= longest else text[: longest - 1] + "…"


def ending(command: str, result: str) -> str:
    """A command and how it is claimed to have ended, both to be seen however long they are."""
    return f"{shown(command, _LONGEST_SHOWN * 3 // 5)} → {shown(result, _LONGEST_SHOWN // 3)}"
