"""What a linter finds: rules as rows of a table, a fault in the words of its rule, a file's findings in order.

A rule is an id, how grave it is, what to say and what helps; `{found}` is what was found. Called by the linters of
skills and of role-specs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, TypeVar

import msgspec

from gemba.text import showable

Severity = Literal["error", "warning", "note"]

_LONGEST_FOUND = 80
_MOST_FINDINGS = 100  # of one file


class Rule(NamedTuple):
    id: str
    severity: Severity
    message: str
    hint: str


class Fault(NamedTuple):
    """What is wrong, by the id of its rule."""

    rule: str
    line: int
    found: str = ""


class DocumentFinding(msgspec.Struct, frozen=True):
    """Something about a file: which rule says so, where, and what helps. Each linter has a kind of its own."""

    file: str
    line: int
    rule: str
    severity: Severity
    message: str
    hint: str


Kind = TypeVar("Kind", bound=DocumentFinding)


def finding(kind: type[Kind], file: str, rule: Rule, line: int, found: str = "") -> Kind:
    """What a rule says of a line. `found` may be anything that stood there."""
    words = " ".join(showable(found).split())
    if len(words) > _LONGEST_FOUND:
        words = words[: _LONGEST_FOUND - 1] + "…"
    return kind(file, line, rule.id, rule.severity, rule.message.replace("{found}", words), rule.hint)


def findings(kind: type[Kind], file: str, rules: Mapping[str, Rule], faults: Iterable[Fault]) -> list[Kind]:
    """In the order of lines; of one rule one a line."""
    told: dict[tuple[int, str], Fault] = {}
    for fault in faults:
        told.setdefault((fault.line, fault.rule), fault)
    ordered = sorted(told.values(), key=lambda fault: fault.line)[:_MOST_FINDINGS]
    return [finding(kind, file, rules[fault.rule], fault.line, fault.found) for fault in ordered]
