"""What a schema for an answer may ask of us: how much work it can make is known before a value is judged.

A schema comes from an agent, and JSON Schema can say very much in few words: references that double at every step,
or lead back to where they came from. So references stay inside the document, none leads to itself, and everything
they stand for is counted. Pure; called by `answer.py` before a schema is taken.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from urllib.parse import unquote

from gemba import wire

MOST_PARTS = 2_000  # of the document, each reference replaced by what it stands for
MOST_PATTERNS = 100
DEEPEST = 2 * wire.MAX_DEPTH  # likewise

_MOVING = ("$dynamicRef", "$recursiveRef")


class UnusableError(Exception):
    """Why a schema is not taken, to be put behind "its schema could not be used:"."""


class _Weight(NamedTuple):
    parts: int
    patterns: int
    depth: int


def weigh(schema: dict[str, Any]) -> int:
    """How many parts a schema has when its references are followed; Unusable when it is not to be used."""
    weight = _Scale(schema).weigh(schema, 0)
    if weight.parts > MOST_PARTS:
        raise UnusableError(f"with its references followed it has more than {MOST_PARTS:,} parts")
    if weight.patterns > MOST_PATTERNS:
        raise UnusableError(f"it has more than {MOST_PATTERNS} patterns")
    if weight.depth > DEEPEST:
        raise UnusableError(_too_deep())
    return weight.parts


def is_deep(value: Any) -> bool:
    """Whether a JSON value is nested deeper than is taken anywhere. Never recurses."""
    level: list[Any] = [value]
    for _ in range(wire.MAX_DEPTH + 1):
        level = [
            item
            for outer in level
            if isinstance(outer, dict | list)
            for item in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


class _Scale:
    """Weighs each part once, however many references lead to it."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._anchors: dict[str, Any] = {}
        self._known: dict[int, _Weight | None] = {}  # None: it is being weighed
        self._collect(root)

    def weigh(self, part: Any, depth: int) -> _Weight:
        if depth > DEEPEST:
            raise UnusableError(_too_deep())
        if not isinstance(part, dict | list):
            return _Weight(1, 0, 0)
        if id(part) in self._known:
            known = self._known[id(part)]
            if known is None:
                raise UnusableError("a reference in it leads back to itself")
            return known
        self._known[id(part)] = None
        inner = list(part.values()) if isinstance(part, dict) else part
        weights = [self.weigh(item, depth + 1) for item in inner]
        patterns = 0
        if isinstance(part, dict):
            weights += [self.weigh(self._target(part["$ref"]), depth + 1)] if isinstance(part.get("$ref"), str) else []
            named = part.get("patternProperties")
            patterns = isinstance(part.get("pattern"), str) + (len(named) if isinstance(named, dict) else 0)
        weight = _Weight(
            # Capped: what doubles at each of many steps is a number of as many digits.
            min(MOST_PARTS + 1, 1 + sum(weight.parts for weight in weights)),
            min(MOST_PATTERNS + 1, patterns + sum(weight.patterns for weight in weights)),
            1 + max((weight.depth for weight in weights), default=0),
        )
        self._known[id(part)] = weight
        return weight

    def _collect(self, root: dict[str, Any]) -> None:
        """Find the anchors, and what would give a reference another meaning than we see."""
        names = ("$id", "id") if "draft-04" in str(root.get("$schema")) else ("$id",)
        waiting: list[Any] = [root]
        while waiting:
            part = waiting.pop()
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


def _too_deep() -> str:
    return f"with its references followed it is more than {DEEPEST} levels deep"
