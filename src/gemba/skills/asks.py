"""What a skill's body asks, and whether its variety may: the kinds and roles of its calls of gemba-ask.

A coach's blocker has endless spellings, so two nets hang behind each other. Whatever reads as a blocker once the body
is made plain is one, wherever it stands: the flag, a field of that name, the MCP tool, a variable that holds it, an
instruction in words. And in a call of gemba-ask a coach's kind must be one that it may use, in so many letters: what
hides it is refused as well. Called by `lint`; linear in the body.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from gemba.documents.finding import Fault
from gemba.documents.plain import Plain
from gemba.skills.calls import hidden_flags
from gemba.skills.prose import instructions
from gemba.skills.skill import VARIETIES

_BLOCKER = "blocker"
_OF_A_COACH = ("question", "assumption")
_FARTHEST = 4_000  # characters from the beginning of a call to one of its flags

_CALL = re.compile(r"(?<![\w-])gemba-ask(?![\w-])")
_KIND = re.compile(r"(?<!-)(?:--++|(?<!\w)-)kind(\w*+)(?!-)")
_ROLE = re.compile(r"(?<!-)(?:--++|(?<!\w)-)role(?![\w-])|gemba_role[ \t]?=")
_GAP = re.compile(r"[\s=:,|()\[\]{}<>+]*+")
_VALUE = re.compile(r"\$\([^()\n]{0,200}\)|\S{0,200}")
_LITERAL = re.compile(rf"(?:{'|'.join(_OF_A_COACH)})(?![\w$-])")
_OR_BLOCKER = re.compile(r"(?:[ \t]{0,4}[|/][ \t]{0,4}|,|[ \t]{1,4}(?:or|and)[ \t]{1,4})blocker\b")
_TOOL = re.compile(r"raise[_-]?blocker")
_FIELD = re.compile(r"(?<![\w-])kind\s{0,10}(?:[:=]{1,2}|=>)\s{0,10}[\[({]?\s{0,10}blocker")
_HOLDS_BLOCKER = re.compile(r"(?<!\w)(\w{1,64}+)(?=[ \t]{0,8}(?:[:+?]?=|:|<<<|in\b)[^;\n]{0,200}?blocker)")
_BLANK_LINE = re.compile(r"\n[ \t]*+\n")
# The first word, or every argument that there is, from a variable: what `calls` cannot read as a shell would.
_EXPANDED = re.compile(r"(?<![\w-])gemba-ask(?:[ \t]+\$|[^\n;|&]{0,500}?\$(?:@|\{@|\{\w{1,64}\[@?\]))")
_GUARDRAIL = re.compile(r"guard[ -]?rail|purview[ _]violation")


class _Ask(NamedTuple):
    """A flag --kind in the body: where it stands, and what it says with the word behind it."""

    place: int
    words: str
    is_blocker: bool
    is_literal: bool


def ask_faults(plain: Plain, body: str, first_line: int, variety: str | None) -> Iterator[Fault]:
    """Everything that is wrong with what a body asks; of a skill without a variety, what needs none."""
    calls = [found.start() for found in _CALL.finditer(plain.text)]
    if not calls:
        yield Fault("ask-missing", first_line)
    if variety is None:
        return
    yield from _other_roles(plain, variety)
    asks = list(_asks(plain.text))
    if variety == "coach":
        yield from _blockers(plain, asks)
        yield from _not_written_out(plain, asks, calls)
        yield from _flags_not_written_out(plain, body, first_line)
    else:
        yield from _toothless(plain, asks)


def _asks(text: str) -> Iterator[_Ask]:
    holders = frozenset(found[1] for found in _HOLDS_BLOCKER.finditer(text))
    for flag in _KIND.finditer(text):
        if flag[1]:  # another flag, unless the value was glued to it
            if _BLOCKER in flag[1]:
                yield _Ask(flag.start(), flag[0], True, False)
            continue
        start = _end(_GAP, text, flag.end())
        end = _end(_VALUE, text, start)
        value = text[start:end]
        literal = _LITERAL.match(value)
        if literal is None:
            is_blocker = _BLOCKER in value or not holders.isdisjoint(re.findall(r"\w+", value))
        else:
            is_blocker = _BLOCKER in value or _OR_BLOCKER.match(text, start + literal.end()) is not None
        yield _Ask(flag.start(), text[flag.start() : end], is_blocker, literal is not None)


def _end(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.match(text, place)
    return place if found is None else found.end()


def _blockers(plain: Plain, asks: list[_Ask]) -> Iterator[Fault]:
    for ask in asks:
        if ask.is_blocker:
            yield Fault("coach-blocker", plain.line(ask.place), ask.words)
    for pattern in (_TOOL, _FIELD):
        for found in pattern.finditer(plain.text):
            yield Fault("coach-blocker", plain.line(found.start()), found[0])
    for instruction in instructions(plain.text):
        yield Fault("coach-blocker", plain.line(instruction.place), instruction.words)


def _not_written_out(plain: Plain, asks: list[_Ask], calls: list[int]) -> Iterator[Fault]:
    for ask in asks:
        if not ask.is_literal and not ask.is_blocker and _is_in_call(plain.text, ask.place, calls):
            yield Fault("kind-not-written-out", plain.line(ask.place), ask.words)


def _flags_not_written_out(plain: Plain, body: str, first_line: int) -> Iterator[Fault]:
    for line, found in hidden_flags(body, first_line):
        yield Fault("kind-not-written-out", line, found)
    for call in _EXPANDED.finditer(plain.text):
        yield Fault("kind-not-written-out", plain.line(call.start()), call[0])


def _is_in_call(text: str, place: int, calls: list[int]) -> bool:
    """Whether a flag belongs to a call of gemba-ask: one before it, in the same paragraph."""
    number = bisect_left(calls, place)
    if number == 0 or place - calls[number - 1] > _FARTHEST:
        return False
    return _BLANK_LINE.search(text, calls[number - 1], place) is None


def _other_roles(plain: Plain, variety: str) -> Iterator[Fault]:
    for flag in _ROLE.finditer(plain.text):
        start = _end(_GAP, plain.text, flag.end())
        word = re.match(r"\w{0,40}", plain.text[start : start + 40])
        if word is not None and word[0] in VARIETIES and word[0] != variety:
            yield Fault("other-role", plain.line(flag.start()), plain.text[flag.start() : start] + word[0])


def _toothless(plain: Plain, asks: list[_Ask]) -> Iterator[Fault]:
    spoken_of = _GUARDRAIL.search(plain.text)
    if spoken_of is None or any(ask.is_blocker for ask in asks):
        return
    if _TOOL.search(plain.text) is None and _FIELD.search(plain.text) is None:
        yield Fault("guardrail-without-blocker", plain.line(spoken_of.start()))
