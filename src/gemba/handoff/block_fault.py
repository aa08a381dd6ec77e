"""What is wrong with the last block of a text: its cause, its place, a sentence, and a *suggested* repair. Pure.

The decoder's own words differ between versions of Python and name no repair, so they are told in ours. Loaded only
where a block is broken; called by `block`, once a text.
"""

from __future__ import annotations

import re
from json import JSONDecodeError
from typing import NamedTuple

from gemba.handoff.body import (
    CLOSER,
    MAX_BODY,
    MAX_DEPTH,
    MAX_DIGITS,
    STRING,
    NotJson,
    Reading,
    deep_bracket,
    is_too_deep,
    is_too_large,
    skip_space,
)

_CONSTANT = re.compile(rf"{STRING}|(-?Infinity|NaN)", re.DOTALL)
_NUMBER = re.compile(rf"{STRING}|(-?[0-9]++)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+", re.DOTALL)
_CUT_OFF = 16  # characters at the end of a cut body in which the cut itself may be what is wrong

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


class Fault(NamedTuple):
    cause: str
    at: int  # in the text
    detail: str
    suggestion: str | None = None


def fault_of(text: str, reading: Reading) -> Fault:
    """The first thing that is wrong, the limits before the rest."""
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
        case NotJson():
            end = _place_of(_CONSTANT, source, 1)
            detail = f"{error} stands where a value belongs, and is not JSON"
            fault = Fault("syntax", first + end, detail, f"write null, or a text, instead of {error}")
        case _:
            end = _place_of(_NUMBER, source, MAX_DIGITS + 1)
            detail = f"an integer has more than {MAX_DIGITS:,} digits"
            fault = Fault("number", first + end, detail, "write it as a text")
    if is_too_deep(source, end):
        return _depth_fault(reading)
    if is_too_large(source, end) or (len(source) > MAX_BODY and end > MAX_BODY - _CUT_OFF):
        detail = f"the body is larger than {MAX_BODY // 2**20} MiB"
        return Fault("body_size", first, detail, "write long outputs to files")
    return fault


def _depth_fault(reading: Reading) -> Fault:
    deep = deep_bracket(reading.source)
    # Else the caller's own stack leaves too little room.
    limit = "can be read here" if deep is None else f"{MAX_DEPTH} levels"
    detail = f"the body nests deeper than {limit}"
    return Fault("depth", reading.first + (deep or 0), detail, "write it with fewer levels")


def _type_fault(value: object, first: int) -> Fault:
    names = {list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    detail = f"the body is {names.get(type(value), 'null')}; allowed: one JSON object"
    return Fault("type", first, detail, _WRITE_OBJECT)


def _closing_fault(text: str, first: int, end: int) -> Fault | None:
    """What stands behind the value instead of a closing fence."""
    if CLOSER.match(text, end) is not None:
        return None
    at = skip_space(text, end)
    if at == len(text):
        return Fault("unclosed", at, f"the text ends where {_FENCE} belongs", _WRITE_FENCE)
    detail = f"{_shown(text, at)} stands where {_FENCE} belongs"
    if text.find("```", at) < 0:
        return Fault("unclosed", at, f"{detail}, and no fence follows", _WRITE_FENCE)
    return Fault("syntax", at, detail, _suggestion(text, first, at, _FENCE))


def _syntax_fault(text: str, first: int, at: int, message: str) -> Fault:
    """The decoder's error in our words: they differ between versions of Python, and name no repair."""
    if message.startswith("Unterminated"):
        rest = 'write " at its end, the rest of the value, and ``` after it'
        return Fault("unclosed", at, "the text ends inside the string that begins here", rest)
    if message.startswith("Invalid control"):
        name, escape = _CONTROLS.get(text[at], (_shown(text, at), f"\\u{ord(text[at]):04x}"))
        advice = f'write {escape} for it, or close the string with "'
        return Fault("syntax", at, f"{name} stands inside a string", advice)
    if message.startswith("Invalid"):
        at = text.rfind("\\", first, at + 1)
        return Fault("syntax", at, "a backslash begins no escape that JSON has", "write \\\\ for a backslash")
    if message.startswith("Illegal trailing comma"):  # the comma's place; before 3.13 that of the bracket behind it
        at += 1
    at = skip_space(text, at)
    before = text[first:at].rstrip(" \t\r\n")
    if text[at : at + 1] in ("}", "]") and before.endswith(","):
        bracket, at = text[at], first + len(before) - 1
        return Fault("syntax", at, f"a comma stands before {bracket}", f"write {bracket} without a comma before it")
    if at == len(text):
        where = "inside the value" if before else "before the value"
        return Fault("unclosed", at, f"the text ends {where}", "write the rest of the value and ``` after it")
    expected = _EXPECTED.get(message, _VALUE)
    detail = f"{_shown(text, at)} stands where {expected} belongs"
    return Fault("syntax", at, detail, _suggestion(text, first, at, expected))


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


def _place_of(pattern: re.Pattern[str], source: str, least: int) -> int:
    """Where the first word of the pattern's group stands that is so long and is all of its match, outside strings."""
    for found in pattern.finditer(source):
        if found[1] and found.end() == found.end(1) and len(found[1].lstrip("-")) >= least:
            return found.start(1)
    return 0
