"""The block that ends a turn: found in its text by one scan, its body decoded or its first fault explained. Pure.

`find_block` is total and takes time linear in the text: any text or bytes in, a `Found` out. An opener is an opener
wherever it stands, even where it closes the block before it, and of several blocks the last whose body is a JSON object
is taken. No opener can lie inside JSON (it ends its line, and no string goes past a line's end), so that a body is
sought between one opener and the next only. Where no block has an object, the fault is that of the last one, with its
place and a *suggested* repair, which nobody applies.

Called by `verdict` and, through it, by hooks that must be quick: the standard library only, and little of it.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from gemba.collector import Paused
from gemba.handoff.body import (
    CLOSER,
    MAX_BODY,
    Reading,
    is_larger,
    is_too_deep,
    is_too_large,
    read_body,
    repeated_keys,
    scanner,
    skip_space,
)

MAX_TEXT = 64 * 2**20  # bytes of UTF-8
CAUSES = ("text_size", "body_size", "depth", "number", "syntax", "unclosed", "type")

_OPENER = "```agent_contract_handoff"
_LINE_END = re.compile(r"[^\S\n]*+(?:\n|\Z)")
# What every closed object has; it spares the hostile text of a million openers a million decoding errors. Compiled
# where there are several blocks: a hook process would pay for it each time.
_OBJECT_START = r'[ \t\r\n]*+(?=\{[ \t\r\n]*+["}])'
_OBJECT_END = r"\}[ \t\r\n]*+```"
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
    if len(text) <= _LARGE:
        return _find_block(text)
    with Paused():
        return _find_block(text)


def _find_block(text: str | bytes) -> Found:
    if len(text) > MAX_TEXT or (isinstance(text, str) and is_larger(text, MAX_TEXT)):
        detail = f"the text is larger than {MAX_TEXT // 2**20} MiB"
        return Found(None, "text_size", 1, 1, detail, "write long outputs to files", 0, 0, [])
    text, _ = read_text(text)
    openers = _openers(text)
    if not openers:
        return Found(None, None, 0, 0, "", None, 0, 0, [])
    last_opened, start = openers[-1]
    last = read_body(text, skip_space(text, start))
    reading, opened = (last, last_opened) if _is_object(text, last) else _earlier(text, openers)
    if reading is not None:
        pointers = repeated_keys(reading) if reading.may_repeat else []
        return Found(reading.value, None, 0, 0, "", None, len(openers), _line(text, opened), pointers)
    from gemba.handoff.block_fault import fault_of  # loaded here: a hook seldom needs it

    cause, at, detail, suggestion = fault_of(text, last)
    column = at - text.rfind("\n", 0, at)
    line_of_block = _line(text, last_opened)
    return Found(None, cause, _line(text, at), column, detail, suggestion, len(openers), line_of_block, [])


def _earlier(text: str, openers: list[tuple[int, int]]) -> tuple[Reading | None, int]:
    """The last of the blocks before the last one that is as it should be, and where it is opened.

    A hostile text has a million of them: what is certainly broken is not decoded, and nothing is made of a fault.
    """
    may_begin, may_end = re.compile(_OBJECT_START).match, re.compile(_OBJECT_END).search
    ends, scan = CLOSER.match, scanner()
    stop = openers[-1][0]
    for opened, start in reversed(openers[:-1]):
        brace = may_begin(text, start)
        if brace and may_end(text, start, stop + 3):  # the next opener may close it
            first = brace.end()
            source = text[first : min(stop, first + MAX_BODY + 1)]
            try:
                value, end = scan(source, 0)
            except (StopIteration, ValueError, RecursionError):
                value, end = None, 0
            if value is not None and ends(text, first + end):
                reading = Reading(first, source, end, value, None, True)
                if _is_object(text, reading):
                    return reading, opened
        stop = opened
    return None, 0


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


def _is_object(text: str, reading: Reading) -> bool:
    """Whether a block is as it should be: closed, an object, within the limits."""
    return (
        isinstance(reading.value, dict)
        and CLOSER.match(text, reading.first + reading.end) is not None
        and not is_too_large(reading.source, reading.end)
        and not is_too_deep(reading.source, reading.end)
    )
