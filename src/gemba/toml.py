"""TOML files that people write: into their type whole, or every fault with the line it stands in.

tomllib tells values and no places, msgspec the first misfit and no line. `places` finds the line of every key, header
and item; `misfits` compares a document with its type to the end. Called by `config`, for what the settings say.
"""

from __future__ import annotations

import copy
import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date, time
from itertools import count
from typing import Any, NamedTuple

import msgspec
from msgspec import inspect

Place = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_QUOTED = r'"(?:[^"\\\n]|\\.)*"' + r"|'[^'\n]*'"
_STRING = re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}|' + r"'''.*?'{3,5}|" + _QUOTED, re.DOTALL)
_KEY = re.compile(_QUOTED + "|[A-Za-z0-9_-]+")
_PLAIN = re.compile(r"[^,\]}#\n]*")
MOST_BYTES = 1024 * 1024  # of a file
MOST_DOTS = 1_000  # of a line; a parser's time and memory grow with the square of a key's parts
_DIGITS = 4_300  # of a number that Python reads
_AT = re.compile(r" \(at (?:line (?P<line>\d+), column \d+|end of document)\)")


class Fault(NamedTuple):
    """What is wrong, and the place of the value that is; the words begin with the place's last part."""

    place: Place
    words: str


class Absence(Fault):
    """A fault that something which is not there would have mended, or kept from being looked for."""


class NotToml(Exception):
    """A file that cannot be read as TOML: the line, and a sentence."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


def load(raw: bytes) -> tuple[str, dict[str, Any]]:
    """The text of a file and what it says, or a NotToml with the line in which it stops being TOML, or is too much."""
    _refuse_too_much(raw)
    try:
        text = raw.decode()
        return text, tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise NotToml(raw.count(b"\n", 0, error.start) + 1, f"this is not TOML: {error}") from None
    except tomllib.TOMLDecodeError as error:
        found = _AT.search(str(error))
        line = int(found["line"]) if found and found["line"] else max(1, len(raw.splitlines()))
        raise NotToml(line, f"this is not TOML: {error}") from None
    except RecursionError:
        raise NotToml(1, "this is not TOML that anybody can read: too deep") from None
    except ValueError:  # a number that Python does not read, whose error has no place
        start = next((found.start() for found in re.finditer(rb"[0-9_]+", raw) if len(found[0]) > _DIGITS), 0)
        line = raw.count(b"\n", 0, start) + 1
        raise NotToml(line, f"a number is too long; allowed: {_DIGITS:,} digits") from None


def _refuse_too_much(raw: bytes) -> None:
    if len(raw) > MOST_BYTES:
        raise NotToml(1, f"the file is too long; allowed: {MOST_BYTES:,} bytes")
    if raw.count(b".") > MOST_DOTS:
        for number, line in enumerate(raw.split(b"\n"), 1):
            if line.count(b".") > MOST_DOTS:
                raise NotToml(number, f"this line has too many dots; allowed: {MOST_DOTS:,}")


# ---- lines -----------------------------------------------------------------------------------------------------------


def line_of(place: Place, lines: dict[Place, int]) -> int:
    """The line of a place, or of the nearest thing around it that the file writes down."""
    while place and place not in lines:
        place = place[:-1]
    return lines.get(place, 1)


def places(text: str) -> dict[Place, int]:
    """The line (from 1) of every table, key and item of a document that tomllib takes. It never fails: in what is
    not TOML, the places up to there.
    """
    scan = _Scan(text)
    with suppress(_Lost, RecursionError):
        scan.document()
    return scan.lines


class _Lost(Exception):
    """This is not TOML any more."""


class _Scan:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[Place, int] = {(): 1}
        self._ends = [match.start() for match in re.finditer("\n", text)]
        self._items: dict[Place, int] = {}  # how many [[tables]] of a name there are so far

    def document(self) -> None:
        table: Place = ()
        while self._skip(_BLANK) < len(self.text):
            start = self.at
            if self._takes("[["):
                table = self._table(self._key(), "]]", start)
            elif self._takes("["):
                table = self._table(self._key(), "]", start)
            else:
                self._pair(table)

    def _table(self, key: list[str], end: str, start: int) -> Place:
        """The place that a header opens: of a name that is a list of tables, the last one."""
        self._need(end)
        place: Place = ()
        for number, part in enumerate(key, 1):
            place = (*place, part)
            self._note(place, start)
            if end == "]]" and number == len(key):
                self._items[place] = self._items.get(place, 0) + 1
            if place in self._items:
                place = (*place, self._items[place] - 1)
                self._note(place, start)
        return place

    def _pair(self, table: Place) -> None:
        start, place = self.at, table
        for part in self._key():
            place = (*place, part)
            self._note(place, start)
        self._need("=")
        self._value(place)

    def _key(self) -> list[str]:
        parts = []
        while True:
            self._skip(_SPACE)
            parts.append(_unquoted(self._match(_KEY)))
            self._skip(_SPACE)
            if not self._takes("."):
                return parts

    def _value(self, place: Place) -> None:
        self._skip(_SPACE)
        if self._takes("["):
            for number in self._parts("]"):
                self._note((*place, number), self.at)
                self._value((*place, number))
        elif self._takes("{"):
            for _ in self._parts("}"):
                self._pair(place)
        elif self.text.startswith(('"', "'"), self.at):
            self._match(_STRING)
        else:
            self._skip(_PLAIN)

    def _parts(self, end: str) -> Iterator[int]:
        """Stops at each part of a list or an inline table; whoever reads goes on behind it."""
        for number in count():
            self._skip(_BLANK)
            if self._takes(end):
                return
            yield number
            self._skip(_BLANK)
            if not self._takes(","):
                self._need(end)
                return

    def _note(self, place: Place, at: int) -> None:
        self.lines.setdefault(place, bisect_right(self._ends, at - 1) + 1)

    def _skip(self, pattern: re.Pattern[str]) -> int:
        found = pattern.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
        return self.at

    def _match(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            raise _Lost
        self.at = found.end()
        return found[0]

    def _takes(self, word: str) -> bool:
        if not self.text.startswith(word, self.at):
            return False
        self.at += len(word)
        return True

    def _need(self, word: str) -> None:
        self._skip(_SPACE)
        if not self._takes(word):
            raise _Lost


def _unquoted(key: str) -> str:
    if key[0] not in "\"'":
        return key
    try:
        return next(iter(tomllib.loads(f"{key} = 0")))
    except tomllib.TOMLDecodeError:
        raise _Lost from None


# ---- types -----------------------------------------------------------------------------------------------------------


def misfits(document: Any, kind: type[msgspec.Struct]) -> list[Fault]:
    """Everything in a document that does not fit its type; empty when msgspec would take it."""
    return list(_compare(document, inspect.type_info(kind), ()))


def fitting(document: dict[str, Any], faults: Iterable[Fault]) -> dict[str, Any]:
    """A copy of a document without the values at fault, for whoever judges the rest. An item of a list goes with the
    whole list: the others keep their numbers."""
    rest = copy.deepcopy(document)
    for place, _ in faults:
        named = max((number for number, part in enumerate(place) if isinstance(part, str)), default=None)
        if named is not None:
            around: Any = rest
            for part in place[:named]:
                around = around[part]
            around.pop(place[named], None)
    return rest


def _compare(value: Any, kind: inspect.Type, place: Place, meant: str | None = None) -> Iterator[Fault]:
    match kind:
        case inspect.Metadata(type=inner, extra_json_schema=extra):
            yield from _compare(value, inner, place, (extra or {}).get("description"))
        case inspect.UnionType(types=types):  # all of ours are "or nothing", and TOML has no nothing
            yield from _compare(value, next(t for t in types if not isinstance(t, inspect.NoneType)), place)
        case inspect.StructType() if isinstance(value, dict):
            yield from _compare_struct(value, kind, place)
        case inspect.DictType(value_type=inner) if isinstance(value, dict):
            for name, part in value.items():
                yield from _compare(part, inner, (*place, name))
        case inspect.ListType(item_type=inner) | inspect.VarTupleType(item_type=inner) if isinstance(value, list):
            for number, part in enumerate(value):
                yield from _compare(part, inner, (*place, number))
        case _ if not _fits(value, kind):
            yield Fault(place, f"{name_of(place)} is {_found(value, kind)}; allowed: {meant or _allowed(kind)}")


def _compare_struct(value: dict[str, Any], kind: inspect.StructType, place: Place) -> Iterator[Fault]:
    fields = {field.encode_name: field for field in kind.fields}
    for name, part in value.items():
        if name in fields:
            yield from _compare(part, fields[name].type, (*place, name))
        else:
            yield Fault((*place, name), f"unknown key {quoted(name)}{nearest(name, fields)}")
    for name, field in fields.items():
        if field.required and name not in value:
            yield Fault((*place, name), f"{name} is missing; allowed: {_allowed(field.type)}")


def _fits(value: Any, kind: inspect.Type) -> bool:
    match kind:
        case inspect.StrType(min_length=least, max_length=most):
            return isinstance(value, str) and _within(len(value), least, most)
        case inspect.IntType(ge=least, le=most):
            return isinstance(value, int) and not isinstance(value, bool) and _within(value, least, most)
        case inspect.FloatType(ge=least, le=most):
            return isinstance(value, int | float) and not isinstance(value, bool) and _within(value, least, most)
        case inspect.BoolType():
            return isinstance(value, bool)
        case inspect.LiteralType(values=values):
            return isinstance(value, str) and value in values
        case inspect.CustomType():  # a secret, which is a text
            return isinstance(value, str)
    return False


def _within(value: float, least: float | None, most: float | None) -> bool:
    return (least is None or value >= least) and (most is None or value <= most)


def _allowed(kind: inspect.Type) -> str:
    match kind:
        case inspect.Metadata(type=inner, extra_json_schema=extra):
            return (extra or {}).get("description") or _allowed(inner)
        case inspect.UnionType(types=types):
            return _allowed(types[0])
        case inspect.LiteralType(values=values):
            return " or ".join(str(value) for value in values)
        case inspect.IntType(ge=least, le=most):
            return "a whole number" + _range(least, most)
        case inspect.FloatType(ge=least, le=most):
            return "a number" + _range(least, most)
        case inspect.StrType(min_length=least, max_length=most):
            return "a text" + (f" of {least or 0} to {most} characters" if most is not None else "")
        case inspect.BoolType():
            return "true or false"
        case inspect.StructType() | inspect.DictType():
            return "a table"
        case inspect.ListType(item_type=inner) | inspect.VarTupleType(item_type=inner):
            return (
                "a list of tables, each with a header in [[ ]]" if isinstance(inner, inspect.StructType) else "a list"
            )
    return "a text"


def _range(least: float | None, most: float | None) -> str:
    if most is None:
        return "" if least is None else f", {least} or more"
    return f" from {least:,} to {most:,}"


def _found(value: Any, kind: inspect.Type) -> str:
    """What stands there. A text in the place of something else may be anything, and so is not repeated."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)[:40]
        case str():
            return quoted(value) if isinstance(kind, inspect.LiteralType) else "empty" if not value else "a text"
        case list():
            return "a list"
        case date() | time():
            return "a date or time"
    return "a table"


# ---- words -----------------------------------------------------------------------------------------------------------


def name_of(place: Place) -> str:
    """The last key of a place, with the number (from 1) of the item in it."""
    if not place:
        return "the file"
    last = place[-1]
    if isinstance(last, int):
        return f"{name_of(place[:-1])}[{last + 1}]"
    return last if re.fullmatch(r"[A-Za-z0-9_-]{1,60}", last) else quoted(last)


def quoted(text: str) -> str:
    """A text of the file as an error shows it: short, and of what may be a URL with a password only the scheme."""
    if "://" in text or "@" in text:
        found = re.match(r"\s*([A-Za-z][A-Za-z0-9+.-]{0,31}://)", text)
        return f'"{found[1] if found else ""}…"'
    return msgspec.json.encode(text if len(text) <= 60 else text[:59] + "…").decode()


def nearest(name: str, names: Iterable[str]) -> str:
    """`; did you mean …?`, or what there is."""
    from difflib import get_close_matches

    known = list(names)
    close = get_close_matches(name, known, 1)
    if close:
        return f"; did you mean {close[0]}?"
    return f"; known: {', '.join(known)}" if known else ""
