"""One JSON body of a block: decoded as the contract allows it, and measured against its limits. Pure, linear.

A repeated key is no error here (the last wins) but is pointed to; NaN and Infinity are errors, as is an integer of too
many digits, whatever the process allows for itself. Called by `block`, and by `block_fault` for what went wrong.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable
from itertools import accumulate, islice
from json import JSONDecoder
from typing import Any, NamedTuple

MAX_BODY = 8 * 2**20  # bytes of UTF-8
MAX_DEPTH = 512
MAX_DIGITS = 4_300  # of an integer
MAX_POINTERS = 20

# Nothing here backtracks, and a string that is never closed reaches to the end: no text is read twice.
STRING = r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)'

CLOSER = re.compile(r"[ \t\r\n]*+```")

_SPACE = re.compile(r"[ \t\r\n]*+")
_NO_BRACKETS = bytes(sorted(set(range(256)) - set(b"[]{}")))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
# Compiled where a body goes too deep: a hook process would pay for it each time.
_BRACKETS = rf'{STRING}|[\[{{][^][{{}}"]*+[\]}}]|([\[{{]++)|([\]}}]++)'
_POINTER_SHOWN = 200


class Reading(NamedTuple):
    """One body as far as it was read: a value and no error, or the other way round."""

    first: int  # where it begins in the text
    source: str  # from there to the next opener, or to where it is too large
    end: int  # of the value, in the source
    value: Any = None
    error: Exception | None = None
    may_repeat: bool = False  # a key


class NotJson(ValueError):
    """NaN or Infinity."""


class _Repeated(Exception):
    """An object has a key twice."""


class _Decoders(NamedTuple):
    unique: JSONDecoder  # stops at a repeated key, which is rare
    plain: JSONDecoder  # the last of a repeated key wins


def read_body(text: str, first: int) -> Reading:
    """The body of the last block, nearly always the one that is taken, and without a repeated key."""
    source = text[first : first + MAX_BODY + 1]
    decoders = _decoders()
    try:
        try:
            value, end = decoders.unique.raw_decode(source)
            return Reading(first, source, end, value)
        except _Repeated:
            value, end = decoders.plain.raw_decode(source)
            return Reading(first, source, end, value, None, True)
    except (ValueError, RecursionError) as error:
        return Reading(first, source, len(source), None, error)


def scanner() -> Callable[[str, int], tuple[Any, int]]:
    """Decodes the value at a place of a source, as `read_body` does; what is no JSON raises, StopIteration too."""
    scan: Callable[[str, int], tuple[Any, int]] = _decoders().plain.scan_once  # type: ignore[attr-defined]  # not typed
    return scan


def _decoders() -> _Decoders:
    return _NATIVE if sys.get_int_max_str_digits() == MAX_DIGITS else _COUNTING


def _refuse(constant: str) -> float:
    raise NotJson(constant)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Repeated
    return found


def _integer(digits: str) -> int:
    """An integer of up to MAX_DIGITS digits, whatever the process allows for itself."""
    sign, digits = (-1, digits[1:]) if digits[0] == "-" else (1, digits)
    if len(digits) > MAX_DIGITS:
        raise ValueError("too many digits")
    value = 0
    for at in range(0, len(digits), 600):  # fewer than any process may allow
        part = digits[at : at + 600]
        value = value * 10 ** len(part) + int(part)
    return sign * value


def _decoders_with(parse_int: Callable[[str], int]) -> _Decoders:
    unique = JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse, parse_int=parse_int)
    return _Decoders(unique, JSONDecoder(parse_constant=_refuse, parse_int=parse_int))


_NATIVE, _COUNTING = _decoders_with(int), _decoders_with(_integer)


def repeated_keys(reading: Reading) -> list[str]:
    """Pointers to the repeated keys of an object, outer ones first; none inside a value that was overwritten."""
    repeated: dict[int, tuple[dict[str, Any], list[Any]]] = {}  # each object is kept, so that its id stays its own

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            repeated[id(found)] = found, pairs
        return found

    try:
        root, _ = JSONDecoder(object_pairs_hook=note, parse_int=str).raw_decode(reading.source)
    except RecursionError:  # the caller's own stack leaves room for the value, but not for this as well
        return []
    pointers: list[str] = []
    waiting: list[tuple[Any, Any]] = [(root, None)]
    while waiting and len(pointers) < MAX_POINTERS:
        value, trail = waiting.pop()
        is_object = isinstance(value, dict)
        if is_object and id(value) in repeated:
            counted = Counter(key for key, _ in repeated[id(value)][1])
            again = (key for key, times in counted.items() if times > 1)
            pointers += [_pointer((trail, key)) for key in islice(again, MAX_POINTERS)]
        inner = value.items() if is_object else enumerate(value)
        waiting += reversed([(part, (trail, key)) for key, part in inner if type(part) in (dict, list)])
    return pointers[:MAX_POINTERS]


def _pointer(trail: Any) -> str:
    parts = []
    while trail is not None:
        trail, key = trail
        parts.append(str(key).replace("~", "~0").replace("/", "~1"))
    pointer = "/" + "/".join(reversed(parts))
    if len(pointer) > _POINTER_SHOWN:
        pointer = pointer[: _POINTER_SHOWN - 1] + "…"
    return pointer.encode("utf-8", "backslashreplace").decode()  # a lone surrogate could not be written anywhere


def skip_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


# ---- limits ----------------------------------------------------------------------------------------------------------


def is_larger(text: str, limit: int) -> bool:
    if len(text) * 4 <= limit or text.isascii():
        return len(text) > limit
    return len(text.encode("utf-8", "surrogatepass")) > limit


def is_too_large(source: str, end: int) -> bool:
    return end * 4 > MAX_BODY and is_larger(source[:end], MAX_BODY)


def is_too_deep(source: str, end: int) -> bool:
    """Whether valid JSON up to there nests too deep: at most as deep as there are brackets, else counted."""
    lists = source.count("[", 0, end)
    if lists + (end - lists + 3) // 4 <= MAX_DEPTH:  # an object that holds another takes four characters at least
        return False
    if lists + source.count("{", 0, end) <= MAX_DEPTH:
        return False
    brackets = _brackets(source[:end])
    outer, left_out = brackets, 0
    while len(outer) > MAX_DEPTH and left_out < 8:  # the innermost are most of them, and quickly taken away
        outer, left_out = outer.replace(b"[]", b"").replace(b"{}", b""), left_out + 2
    return _deepest(outer) + left_out > MAX_DEPTH and _deepest(brackets) > MAX_DEPTH


def _brackets(source: str) -> bytes:
    """The brackets of valid JSON that stand outside strings."""
    if "\\" in source:
        source = source.replace("\\\\", "").replace('\\"', "")
    outside = "".join(source.split('"')[::2])
    return outside.encode("ascii", "ignore").translate(None, _NO_BRACKETS)


def _deepest(brackets: bytes) -> int:
    return max(accumulate(map(_STEP.__getitem__, brackets)), default=0)


def deep_bracket(source: str) -> int | None:
    """Where the first bracket stands that goes too deep."""
    depth = 0
    for run in re.finditer(_BRACKETS, source, re.DOTALL):
        if run.lastindex == 1:
            depth += run.end() - run.start()
            if depth > MAX_DEPTH:
                return run.end() - (depth - MAX_DEPTH)
        elif run.lastindex == 2:
            depth -= run.end() - run.start()
        elif depth == MAX_DEPTH and source[run.start()] != '"':  # a pair of brackets with none inside
            return run.start()
    return None
