"""A document into its type, or an Invalid that names the place, what was found, what is allowed.

msgspec converts and reports the first misfit as a sentence with a path; here that becomes a JSON pointer, the value
that stands there, and what the type would take. Called by `api.decode` for requests, and by consult skills for their
input and lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Sized
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from gemba import typed
from gemba.errors import Invalid

T = TypeVar("T", bound=msgspec.Struct)

_PLACE = re.compile(r" - at `(?P<path>.*)`\Z", re.DOTALL)
_STEP = re.compile(r"\.(?P<key>[^.\[]+)|\[(?P<index>\d+)\]|\[\.\.\.\]")
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.*)`\Z", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<name>.*)`\Z", re.DOTALL)
_LENGTH = re.compile(r"Expected `(?P<kind>str|array|object)` of length (?P<bound>[<>])= (?P<length>\d+)\Z")
_COUNTED = {"str": "character", "array": "item", "object": "field"}
_BOUND = re.compile(r"Expected `(?:int|float)` (?P<how>[<>]=?) (?P<limit>\S+)\Z")
_BOUNDS = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than"}
_LONGEST_FOUND = 200
_LONGEST_QUOTED = 80


def fit(document: Any, kind: type[T], *, strict: bool = True, whole: str = "the body") -> T:
    """The document as its type; `whole` is what a message calls a document that is wrong as a whole."""
    try:
        return typed.convert(document, kind, strict=strict)
    except msgspec.ValidationError as error:
        raise _explain(str(error), document, kind, whole) from None


def _explain(sentence: str, document: Any, kind: type[msgspec.Struct], whole: str) -> Invalid:
    place = _PLACE.search(sentence)
    words = sentence[: place.start()] if place else sentence
    steps = _steps(place["path"]) if place else []
    code, found, allowed = "invalid_value", _value_at(document, steps), _allowed_at(kind, steps)
    if unknown := _UNKNOWN.match(words):
        code, found, allowed = "unknown_field", unknown["name"], _fields_at(kind, steps)
        steps.append(unknown["name"])
    elif missing := _MISSING.match(words):
        code, found = "missing_field", None
        steps.append(missing["name"])
        allowed = _allowed_at(kind, steps)
    elif (length := _LENGTH.match(words)) and isinstance(found, Sized):
        what = _COUNTED[length["kind"]]
        allowed = f"at {'most' if length['bound'] == '<' else 'least'} {_many(int(length['length']), what)}"
        words = f"it has {_many(len(found), what)}; allowed: {allowed}"
    elif words.startswith("Expected") and ", got " in words:
        code = "wrong_type"
    elif bound := _BOUND.match(words):
        both = isinstance(allowed, str) and " to " in allowed
        allowed = allowed if both else f"{_BOUNDS[bound['how']]} {bound['limit']}"
    pointer = "".join(f"/{escape(str(step))}" for step in steps)
    message = _sentence(pointer or whole, code, words, found, allowed)
    return Invalid(message, code=code, pointer=pointer, found=_short(found), allowed=allowed)


def _sentence(where: str, code: str, words: str, found: Any, allowed: Any) -> str:
    """In words of ours, where the type says what it takes."""
    if words.startswith("it has ") or allowed is None:
        return f"{where}: {words}"
    listed = ", ".join(map(str, allowed)) if isinstance(allowed, list) else str(allowed)
    if code == "unknown_field":
        return f"{where}: there is no such field; allowed: {listed}"
    if code == "missing_field":
        return f"{where} is missing; allowed: {listed}"
    return f"{where} is {_quoted(found)}; allowed: {listed}"


def _quoted(value: Any) -> str:
    short = _short(value)
    if isinstance(value, list | dict):
        return str(short)
    text = msgspec.json.encode(short).decode() if isinstance(short, str | int | float | bool | None) else str(short)
    return text if len(text) <= _LONGEST_QUOTED else f"{text[: _LONGEST_QUOTED - 1]}…"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _steps(path: str) -> list[str | int]:
    return [
        int(step["index"]) if step["index"] is not None else step["key"]
        for step in _STEP.finditer(path)
        if step["index"] is not None or step["key"] is not None
    ]


def _value_at(document: Any, steps: Sequence[str | int]) -> Any:
    for step in steps:
        try:
            document = document[step]
        except (KeyError, IndexError, TypeError):
            return None
    return document


def _type_at(kind: type[msgspec.Struct], steps: Sequence[str | int]) -> inspect.Type | None:
    here: inspect.Type | None = inspect.type_info(kind)
    for step in steps:
        if isinstance(here, inspect.UnionType):  # ours are "or null"
            here = next((part for part in here.types if not isinstance(part, inspect.NoneType)), None)
        if isinstance(here, inspect.StructType):
            here = next((field.type for field in here.fields if field.encode_name == step), None)
        elif isinstance(here, inspect.ListType | inspect.VarTupleType):
            here = here.item_type
        else:
            return None
    return here


def _fields_at(kind: type[msgspec.Struct], steps: Sequence[str | int]) -> Any:
    here = _type_at(kind, steps)
    if isinstance(here, inspect.UnionType):
        here = next((part for part in here.types if isinstance(part, inspect.StructType)), None)
    return [field.encode_name for field in here.fields] if isinstance(here, inspect.StructType) else None


def _allowed_at(kind: type[msgspec.Struct], steps: Sequence[str | int]) -> Any:
    here = _type_at(kind, steps)
    return None if here is None else _described(here)


def _described(here: inspect.Type) -> Any:
    """What a type takes, in a few words or as the list of its values."""
    match here:
        case inspect.LiteralType(values=values):
            return list(values)
        case inspect.EnumType(cls=cls):
            return [member.value for member in cls]
        case inspect.UnionType(types=types):
            parts = [_described(part) for part in types if not isinstance(part, inspect.NoneType)]
            return parts[0] if len(parts) == 1 else parts
        case inspect.StructType():
            return "object"
        case inspect.IntType(ge=ge, le=le) if ge is not None and le is not None:
            return f"a whole number from {ge} to {le}"
    return _WORDS.get(type(here), "another value")


_WORDS: dict[type[inspect.Type], str] = {
    inspect.StrType: "text",
    inspect.IntType: "a whole number",
    inspect.FloatType: "a number",
    inspect.BoolType: "true or false",
    inspect.VarTupleType: "a list",
    inspect.ListType: "a list",
    inspect.DictType: "an object",
}


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_FOUND else value[:_LONGEST_FOUND] + "…"
    if isinstance(value, list):
        return "a list"
    return "an object" if isinstance(value, dict) else value


def escape(step: str) -> str:
    """A key as a JSON pointer has it."""
    return step.replace("~", "~0").replace("/", "~1")
