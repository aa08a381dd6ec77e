"""What a schema for an answer may ask of us: how much work it can make is known before a value is judged.

A schema comes from an agent, and JSON Schema can say very much in few words: references that double at every step,
or lead back to where they came from, and patterns whose repetitions multiply. So references stay inside the document,
none leads to itself, and everything they and the repetitions stand for is counted. Weighing itself takes time linear
in what is taken at most. Pure; called by `answer.py` before a schema is taken.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple
from urllib.parse import unquote

from gemba import wire

MOST_PARTS = 2_000  # of the document, each reference replaced by what it stands for
MOST_PATTERNS = 100
MOST_STEPS = 50_000  # of all its patterns, each repetition written out: `.{1,255}` has 3,825
DEEPEST = 2 * wire.MAX_DEPTH  # likewise

_MOVING = ("$dynamicRef", "$recursiveRef")


class UnusableError(Exception):
    """Why a schema is not taken, to be put behind "its schema could not be used:"."""


class Weight(NamedTuple):
    parts: int
    patterns: int = 0
    steps: int = 0  # of its patterns
    depth: int = 0

    @property
    def work(self) -> int:
        """What it takes to make ready, in steps of a pattern."""
        return 100 + 20 * self.parts + self.steps


def weigh(schema: dict[str, Any]) -> Weight:
    """What a schema amounts to when its references are followed; Unusable when it is not to be used."""
    weight = _Scale(schema).weigh(schema, 0)
    if weight.parts > MOST_PARTS:
        raise UnusableError(_too_large())
    if weight.patterns > MOST_PATTERNS:
        raise UnusableError(f"it has more than {MOST_PATTERNS} patterns")
    if weight.steps > MOST_STEPS:
        raise UnusableError("its patterns are too large with their repetitions written out")
    if weight.depth > DEEPEST:
        raise UnusableError(_too_deep())
    return weight


class _Scale:
    """Weighs each part once, however many references lead to it."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._anchors: dict[str, Any] = {}
        self._known: dict[int, Weight | None] = {}  # None: it is being weighed
        self._steps = 0
        self._collect(root)

    def weigh(self, part: Any, depth: int) -> Weight:
        if depth > DEEPEST:
            raise UnusableError(_too_deep())
        if not isinstance(part, dict | list):
            return Weight(1)
        if id(part) in self._known:
            known = self._known[id(part)]
            if known is None:
                raise UnusableError("a reference in it leads back to itself")
            return known
        self._known[id(part)] = None
        inner = list(part.values()) if isinstance(part, dict) else part
        weights = [self.weigh(item, depth + 1) for item in inner]
        patterns: list[str] = []
        if isinstance(part, dict):
            weights += [self.weigh(self._target(part["$ref"]), depth + 1)] if isinstance(part.get("$ref"), str) else []
            patterns = _patterns_of(part)
        weight = Weight(
            # Capped: what doubles at each of many steps is a number of as many digits.
            min(MOST_PARTS + 1, 1 + sum(weight.parts for weight in weights)),
            min(MOST_PATTERNS + 1, len(patterns) + sum(weight.patterns for weight in weights)),
            min(MOST_STEPS + 1, self._steps_of(patterns) + sum(weight.steps for weight in weights)),
            1 + max((weight.depth for weight in weights), default=0),
        )
        self._known[id(part)] = weight
        return weight

    def _steps_of(self, patterns: list[str]) -> int:
        """Read no further than it takes to see that there are too many."""
        before = self._steps
        for pattern in patterns:
            if self._steps <= MOST_STEPS:
                self._steps += steps_of(pattern)
        return self._steps - before if self._steps <= MOST_STEPS else MOST_STEPS + 1

    def _collect(self, root: dict[str, Any]) -> None:
        """Find the anchors, and what would give a reference another meaning than we see."""
        names = ("$id", "id") if "draft-04" in str(root.get("$schema")) else ("$id",)
        waiting: list[Any] = [root]
        count = 0
        while waiting:
            part = waiting.pop()
            count += 1
            if count + len(waiting) > MOST_PARTS:  # before any is followed
                raise UnusableError(_too_large())
            if isinstance(part, list):
                waiting += part
            if not isinstance(part, dict):
                continue
            waiting += part.values()
            if any(isinstance(part.get(name), str) for name in _MOVING):
                raise UnusableError(f"{' and '.join(_MOVING)} are not followed")
            if part is not root and any(isinstance(part.get(name), str) for name in names):
                raise UnusableError("only the whole of it may have an $id")
            for name in ("$anchor", "$dynamicAnchor"):
                if isinstance(anchor := part.get(name), str):
                    self._anchors[anchor] = part

    def _target(self, reference: str) -> Any:
        document, _, fragment = reference.partition("#")
        if document and document != str(self._root.get("$id", "")).rstrip("#"):
            raise UnusableError(f"a reference leads outside the schema: {reference[:100]}")
        fragment = unquote(fragment)
        found = self._anchors.get(fragment) if fragment[:1] not in ("", "/") else self._follow(fragment)
        if found is None:
            raise UnusableError(f"a reference leads nowhere: {reference[:100]}")
        return found

    def _follow(self, pointer: str) -> Any:
        found: Any = self._root
        for step in pointer.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, list):
                found = found[int(name)] if name.isdecimal() and len(name) < 6 and int(name) < len(found) else None
            else:
                found = found.get(name) if isinstance(found, dict) else None
        return found


def _patterns_of(part: dict[str, Any]) -> list[str]:
    own, named = part.get("pattern"), part.get("patternProperties")
    return [*([own] if isinstance(own, str) else []), *(named if isinstance(named, dict) else ())]


# ---- patterns -------------------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"""
      \\[pPxuU]\{[^}]*+\}? | \\[pP]. | \\.                 # an escape
    | \[\^?\]?                                             # begins a class; a bracket at once belongs to it
    | \{\s*+(?P<least>[0-9]*+)\s*+(?:(?P<open>,)\s*+(?P<most>[0-9]*+)\s*+)?+\}
    | \((?:\?(?P<flags>[A-Za-z-]++)[:)])?
    | .
    """,
    re.DOTALL | re.VERBOSE,
)
# What each takes in the place of a plain letter, as measured: a letter of any alphabet is a large automaton.
_ANY_LETTER, _NOT_BLANK, _OTHERS, _FOREIGN = 1_000, 30, 15, 5
_WITHOUT_CASE = 20
_FORK = 3  # a group, or another choice
# The library writes these out one after the other and reads the whole pattern again after each: what stands there then
# is so much longer.
_WRITTEN_OUT = {"\\s": 100, "\\S": 100, **dict.fromkeys(("\\d", "\\D", "\\w", "\\W", "\\c"), 15)}
_READ_AT_ONCE = 4  # characters, in the time of a step


def steps_of(pattern: str) -> int:
    """How large a pattern is with its repetitions written out; more than `MOST_STEPS` when it is too large."""
    too_many = MOST_STEPS + 1
    if len(pattern) > MOST_STEPS:
        return too_many
    total, last = 0, 0  # of the group that is open; of what a repetition would repeat
    outer: list[int] = []
    in_class, weight = 0, 1
    rewritten, length = 0, len(pattern)
    for token in _TOKEN.finditer(pattern):
        said, flags = token[0], token["flags"] or ""
        if said in _WRITTEN_OUT:
            rewritten, length = rewritten + 1, length + _WRITTEN_OUT[said]
        if in_class or said[0] == "[":
            step = _step(said) if said != "." else 1
            # However many plain characters it has, a class is one step.
            last = (last if in_class else 1) + (step if step > 1 else 0)
            total += step
            in_class += (said[0] == "[") - (said == "]")
        elif said[0] == "(":
            if "x" in flags:  # with which blanks and remarks may stand before a repetition
                raise UnusableError("a pattern in it has the flag x")
            weight = _WITHOUT_CASE if "i" in flags else weight
            if said[-1] != ")":
                outer.append(total)
                total, last = _FORK, 0
        elif said == ")" and outer:
            last = total
            total += outer.pop()
        elif token["least"] is not None:
            times = max(_number(token["least"]) + (token["open"] is not None), _number(token["most"]), 1)
            total, last = total + last * (times - 1), last * times
        elif said in "*+?":
            total, last = total + 1, last + 1
        else:
            last = _step(said)
            total += last
        if total > too_many:
            return too_many
    return min(too_many, weight * (total + sum(outer)) + rewritten * length // _READ_AT_ONCE)


def _step(said: str) -> int:
    match said[:2]:
        case "\\p" | "\\P":
            return _ANY_LETTER
        case "\\S":
            return _NOT_BLANK
        case "." | "\\s" | "\\D" | "\\W" | "[^":
            return _OTHERS
        case "\\x" | "\\u" | "\\U":
            return _FOREIGN
        case "|":
            return _FORK
    return 1 if said.isascii() else _FOREIGN


def _number(digits: str | None) -> int:
    """As large as makes a difference."""
    return int((digits or "0").lstrip("0")[:9] or "0")


def _too_large() -> str:
    return f"with its references followed it has more than {MOST_PARTS:,} parts"


def _too_deep() -> str:
    return f"with its references followed it is more than {DEEPEST} levels deep"
