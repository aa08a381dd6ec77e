"""What people have left in a repository for later: marked comments, and open items of checklists. Pure but to read."""

from __future__ import annotations

import re
from typing import NamedTuple

from gemba.teams.programs.page import one_line
from gemba.teams.programs.tree import Tree, language_of

_MARK = re.compile(r"(?:#|//|/\*|--|<!--|;|\*)\s*(TODO|FIXME|XXX|HACK)\b[:\s(]*(.{0,300})")
_OPEN_ITEM = re.compile(r"^\s*[-*+] \[ \] (.{1,300})$")
_MOST = 2_000


class Note(NamedTuple):
    path: str
    line: int
    mark: str  # as it is written; `item`: of a checklist
    words: str


def notes_in(tree: Tree) -> list[Note]:
    """By file and line."""
    found: list[Note] = []
    for path in tree.paths:
        language = language_of(path)
        text = tree.text(path) if language is not None else None
        if text is None or not any(mark in text for mark in ("TODO", "FIXME", "XXX", "HACK", "[ ]")):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            note = _note(path, number, line[:1_000], is_prose=language == "Markdown")
            if note is not None:
                found.append(note)
        if len(found) >= _MOST:
            break
    return found[:_MOST]


def _note(path: str, number: int, line: str, *, is_prose: bool) -> Note | None:
    if is_prose and (item := _OPEN_ITEM.match(line)):
        return Note(path, number, "item", one_line(item[1], 160))
    if mark := _MARK.search(line):
        words = mark[2].strip().removesuffix("*/").removesuffix("-->").strip()
        return Note(path, number, mark[1], one_line(words, 160))
    return None
