"""Why a value does not fit its schema, in words for whoever gave it: where, what was found, what is allowed.

Pure wording: reads what the validator reports and knows nothing of how it came to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from gemba.errors import in_words

_LONGEST = 120
_MOST_FORMS = 4

_TYPES = {
    "array": "an array",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a text",
}


class Finding(msgspec.Struct, frozen=True):
    """One place of the value that does not fit. The pointer is "" for the whole."""

    pointer: str
    found: str
    allowed: str

    def sentence(self) -> str:
        where = f"{in_words(self.pointer)} of the answer" if self.pointer else "the answer"
        return f"{where} is {self.found}; allowed: {self.allowed}"


def finding(error: Any) -> Finding:
    """Of one error of the validator."""
    return Finding(pointer_to(error.instance_path), shown(error.instance), allowed_by(error))


def allowed_by(error: Any) -> str:
    say = _WORDS.get(error.kind.name)
    try:
        if error.kind.name in ("anyOf", "oneOf"):
            return _cut(_forms(error))
        return _cut(error.message if say is None else say(error.kind))
    except AttributeError:  # one keyword fails in several ways, and not each has a limit to tell
        return _cut(error.message)


def pointer_to(path: Iterable[str | int]) -> str:
    """A JSON pointer."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


def shown(value: Any) -> str:
    """A value as compact JSON, no longer than a reader wants it."""
    try:
        return _cut(msgspec.json.encode(value).decode())
    except (TypeError, ValueError, RecursionError):  # what the validator takes and JSON has no place for
        return _cut(repr(value))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _types(kind: Any) -> str:
    return " or ".join(_TYPES.get(name, name) for name in kind.types)


def _choices(kind: Any) -> str:
    return "one of " + ", ".join(map(shown, kind.options))


def _forms(error: Any) -> str:
    """Of several forms that are allowed each one's first fault."""
    branches: Sequence[Sequence[Any]] = error.kind.context
    told = list(dict.fromkeys(_beside(branch[0], error) for branch in branches if branch))
    if not all(branches):  # it fits more than one of them
        return "what fits exactly one of its forms"
    rest = " or another form" if len(told) > _MOST_FORMS else ""
    return " or ".join(told[:_MOST_FORMS]) + rest


def _beside(inner: Any, outer: Any) -> str:
    """What is allowed, and where if that is deeper inside."""
    deeper = pointer_to(list(inner.instance_path)[len(list(outer.instance_path)) :])
    return f"{allowed_by(inner)} at {deeper}" if deeper else allowed_by(inner)


def _without(kind: Any) -> str:
    return "an object without " + ", ".join(map(shown, kind.unexpected))


_WORDS: dict[str, Callable[[Any], str]] = {
    "type": _types,
    "enum": _choices,
    "const": lambda kind: f"only {shown(kind.expected_value)}",
    "required": lambda kind: f"an object with {shown(kind.property)}",
    "additionalProperties": _without,
    "unevaluatedProperties": _without,
    "propertyNames": lambda kind: f"other names: {allowed_by(kind.error)}",
    "minimum": lambda kind: f"at least {shown(kind.limit)}",
    "maximum": lambda kind: f"at most {shown(kind.limit)}",
    "exclusiveMinimum": lambda kind: f"more than {shown(kind.limit)}",
    "exclusiveMaximum": lambda kind: f"less than {shown(kind.limit)}",
    "multipleOf": lambda kind: f"a multiple of {shown(kind.multiple_of)}",
    "minLength": lambda kind: f"at least {kind.limit} characters",
    "maxLength": lambda kind: f"at most {kind.limit} characters",
    "pattern": lambda kind: f"a text that matches {kind.pattern}",
    "minItems": lambda kind: f"at least {kind.limit} items",
    "maxItems": lambda kind: f"at most {kind.limit} items",
    "uniqueItems": lambda _: "items that all differ",
    "contains": lambda _: "an array with other items among it",
    "minProperties": lambda kind: f"at least {kind.limit} properties",
    "maxProperties": lambda kind: f"at most {kind.limit} properties",
    "falseSchema": lambda _: "nothing in this place",
    "not": lambda kind: f"what does not fit {shown(kind.schema)}",
}
