"""JSON as text: where each of its parts stands, and the text less one of them. Pure; for edits that keep every byte.

Text that is not JSON is refused with its place before anything is read from it. Called by `gemba.cli.hook_settings`.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

DEEPEST = 512  # levels

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]|NaN|-?Infinity')
_SPACE = re.compile(r"[ \t\n\r]*")


class Malformed(Exception):
    """A text that is not understood, so nothing is changed in it; line and column count from 1."""

    def __init__(self, text: str, at: int, message: str) -> None:
        super().__init__(message)
        self.message = message
        self.line = text.count("\n", 0, at) + 1
        self.column = at - text.rfind("\n", 0, at)


class Part(NamedTuple):
    """One member or element: where it begins and ends, where its value begins."""

    key: str
    value: Any
    start: int
    value_start: int
    end: int


class Container(NamedTuple):
    """A list or an object: the places of its brackets, and what is in it."""

    open: int
    close: int
    parts: list[Part]

    def last(self, key: str) -> int | None:
        """Which member counts: of several with one name, that is the last."""
        found = [number for number, part in enumerate(self.parts) if part.key == key]
        return found[-1] if found else None


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _number(digits: str) -> int:
    return int(digits) if len(digits) < 100 else 0  # nobody reads it, and Python converts no number of any length


_decoder = json.JSONDecoder(parse_constant=_refuse_constant, parse_int=_number)


def decode(text: str) -> Any:
    """What the text says; Malformed when it is not JSON, or nested beyond all use."""
    try:
        document = _decoder.decode(text)
    except json.JSONDecodeError as error:
        raise Malformed(text, error.pos, f"this is not JSON: {error.msg}") from None
    except (ValueError, RecursionError):
        raise _odd_token(text) or Malformed(text, 0, "this is not JSON") from None
    if text.count("[") + text.count("{") > DEEPEST and (odd := _odd_token(text)):
        raise odd
    return document


def _odd_token(text: str) -> Malformed | None:
    """Where the text leaves JSON in a way that the decoder does not place: a word that is no number, or its depth."""
    depth = 0
    for token in _TOKEN.finditer(text):
        first = token[0][0]
        depth += (first in "[{") - (first in "]}")
        if first in "NI-":
            return Malformed(text, token.start(), f"this is not JSON: {token[0]}")
        if depth > DEEPEST:
            return Malformed(text, token.start(), f"nested more than {DEEPEST} levels deep")
    return None


def kind_of(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def root_of(text: str) -> Container:
    return read_container(text, after_space(text, 0))


def read_container(text: str, at: int) -> Container:
    """The container that opens here, in text that is known to be JSON."""
    parts = []
    index = after_space(text, at + 1)
    while text[index] not in "]}":
        start, key = index, ""
        if text[at] == "{":
            key, index = _decoder.raw_decode(text, index)
            index = after_space(text, after_space(text, index) + 1)
        value, end = _decoder.raw_decode(text, index)
        parts.append(Part(key, value, start, index, end))
        index = after_space(text, end)
        if text[index] == ",":
            index = after_space(text, index + 1)
    return Container(at, index, parts)


def without(text: str, container: Container, number: int) -> str | None:
    """The text less one part of a container; None when nothing else is in it and it was made for this part."""
    parts = container.parts
    part = parts[number]
    if number > 0:
        return text[: parts[number - 1].end] + text[part.end :]
    if len(parts) > 1:
        return text[: part.start] + text[parts[1].start :]
    if part.end < container.close:
        return None
    return text[: part.start] + text[part.end :]
