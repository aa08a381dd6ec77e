"""The front matter of a skill: parted from the body, its keys with their lines, and everything wrong with its form.

Goes by the events of a YAML 1.2 parser, and never builds what a document says: no alias, merge, tag or nesting costs
more than its own characters, and none makes anything but a text. Any text at all is taken. Called by `lint`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
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
    SequenceStartEvent,
)
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.resolver import Resolver

from gemba.skills.skill import KEYS
from gemba.toml import nearest, quoted

_MOST_CHARACTERS = 16_384
_MOST_BRACKETS = 64  # the parser looks at each open one again for every token

_FENCE = re.compile(r"^---[ \t]*$", re.MULTILINE)
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_TEXT = "tag:yaml.org,2002:str"
_CALLED = {"bool": "true or false", "int": "a number", "float": "a number", "timestamp": "a date"}


class Value(NamedTuple):
    text: str
    line: int


class Fault(NamedTuple):
    """What is wrong, by the id of its rule."""

    rule: str
    line: int
    found: str = ""


class FrontMatter(NamedTuple):
    """`values` has the known keys that hold a text; `body` is None where no front matter was found around it."""

    values: dict[str, Value]
    faults: list[Fault]
    body: str | None = None
    body_line: int = 1


def read_front_matter(text: str) -> FrontMatter:
    """The front matter of a text whose lines end in \\n alone."""
    opening = _FENCE.match(text)
    if opening is None:
        return FrontMatter({}, [Fault("front-matter-missing", 1)])
    start = opening.end() + 1
    closing = _FENCE.search(text, start)
    if closing is None:
        return FrontMatter({}, [Fault("front-matter-unclosed", 1)])
    keys = _Keys(text[start : closing.start()])
    first_line = min(text.count("\n", 0, closing.end()) + 2, text.count("\n") + 1)
    return FrontMatter(keys.values, keys.faults, text[closing.end() + 1 :], first_line)


class _Keys:
    """Reads the keys of a YAML text that begins in the second line of its file."""

    def __init__(self, text: str) -> None:
        self.values: dict[str, Value] = {}
        self.faults: list[Fault] = []
        self._ends = [place for place, char in enumerate(text) if char == "\n"]
        self._seen: dict[str, int] = {}
        self._at = 0
        if len(text) > _MOST_CHARACTERS:
            self._fault("front-matter-yaml", 2, f"it has more than {_MOST_CHARACTERS:,} characters")
        elif sum(map(text.count, "[{")) > _MOST_BRACKETS:
            self._fault("front-matter-yaml", 2, f"it has more than {_MOST_BRACKETS} brackets")
        else:
            self._read(text)
        self._find_missing()

    def _read(self, text: str) -> None:
        try:
            self._document(self._events(text))
        except MarkedYAMLError as error:
            self._fault("front-matter-yaml", self._line(self._place_of(error, len(text))), str(error.problem))
        except ReaderError as error:
            self._fault(
                "front-matter-yaml", self._line(error.position), f"it has the character U+{error.character:04X}"
            )
        except (YAMLError, ValueError, OverflowError, LookupError, AssertionError, AttributeError, TypeError) as error:
            # The parser's own slips, as over the escape of a character that does not exist.
            self._fault("front-matter-yaml", self._line(self._at), f"it cannot be read ({type(error).__name__})")

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

    def _fault(self, rule: str, line: int, found: str) -> None:
        self.faults.append(Fault(rule, line, found))

    def _document(self, events: Iterator[Event]) -> None:
        documents = 0
        for event in events:
            if isinstance(event, DocumentStartEvent):
                documents += 1
                if documents == 2:
                    self._fault("front-matter-yaml", self._line(self._at), "a second document begins")
            elif isinstance(event, MappingStartEvent) and documents == 1:
                self._mapping(events)
            elif isinstance(event, NodeEvent) and documents == 1:
                self._fault("front-matter-shape", self._line(self._at), _kind_of(event))
                self._skip(event, events)

    def _mapping(self, events: Iterator[Event]) -> None:
        for event in events:
            if isinstance(event, MappingEndEvent):
                return
            line = self._line(self._at)
            key = event.value if isinstance(event, ScalarEvent) else None
            self._skip(event, events)
            value = next(events)
            self._pair(key, line, value, self._line(self._at))
            self._skip(value, events)

    def _skip(self, event: Event, events: Iterator[Event]) -> None:
        """Pass what is inside a list or a table."""
        depth = int(isinstance(event, CollectionStartEvent))
        while depth:
            inner = next(events)
            depth += isinstance(inner, CollectionStartEvent) - isinstance(inner, CollectionEndEvent)

    def _pair(self, key: str | None, line: int, value: Event, value_line: int) -> None:
        if key is None:
            self._fault("front-matter-shape", line, "a table whose key is no word")
        elif key in self._seen:
            self._fault("key-twice", line, f"{quoted(key)}, first in line {self._seen[key]},")
        elif key not in KEYS:
            self._seen[key] = line
            self._fault("key-unknown", line, quoted(key) + nearest(key[:80], KEYS))
        else:
            self._seen[key] = line
            self._value(key, line, value, value_line)

    def _value(self, key: str, line: int, value: Event, value_line: int) -> None:
        wrong = _not_text(value)
        if wrong is not None:
            self._fault("key-not-text", value_line, f"{key} {wrong}")
        elif isinstance(value, ScalarEvent) and (text := value.value.strip()) and _tag_of(value) == _TEXT:
            self.values[key] = Value(text, line)
        else:
            self._fault("key-missing", line, key)

    def _find_missing(self) -> None:
        if not self.faults or all(fault.rule.startswith("key-") for fault in self.faults):
            for key in KEYS:
                if key not in self._seen:
                    self._fault("key-missing", 1, key)


def _not_text(value: Event) -> str | None:
    """What a value is that is neither a text nor nothing."""
    if isinstance(value, AliasEvent):
        return "refers to another value"
    if not isinstance(value, ScalarEvent):
        return f"is {_kind_of(value)}"
    if _UNPRINTABLE.search(value.value):
        return "has a character that cannot be shown"
    tag = _tag_of(value)
    kind = tag.rpartition(":")[2]
    return None if tag == _TEXT or kind == "null" else f"is {_CALLED.get(kind, f'tagged {tag}')}"


def _tag_of(value: ScalarEvent) -> str:
    """The tag that is written, else the one that YAML 1.2 gives to a word without quotes."""
    return str(value.tag or Resolver().resolve(ScalarNode, value.value, value.implicit))


def _kind_of(event: Event) -> str:
    if isinstance(event, SequenceStartEvent):
        return "a list"
    return "a table" if isinstance(event, MappingStartEvent) else "a text"
