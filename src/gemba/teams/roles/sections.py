"""The body of a role-spec as sections: its headings, what stands below each, items, tables and labelled lines.

What is masked (the traits, code in fences) is nobody's: it has its lines and no content. One pass over the lines, and
one over each section that is asked for. Pure; called by `outline` and `validate`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_ITEM = re.compile(r" ?(?:[-*+]|\d{1,3}[.)])[ \t]{1,8}(?=\S)")
_SUB_ITEM = re.compile(r"[ \t]{1,12}(?:[-*+]|\d{1,3}[.)])[ \t]{1,8}(?=\S)")
_FENCE = re.compile(r"[ \t]*+(?:(?:>|[-*+]|\d{1,3}[.)])[ \t]*+)*+(`{3,}+|~{3,}+)")
_LABEL = re.compile(r"[ \t]{0,3}(?:[-*+][ \t]{1,4})?(?:\*\*|__)?([A-Z][a-z]{1,20})(?:\*\*|__)?:(?:\*\*|__)?")
_CELL_END = re.compile(r"(?<!\\)\|")
_RULE_CELL = re.compile(r":?-{1,80}:?")


class Line(NamedTuple):
    number: int
    text: str


class Heading(NamedTuple):
    level: int
    title: str
    line: int
    at: int  # in the list of lines


class Sections:
    """The lines of a body, its headings, and what stands between them."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = lines
        self.headings = list(_headings(lines))

    def below(self, heading: Heading) -> Sequence[Line]:
        """The lines of a section, with those of the sections inside it."""
        above = (each for each in self.headings if each.at > heading.at and each.level <= heading.level)
        end = next(above, None)
        return self.lines[heading.at + 1 : len(self.lines) if end is None else end.at]


def _headings(lines: Sequence[Line]) -> Iterator[Heading]:
    for at, line in enumerate(lines):
        found = _HEADING.match(line.text)
        if found is not None:
            title = line.text[found.end() :].strip()
            closed = title.rstrip("#")
            yield Heading(len(found[1]), closed.rstrip() if closed.endswith((" ", "\t")) else title, line.number, at)


def fenced(lines: Iterable[str]) -> Iterator[bool]:
    """Whether each line is part of a block of code, its fences among them."""
    mark = ""
    for line in lines:
        found = _FENCE.match(line)
        if mark:
            yield True
            if found is not None and found[1].startswith(mark):
                mark = ""
        else:
            mark = found[1] if found is not None else ""
            yield found is not None


def items(lines: Sequence[Line]) -> list[str]:
    """The items of the lists there, each on one line with what it has below it."""
    found: list[list[str]] = []
    for line in lines:
        item = _ITEM.match(line.text)
        if item is not None:
            found.append([line.text[item.end() :]])
        elif found and line.text.strip():
            found[-1].append(line.text)
    return [" ".join(" ".join(parts).split()) for parts in found]


def labelled(lines: Sequence[Line], label: str) -> tuple[str, ...] | None:
    """What a line `Label: …` names: the rest of it up to each comma, or the items below; None where there is no such
    line, nothing where it names nothing.
    """
    for at, line in enumerate(lines):
        found = _LABEL.match(line.text)
        if found is None or found[1] != label:
            continue
        rest = line.text[found.end() :].strip()
        if rest:
            return tuple(part for part in (piece.strip(" .`") for piece in rest.split(",")) if part)
        return tuple(_items_below(lines[at + 1 :]))
    return None


def _items_below(lines: Iterable[Line]) -> Iterator[str]:
    for line in lines:
        item = _ITEM.match(line.text) or _SUB_ITEM.match(line.text)
        if item is not None:
            yield line.text[item.end() :].strip()
        elif line.text.strip():
            return


def label_of(line: str) -> str | None:
    """The label that a line begins with."""
    found = _LABEL.match(line)
    return None if found is None else found[1]


def rows_of_table(lines: Sequence[Line], columns: Sequence[str]) -> list[list[str]] | None:
    """The rows of the first table whose columns have these names; None where there is none."""
    for at, line in enumerate(lines[:-1]):
        if "|" in line.text and [cell.strip("*_ ").casefold() for cell in _cells(line.text)] == list(columns):
            rule = _cells(lines[at + 1].text)
            if len(rule) == len(columns) and all(map(_RULE_CELL.fullmatch, rule)):
                return list(_rows(lines[at + 2 :]))
    return None


def _rows(lines: Iterable[Line]) -> Iterator[list[str]]:
    for line in lines:
        if "|" not in line.text:
            return
        yield _cells(line.text)


def _cells(row: str) -> list[str]:
    cells = [cell.strip() for cell in _CELL_END.split(row.strip())]
    start = 1 if cells and not cells[0] else 0
    end = len(cells) - 1 if len(cells) > 1 and not cells[-1] else len(cells)
    return cells[start:end]
