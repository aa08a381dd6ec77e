"""The block that ends a turn: found in its text by one scan, its body decoded or its first fault explained. Pure.

`find_block` is total and takes time linear in the text: any text or bytes in, a `Found` out. An opener is an opener
wherever it stands, even where it closes the block before it, and of several blocks the last whose body is a JSON object
is taken. No opener can lie inside JSON (it ends its line, and no string goes past a line's end), so that a body is
sought between one opener and the next only. Where no block has an object, the fault is that of the last one, with its
place and a *suggested* repair, which nobody applies.

Called by `verdict` and, through it, by hooks that must be quick: the standard library only, and little of it.
"""

from __future__ import annotations

import gc
import re
import sys
from collections import Counter
from collections.abc import Callable
from itertools import accumulate, islice
from json import JSONDecodeError, JSONDecoder
from typing import Any, NamedTuple

MAX_TEXT = 64 * 2**20  # bytes of UTF-8, as is MAX_BODY
MAX_BODY = 8 * 2**20
MAX_DEPTH = 512
MAX_DIGITS = 4_300  # of an integer
MAX_POINTERS = 20
CAUSES = ("text_size", "body_size", "depth", "number", "syntax", "unclosed", "type")

_OPENER = "```agent_contract_handoff"
_LINE_END = re.compile(r"[^\S\n]*+(?:\n|\Z)")
_SPACE = re.compile(r"[ \t\r\n]*+")
_CLOSER = re.compile(r"[ \t\r\n]*+```")
# What every closed object has; it spares the hostile text of a million openers a million decoding errors.
_OBJECT_START = re.compile(r'[ \t\r\n]*+(?=\{[ \t\r\n]*+["}])')
_OBJECT_END = re.compile(r"\}[ \t\r\n]*+```")
_NO_BRACKETS = bytes(sorted(set(range(256)) - set(b"[]{}")))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
# Nothing here backtracks, and a string that is never closed reaches to the end: no text is read twice.
_STRING = r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)'
_BRACKETS = re.compile(rf'{_STRING}|[\[{{][^][{{}}"]*+[\]}}]|([\[{{]++)|([\]}}]++)', re.DOTALL)
_CONSTANT = re.compile(rf"{_STRING}|(-?Infinity|NaN)", re.DOTALL)
_NUMBER = re.compile(rf"{_STRING}|(-?[0-9]++)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+", re.DOTALL)
_CUT_OFF = 16  # characters at the end of a cut body in which the cut itself may be what is wrong
_POINTER_SHOWN = 200
_LARGE = 100_000


class Found(NamedTuple):
    """What a text holds. No block: no body, no cause, `blocks` 0. A body: no cause. A cause: one of CAUSES."""

    body: dict[str, Any] | None
    cause: str | None
    line: int  # of the fault in the whole text, from 1 as the column is; 0: there is none
    column: int
    detail: str  # one sentence: what stands there
    suggestion: str | None  # what to write instead
    blocks: int
    line_of_block: int  # of the opener of the block that was taken, or else of the last
    duplicate_keys: list[str]  # JSON pointers, at most MAX_POINTERS


class _Reading(NamedTuple):
    """One body as far as it was read: a value and no error, or the other way round."""

    first: int  # where it begins in the text
    source: str  # from there to the next opener, or to where it is too large
    end: int  # of the value, in the source
    value: Any = None
    error: Exception | None = None
    may_repeat: bool = False  # a key


class _Fault(NamedTuple):
    cause: str
    at: int  # in the text
    detail: str
    suggestion: str | None = None


class _Repeated(Exception):
    """An object has a key twice."""


class _NotJson(ValueError):
    """NaN or Infinity."""


def read_text(data: bytes | str) -> tuple[str, bool]:
    """The text, and whether something in it was not UTF-8 and became U+FFFD."""
    if isinstance(data, str):
        return data, False
    try:
        return data.decode(), False
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace"), True


def find_block(text: str | bytes) -> Found:
    """The object that the last well-formed block holds, or what is wrong with the last block."""
    # Nothing that is made here refers back: of a large text the collector would look at it again and again, in vain.
    pauses = len(text) > _LARGE and gc.isenabled()
    if pauses:
        gc.disable()
    try:
        return _find_block(text)
    finally:
        if pauses:
            gc.enable()


def _find_block(text: str | bytes) -> Found:
    if len(text) > MAX_TEXT or (isinstance(text, str) and _is_larger(text, MAX_TEXT)):
        detail = f"the text is larger than {MAX_TEXT // 2**20} MiB"
        return Found(None, "text_size", 1, 1, detail, "write long outputs to files", 0, 0, [])
    text, _ = read_text(text)
    openers = _openers(text)
    last: _Reading | None = None
    stop = len(text)
    for opened, start in reversed(openers):
        first = _skip_space(text, start) if last is None else _object_start(text, start, stop)
        if first is not None:
            reading = _read(text, first, stop, is_last=last is None)
            if _is_object(text, reading):
                pointers = _repeated_keys(reading) if reading.may_repeat else []
                return Found(reading.value, None, 0, 0, "", None, len(openers), _line(text, opened), pointers)
            last = last or reading
        stop = opened
    if last is None:
        return Found(None, None, 0, 0, "", None, 0, 0, [])
    cause, at, detail, suggestion = _fault(text, last)
    column = at - text.rfind("\n", 0, at)
    line_of_block = _line(text, openers[-1][0])
    return Found(None, cause, _line(text, at), column, detail, suggestion, len(openers), line_of_block, [])


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _openers(text: str) -> list[tuple[int, int]]:
    """Where each opener's last three backticks stand, and where the line behind it begins."""
    found = []
    at = text.find(_OPENER)
    while at >= 0:
        end = _LINE_END.match(text, at + len(_OPENER))
        if end is not None:
            found.append((at, end.end()))
        at = text.find(_OPENER, at + len(_OPENER))
    return found


def _object_start(text: str, start: int, stop: int) -> int | None:
    """Where an object may begin; None where a block is certainly broken. `stop` is the next opener: it may close it."""
    brace = _OBJECT_START.match(text, start)
    return brace.end() if brace and _OBJECT_END.search(text, start, stop + 3) else None


def _is_object(text: str, reading: _Reading) -> bool:
    """Whether a block is as it should be: closed, an object, within the limits."""
    return (
        isinstance(reading.value, dict)
        and _CLOSER.match(text, reading.first + reading.end) is not None
        and not _is_too_large(reading.source, reading.end)
        and not _is_too_deep(reading.source, reading.end)
    )


# ---- decoding --------------------------------------------------------------------------------------------------------


class _Decoders(NamedTuple):
    unique: JSONDecoder  # stops at a repeated key, which is rare
    plain: JSONDecoder  # the last of a repeated key wins


def _read(text: str, first: int, stop: int, *, is_last: bool) -> _Reading:
    source = text[first : min(stop, first + MAX_BODY + 1)]
    decoders = _NATIVE if sys.get_int_max_str_digits() == MAX_DIGITS else _COUNTING
    try:
        if is_last:  # nearly always the one that is taken, and without a repeated key
            try:
                value, end = decoders.unique.raw_decode(source)
                return _Reading(first, source, end, value)
            except _Repeated:
                pass
        value, end = decoders.plain.raw_decode(source)
    except (ValueError, RecursionError) as error:
        return _Reading(first, source, len(source), None, error)
    return _Reading(first, source, end, value, None, True)


def _refuse(constant: str) -> float:
    raise _NotJson(constant)


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


def _repeated_keys(reading: _Reading) -> list[str]:
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


# ---- limits ----------------------------------------------------------------------------------------------------------


def _is_larger(text: str, limit: int) -> bool:
    if len(text) * 4 <= limit or text.isascii():
        return len(text) > limit
    return len(text.encode("utf-8", "surrogatepass")) > limit


def _is_too_large(source: str, end: int) -> bool:
    return end * 4 > MAX_BODY and _is_larger(source[:end], MAX_BODY)


def _is_too_deep(source: str, end: int) -> bool:
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


def _deep_bracket(source: str) -> int | None:
    """Where the first bracket stands that goes too deep."""
    depth = 0
    for run in _BRACKETS.finditer(source):
        if run.lastindex == 1:
            depth += run.end() - run.start()
            if depth > MAX_DEPTH:
                return run.end() - (depth - MAX_DEPTH)
        elif run.lastindex == 2:
            depth -= run.end() - run.start()
        elif depth == MAX_DEPTH and source[run.start()] != '"':  # a pair of brackets with none inside
            return run.start()
    return None


# ---- what is wrong ---------------------------------------------------------------------------------------------------

_VALUE, _KEY, _COLON, _FENCE = "a value", "a key in double quotes", "a colon", "the closing fence"
_COMMA = "a comma or a closing bracket"
_EXPECTED = {  # by the decoder's message
    "Expecting property name enclosed in double quotes": _KEY,
    "Expecting ':' delimiter": _COLON,
    "Expecting ',' delimiter": _COMMA,
}
_WRITE_FENCE = "write ``` on a line of its own after the value"
_WRITE_OBJECT = "write one JSON object: { … }"
_WRITE_NUMBER = "write the number as JSON has it (0.5, 12, 1e9), or as a text"
_WORD = re.compile(r"[^\W\d][\w-]{0,39}")
_SINGLE_QUOTED = re.compile(r"'([^'\"\\\n]{0,40})'")
_JSON_WORDS = {"True": "true", "False": "false", "None": "null", "undefined": "null"}
_BEGINNINGS = {
    "//": "remove the comment: JSON has none",
    "/*": "remove the comment: JSON has none",
    "#": "remove the comment: JSON has none",
    ">": "write the block without > before its lines",
    "'": 'write double quotes (") instead of single ones',
    **dict.fromkeys("“”„‟«»\u2018\u2019", 'write straight double quotes (") instead of typographic ones'),
}
_CONTROLS = {"\n": ("a line break", "\\n"), "\r": ("a line break", "\\r"), "\t": ("a tab", "\\t")}


def _fault(text: str, reading: _Reading) -> _Fault:
    """What is wrong with the last block of a text. Asked once a text."""
    first, source, end, value, error, _ = reading
    match error:
        case None:
            fault = _closing_fault(text, first, first + end) or _type_fault(value, first)
        case RecursionError():
            return _depth_fault(reading)
        case JSONDecodeError():
            if not error.msg.startswith("Unterminated"):
                end = error.pos
            fault = _syntax_fault(text, first, first + error.pos, error.msg)
        case _NotJson():
            end = _place_of(_CONSTANT, source, 1)
            detail = f"{error} stands where a value belongs, and is not JSON"
            fault = _Fault("syntax", first + end, detail, f"write null, or a text, instead of {error}")
        case _:
            end = _place_of(_NUMBER, source, MAX_DIGITS + 1)
            detail = f"an integer has more than {MAX_DIGITS:,} digits"
            fault = _Fault("number", first + end, detail, "write it as a text")
    if _is_too_deep(source, end):
        return _depth_fault(reading)
    if _is_too_large(source, end) or (len(source) > MAX_BODY and end > MAX_BODY - _CUT_OFF):
        detail = f"the body is larger than {MAX_BODY // 2**20} MiB"
        return _Fault("body_size", first, detail, "write long outputs to files")
    return fault


def _depth_fault(reading: _Reading) -> _Fault:
    deep = _deep_bracket(reading.source)
    # Else the caller's own stack leaves too little room.
    limit = "can be read here" if deep is None else f"{MAX_DEPTH} levels"
    detail = f"the body nests deeper than {limit}"
    return _Fault("depth", reading.first + (deep or 0), detail, "write it with fewer levels")


def _type_fault(value: object, first: int) -> _Fault:
    names = {list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    detail = f"the body is {names.get(type(value), 'null')}; allowed: one JSON object"
    return _Fault("type", first, detail, _WRITE_OBJECT)


def _closing_fault(text: str, first: int, end: int) -> _Fault | None:
    """What stands behind the value instead of a closing fence."""
    if _CLOSER.match(text, end) is not None:
        return None
    at = _skip_space(text, end)
    if at == len(text):
        return _Fault("unclosed", at, f"the text ends where {_FENCE} belongs", _WRITE_FENCE)
    detail = f"{_shown(text, at)} stands where {_FENCE} belongs"
    if text.find("```", at) < 0:
        return _Fault("unclosed", at, f"{detail}, and no fence follows", _WRITE_FENCE)
    return _Fault("syntax", at, detail, _suggestion(text, first, at, _FENCE))


def _syntax_fault(text: str, first: int, at: int, message: str) -> _Fault:
    """The decoder's error in our words: they differ between versions of Python, and name no repair."""
    if message.startswith("Unterminated"):
        rest = 'write " at its end, the rest of the value, and ``` after it'
        return _Fault("unclosed", at, "the text ends inside the string that begins here", rest)
    if message.startswith("Invalid control"):
        name, escape = _CONTROLS.get(text[at], (_shown(text, at), f"\\u{ord(text[at]):04x}"))
        advice = f'write {escape} for it, or close the string with "'
        return _Fault("syntax", at, f"{name} stands inside a string", advice)
    if message.startswith("Invalid"):
        at = text.rfind("\\", first, at + 1)
        return _Fault("syntax", at, "a backslash begins no escape that JSON has", "write \\\\ for a backslash")
    if message.startswith("Illegal trailing comma"):  # the comma's place; before 3.13 that of the bracket behind it
        at += 1
    at = _skip_space(text, at)
    before = text[first:at].rstrip(" \t\r\n")
    if text[at : at + 1] in ("}", "]") and before.endswith(","):
        bracket, at = text[at], first + len(before) - 1
        return _Fault("syntax", at, f"a comma stands before {bracket}", f"write {bracket} without a comma before it")
    if at == len(text):
        where = "inside the value" if before else "before the value"
        return _Fault("unclosed", at, f"the text ends {where}", "write the rest of the value and ``` after it")
    expected = _EXPECTED.get(message, _VALUE)
    detail = f"{_shown(text, at)} stands where {expected} belongs"
    return _Fault("syntax", at, detail, _suggestion(text, first, at, expected))


def _suggestion(text: str, first: int, at: int, expected: str) -> str | None:
    """What to write instead of what stands there; None when nothing can be guessed."""
    for beginning, advice in _BEGINNINGS.items():
        if text.startswith(beginning, at):
            quoted = _SINGLE_QUOTED.match(text, at)
            return f'write "{quoted[1]}" instead of {quoted[0]}' if quoted and quoted[0].isprintable() else advice
    here, word = text[at], _WORD.match(text, at)
    if here == "`":
        return f"write {'the rest of the value' if at > first else 'a JSON object'} before the fence"
    if word is not None and expected in (_VALUE, _KEY):
        if at == first and text.startswith(":", word.end()):
            return _WRITE_OBJECT
        in_json = _JSON_WORDS.get(word[0]) or f'"{word[0]}"'
        return f"write {in_json} instead of {word[0]}"
    if expected == _COMMA:
        return _comma_suggestion(text[at - 1], here)
    if expected == _COLON:
        return "write : between the key and its value"
    if expected == _FENCE:
        return "write { before the first key" if here == ":" else "remove what stands between the value and the fence"
    if expected == _VALUE and here in "+.":
        return _WRITE_NUMBER
    if at == first:
        return _WRITE_OBJECT
    if here in "}],":
        return "write a value there, or null" if expected == _VALUE else f"remove the {here}"
    return None


def _comma_suggestion(previous: str, here: str) -> str | None:
    if here in "}]":
        return f"write {'}' if here == ']' else ']'} before {here}"
    if previous == '"' and here.isalnum():
        return 'write \\" for a quote inside a string'
    if previous.isdigit() and (here.isalnum() or here == "."):
        return _WRITE_NUMBER
    return "write a comma before it" if here.isalnum() or here in '"{[-' else None


def _shown(text: str, at: int) -> str:
    """What stands there in a few characters that may be printed anywhere."""
    word = _WORD.match(text, at)
    if word is not None:
        return f"the word {word[0]}"
    char = text[at]
    return f"the character {char}" if char.isprintable() and char != " " else f"U+{ord(char):04X}"


def _skip_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _place_of(pattern: re.Pattern[str], source: str, least: int) -> int:
    """Where the first word of the pattern's group stands that is so long and is all of its match, outside strings."""
    for found in pattern.finditer(source):
        if found[1] and found.end() == found.end(1) and len(found[1].lstrip("-")) >= least:
            return found.start(1)
    return 0
