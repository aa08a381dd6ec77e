"""The front matter of a file: parted from the body, its keys and values with their lines, and what is wrong with it.

Goes by the events of a YAML 1.2 parser, and never builds what a document says: no alias, merge, tag or nesting costs
more than its own characters, and none makes anything but a text. Any text at all is taken. Which keys there may be,
and what each may hold, is for whoever calls: the linters of skills and of role-specs.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
)
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.resolver import Resolver

from gemba.documents.finding import Fault
from gemba.toml import nearest, quoted

_MOST_CHARACTERS = 16_384
_MOST_BRACKETS = 64  # the parser looks at each open one again for every token
_DEEPEST = 3  # of what is kept; what lies below is passed

_FENCE = re.compile(r"^---[ \t]*$", re.MULTILINE)
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_CALLED = {
    "str": "a text",
    "null": "nothing",
    "bool": "true or false",
    "int": "a number",
    "float": "a number",
    "timestamp": "a date",
}


class Value(NamedTuple):
    """A value as it is written. `kind` says what it is: `a text`, `nothing`, `true or false`, `a number`, `a date`,
    `a list` (then it has items), `a table` (then it has pairs), or in words what else.
    """

    kind: str
    line: int
    text: str = ""
    items: tuple[Value, ...] = ()
    pairs: tuple[Pair, ...] = ()


class Pair(NamedTuple):
    """A key, None when it is no word, its line and its value."""

    key: str | None
    line: int
    value: Value


class FrontMatter(NamedTuple):
    """`body` is None where no front matter was found around it. `whole`: its form is right, so that what is not among
    the pairs is not there.
    """

    pairs: list[Pair]
    faults: list[Fault]
    body: str | None = None
    body_line: int = 1

    @property
    def whole(self) -> bool:
        return not self.faults


def read_front_matter(text: str) -> FrontMatter:
    """The front matter of a text whose lines end in \\n alone."""
    opening = _FENCE.match(text)
    if opening is None:
        return FrontMatter([], [Fault("front-matter-missing", 1)])
    start = opening.end() + 1
    closing = _FENCE.search(text, start)
    if closing is None:
        return FrontMatter([], [Fault("front-matter-unclosed", 1)])
    read = _Reader(text[start : closing.start()])
    first_line = min(text.count("\n", 0, closing.end()) + 2, text.count("\n") + 1)
    return FrontMatter(read.pairs, read.faults, text[closing.end() + 1 :], first_line)


def known_pairs(
    pairs: Iterable[Pair], keys: Collection[str], faults: list[Fault], spellings: Mapping[str, str] = {}
) -> dict[str, Pair]:
    """The first pair of each known key; of all else among them, a fault. `spellings` are other names of keys."""
    seen: dict[str, Pair] = {}
    for pair in pairs:
        if pair.key is None:
            faults.append(Fault("front-matter-shape", pair.line, "a table whose key is no word"))
            continue
        key = spellings.get(pair.key, pair.key)
        if key in seen:
            faults.append(Fault("key-twice", pair.line, f"{quoted(pair.key)}, first in line {seen[key].line},"))
            continue
        seen[key] = pair
        if key not in keys:
            faults.append(Fault("key-unknown", pair.line, quoted(pair.key) + nearest(pair.key[:80], keys)))
    return {key: pair for key, pair in seen.items() if key in keys}


class _Reader:
    """Reads the pairs of a YAML text that begins in the second line of its file."""

    def __init__(self, text: str) -> None:
        self.pairs: list[Pair] = []
        self.faults: list[Fault] = []
        self._ends = [place for place, char in enumerate(text) if char == "\n"]
        self._at = 0
        if len(text) > _MOST_CHARACTERS:
            self._fault(2, f"it has more than {_MOST_CHARACTERS:,} characters")
        elif sum(map(text.count, "[{")) > _MOST_BRACKETS:
            self._fault(2, f"it has more than {_MOST_BRACKETS} brackets")
        else:
            self._read(text)

    def _read(self, text: str) -> None:
        try:
            self._document(self._events(text))
        except MarkedYAMLError as error:
            self._fault(self._line(self._place_of(error, len(text))), str(error.problem))
        except ReaderError as error:
            self._fault(self._line(error.position), f"it has the character U+{error.character:04X}")
        except (YAMLError, ValueError, OverflowError, LookupError, AssertionError, AttributeError, TypeError) as error:
            # The parser's own slips, as over the escape of a character that does not exist.
            self._fault(self._line(self._at), f"it cannot be read ({type(error).__name__})")

    def _place_of(self, error: MarkedYAMLError, end: int) -> int:
        """Where a fault lies; of something that has no end, where it begins."""
        places = [mark.index for mark in (error.problem_mark, error.context_mark) if mark is not None]
        return next((place for place in places if place < end), self._at)

    def _events(self, text: str) -> Iterator[Event]:
        for event in YAML(typ="safe", pure=True).parse(text):
            self._at = event.start_mark.index
            yield event

    def _line(self, place: int) -> int:
        return bisect_left(self._ends, place) + 2

    def _fault(self, line: int, found: str, rule: str = "front-matter-yaml") -> None:
        self.faults.append(Fault(rule, line, found))

    def _document(self, events: Iterator[Event]) -> None:
        documents = 0
        for event in events:
            if isinstance(event, DocumentStartEvent):
                documents += 1
                if documents == 2:
                    self._fault(self._line(self._at), "a second document begins")
            elif isinstance(event, MappingStartEvent) and documents == 1:
                for pair in self._table(events, 1):
                    self.pairs.append(pair)
            elif isinstance(event, NodeEvent) and documents == 1:
                found = self._value(event, events, _DEEPEST)
                kind = found.kind if isinstance(event, CollectionStartEvent) else "a text"
                self._fault(found.line, kind, "front-matter-shape")

    def _table(self, events: Iterator[Event], depth: int) -> Iterator[Pair]:
        for event in events:
            if isinstance(event, MappingEndEvent):
                return
            line = self._line(self._at)
            key = event.value if isinstance(event, ScalarEvent) else None
            self._pass(event, events)
            yield Pair(key, line, self._value(next(events), events, depth))

    def _list(self, events: Iterator[Event], depth: int) -> Iterator[Value]:
        for event in events:
            if isinstance(event, CollectionEndEvent):
                return
            yield self._value(event, events, depth)

    def _value(self, event: Event, events: Iterator[Event], depth: int) -> Value:
        """What an event begins, with what is inside it."""
        line = self._line(self._at)
        if isinstance(event, AliasEvent):
            return Value("a reference to another value", line)
        if isinstance(event, ScalarEvent):
            return Value(_kind_of(event), line, event.value.strip())
        kind = "a table" if isinstance(event, MappingStartEvent) else "a list"
        if depth == _DEEPEST:
            self._pass(event, events)
            return Value(kind, line)
        if isinstance(event, MappingStartEvent):
            return Value(kind, line, pairs=tuple(self._table(events, depth + 1)))
        return Value(kind, line, items=tuple(self._list(events, depth + 1)))

    def _pass(self, event: Event, events: Iterator[Event]) -> None:
        """Go behind what an event begins."""
        depth = int(isinstance(event, CollectionStartEvent))
        while depth:
            inner = next(events)
            depth += isinstance(inner, CollectionStartEvent) - isinstance(inner, CollectionEndEvent)


def _kind_of(value: ScalarEvent) -> str:
    """By the tag that is written, else by the one that YAML 1.2 gives to a word without quotes."""
    if _UNPRINTABLE.search(value.value):
        return "a text with a character that cannot be shown"
    tag = str(value.tag or Resolver().resolve(ScalarNode, value.value, value.implicit))
    return _CALLED.get(tag.removeprefix("tag:yaml.org,2002:"), f"tagged {tag}")
