"""Judges the lines of a consult one by one, as they arrive, in however many calls.

A line is validated, or it is a LineError with the rule that it broke and the reason. A refused line changes nothing for
its neighbours: what the others are compared with are the lines that were taken. What is wrong with the whole (no
strategy, no summary, a number that the end shows to be wrong) is an OrderError of `finish`. Nothing is ever added.

The lines of a skill are given as a Grammar: their types in the order in which they come, and the rules, as data. The
same lines get the same verdict, so that a judge can be made again from what was stored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from gemba.errors import Invalid
from gemba.fit import fit
from gemba.toml import quoted

Line = msgspec.Struct
S = TypeVar("S", bound="Seen")


class LineError(msgspec.Struct, frozen=True):
    """A line that was not taken: its place among all that arrived (from 0), itself, the rule and why."""

    index: int
    raw: Any
    rule: str
    reason: str


class LineNote(msgspec.Struct, frozen=True):
    """Something about a line that was taken: fields of it that nobody knows were dropped."""

    index: int
    note: str


class OrderError(msgspec.Struct, frozen=True):
    """Something that is wrong with the lines as a whole."""

    rule: str
    reason: str


class Seen:
    """What the rules of a skill know of the lines so far; a skill with rules of its own adds to it."""

    def __init__(self) -> None:
        self.phase = 0  # of the last line that was taken
        self.counts: dict[type[Line], int] = {}  # of those that were taken

    def arrived(self, kind: type[Line], raw: dict[str, Any]) -> None:
        """A line of this type was sent, whatever becomes of it."""

    def take(self, line: Line, phase: int) -> None:
        self.phase = phase
        self.counts[type(line)] = self.counts.get(type(line), 0) + 1

    def refuse(self, kind: type[Line], raw: dict[str, Any]) -> None:
        """The line of this type was not taken."""

    def kept(self, line: Line) -> Line:
        """A line that is taken, as it is kept: itself, unless a part of it follows from the lines before."""
        return line


class Rule(NamedTuple):
    """A rule on lines of some types: `broken` says why a line breaks it."""

    id: str
    kinds: tuple[type[Line], ...]
    sentence: str
    broken: Callable[[Any, Any], str | None]  # of what was seen and the line


class WholeRule(NamedTuple):
    """A rule on all lines together, asked at the end: `faults` are the reasons why it is broken."""

    id: str
    sentence: str
    faults: Callable[[Any], Iterable[str]]  # of what was seen


class Grammar(NamedTuple):
    """The lines of a skill: types by phase, in the order of the phases, and the rules. The first phase and the last
    have one line each.
    """

    phases: tuple[tuple[type[Line], ...], ...]
    rules: tuple[Rule, ...] = ()
    whole: tuple[WholeRule, ...] = ()

    @property
    def kinds(self) -> tuple[type[Line], ...]:
        return tuple(kind for phase in self.phases for kind in phase)


SHAPE = "shape"
TYPE = "type"
ORDER = "order"
MISSING = "missing"


class Judge(Generic[S]):
    """The verdicts on one consult's lines. `validated`, `line_errors` and `notes` hold them in the order of arrival."""

    def __init__(self, grammar: Grammar, seen: S) -> None:
        self.seen = seen
        self.validated: list[Line] = []
        self.line_errors: list[LineError] = []
        self.notes: list[LineNote] = []
        self._grammar = grammar
        self._index = 0
        self._phase_of = {kind: place for place, phase in enumerate(grammar.phases) for kind in phase}
        self._kinds = {tag_of(kind): kind for kind in self._phase_of}
        self._rules = {kind: [rule for rule in grammar.rules if kind in rule.kinds] for kind in self._phase_of}

    def receive(self, raw: Any) -> Line | LineError:
        """The verdict on the next line: the line as it is taken, or the error."""
        index, self._index = self._index, self._index + 1
        document = _opened(raw)
        kind = self._kinds.get(_type_in(document) or "")
        if kind is None:
            return self._refused(index, raw, *self._no_kind(document))
        self.seen.arrived(kind, document)
        fault, line = self._verdict(kind, document)
        if fault is not None or line is None:
            self.seen.refuse(kind, document)
            return self._refused(index, raw, *(fault or (SHAPE, "this is no line")))
        line = self.seen.kept(line)
        self.seen.take(line, self._phase_of[kind])
        self.validated.append(line)
        if dropped := sorted(_unknown(document, kind)):
            names = ", ".join(quoted(name) for name in dropped[:10])
            self.notes.append(LineNote(index, f"unknown fields were dropped: {names}"))
        return line

    def refuse(self, raw: Any, rule: str, reason: str) -> LineError:
        """A line that is not taken for a reason that lies outside of the lines; it is counted, and nothing else."""
        index, self._index = self._index, self._index + 1
        return self._refused(index, raw, rule, reason)

    @property
    def is_complete(self) -> bool:
        """The last line is in."""
        return any(self.seen.counts.get(kind) for kind in self._grammar.phases[-1])

    def receive_all(self, lines: Iterable[Any]) -> list[Line | LineError]:
        return [self.receive(line) for line in lines]

    def finish(self) -> list[OrderError]:
        """What is wrong with the whole, now that no further line comes. May be asked at any time, and again."""
        errors = []
        for kind in (*self._grammar.phases[0], *self._grammar.phases[-1]):
            if not self.seen.counts.get(kind):
                word = tag_of(kind)
                was_refused = any(_type_in(_opened(error.raw)) == word for error in self.line_errors)
                errors.append(OrderError(MISSING, f"no {word} {'was taken' if was_refused else 'came'}"))
        errors += [OrderError(rule.id, fault) for rule in self._grammar.whole for fault in rule.faults(self.seen)]
        return errors

    def _verdict(self, kind: type[Line], document: Any) -> tuple[tuple[str, str] | None, Line | None]:
        try:
            line = fit(document, kind, whole="the line")
            msgspec.json.encode(line)
        except Invalid as error:
            allowed = f"; allowed: {error.allowed}" if error.allowed is not None else ""
            return (SHAPE, f"{error.message}{allowed}"), None
        except UnicodeEncodeError:
            return (SHAPE, "a text has a character that no text may have"), None
        if fault := self._misplaced(kind):
            return (ORDER, fault), None
        for rule in self._rules[kind]:
            if fault := rule.broken(self.seen, line):
                return (rule.id, fault), None
        return None, line

    def _misplaced(self, kind: type[Line]) -> str | None:
        phase, last = self._phase_of[kind], len(self._grammar.phases) - 1
        word = tag_of(kind)
        if self.seen.counts.get(kind) and phase in (0, last):
            return f"there is a {word} already, and there is one only"
        if phase == 0 and self.validated:
            return f"the {word} is the first line"
        if self.seen.phase == last:
            return "nothing comes after the summary"
        if phase < self.seen.phase:
            names = " and ".join(f"{tag_of(each)}s" for each in self._grammar.phases[self.seen.phase])
            return f"a {word} does not come after {names}"
        return None

    def _no_kind(self, document: Any) -> tuple[str, str]:
        if not isinstance(document, dict):
            return SHAPE, "a line is an object"
        allowed = ", ".join(self._kinds)
        found = _type_in(document)
        if found is None:
            return TYPE, f"type is {'missing' if 'type' not in document else 'no text'}; allowed: {allowed}"
        return TYPE, f"no line of this skill is of the type {quoted(found)}; allowed: {allowed}"

    def _refused(self, index: int, raw: Any, rule: str, reason: str) -> LineError:
        error = LineError(index, _keepable(raw), rule, reason)
        self.line_errors.append(error)
        return error


@cache
def tag_of(kind: type[Line]) -> str:
    """What a line of this type has as its `type`."""
    return str(kind.__struct_config__.tag)


@cache
def _fields(kind: type[Line]) -> frozenset[str]:
    return frozenset({"type", *kind.__struct_encode_fields__})


def _unknown(document: dict[str, Any], kind: type[Line]) -> set[str]:
    unknown = {str(name) for name in document if name not in _fields(kind)}
    action = document.get("suggested_action")
    if isinstance(action, dict):
        unknown |= {f"suggested_action.{name}" for name in action if name not in ("verb", "path", "body")}
    return unknown


def _opened(raw: Any) -> Any:
    """A line that came as the text of an object is that object."""
    if isinstance(raw, str) and raw.lstrip().startswith("{"):
        try:
            return msgspec.json.decode(raw)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return raw
    return raw


def _type_in(document: Any) -> str | None:
    found = document.get("type") if isinstance(document, dict) else None
    return found if isinstance(found, str) else None


def _keepable(raw: Any) -> Any:
    """The line as it came, or as text with escapes where JSON in UTF-8 could not hold it."""
    try:
        msgspec.json.encode(raw)
    except (UnicodeEncodeError, OverflowError, TypeError, RecursionError, ValueError):
        try:
            return json.dumps(raw, default=str)
        except (ValueError, RecursionError):
            return "a line that cannot be kept"
    return raw
