"""An artifact as it is read: headings, prose, code blocks, and the files, tasks and artifacts that it names. Pure.

Any text is a page; what is no Markdown is prose. One pass, time linear in the text. Called by `seen.py`, and by
`looking.py` for the files to look for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(\S.*))?$")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_CODE = re.compile(r"`([^`\n]{1,300})`")
_LINK = re.compile(r"\]\(([^()\s]{1,300})\)")
_PATH = re.compile(r"(?:\./)?((?:[\w.@+-]+/)*[\w.@+-]*[\w@+-]\.\w{1,10})(?:(?::|#L)(\d{1,9})(?:[-:]L?\d{1,9})?)?")
_TASK = re.compile(r"(?<![\w-])([A-Z][A-Z0-9]*(?:-[A-Z][A-Z0-9]*)*)-(\d{3,9})(?!\d)(-[\w.-]{1,200}\.md\b)?")
# A path in such a line, or under such a heading, is not said to be there.
_NOT_SAID = re.compile(
    r"\b(?:new|creates?|adds?|introduces?|propos\w*|would|will|should|could|shall|may|might|missing|absent|lacks?|not"
    r"|no|without|never|nothing|deleted?|removed?|renamed?|former\w*|examples?|e\.g|such as|instance|later|plan\w*"
    r"|future|next|todo|generated?|ignored?|optional\w*|instead|if|recommend\w*|suggest\w*|template|placeholder)\b|n't\b",
    re.IGNORECASE,
)
_FRONT_MATTER = 200  # lines at most


class Line(NamedTuple):
    text: str
    fenced: bool
    section: str  # the heading above it


class Heading(NamedTuple):
    level: int
    text: str
    at: int  # how many lines of the page stand before it


class FileMention(NamedTuple):
    """A path as the page writes it; `said`: it speaks of it as of something that is there."""

    path: str
    line: int | None
    said: bool


class TaskMention(NamedTuple):
    task: str
    artifact: str | None


class Page:
    """One text. `lines` has no headings in it; `is_open`: its last code block never closes."""

    def __init__(self, text: str) -> None:
        self.lines: list[Line] = []
        self.headings: list[Heading] = []
        self.is_open = False
        self._read(_without_front_matter(text.splitlines()))

    @property
    def prose(self) -> Iterator[Line]:
        return (line for line in self.lines if not line.fenced)

    def blocks(self) -> list[str]:
        """What stands between blank lines and headings."""
        found: list[list[str]] = [[]]
        starts = {heading.at for heading in self.headings}
        for at, line in enumerate(self.lines):
            if at in starts or not line.text.strip():
                found.append([])
            if line.text.strip():
                found[-1].append(line.text)
        return ["\n".join(block) for block in found if block]

    def empty_sections(self) -> list[str]:
        """Headings with nothing below them but the next heading of their level or of a higher one, or the end."""
        found = []
        filled = [bool(line.text.strip()) for line in self.lines]
        ends = [*self.headings[1:], Heading(0, "", len(self.lines))]
        for heading, following in zip(self.headings, ends, strict=False):
            if following.level <= heading.level and not any(filled[heading.at : following.at]):
                found.append(heading.text)
        return found

    def files(self) -> Iterator[FileMention]:
        """Paths in code spans and links; of a name without a folder only where it is linked to."""
        for line in self.prose:
            said = not _NOT_SAID.search(_CODE.sub(" ", line.text)) and not _NOT_SAID.search(line.section)
            for found, linked in ((_CODE, False), (_LINK, True)):
                for part in found.findall(line.text):
                    path = _PATH.fullmatch(part.strip())
                    if path is not None and ".." not in path[1] and (linked or "/" in path[1]):
                        yield FileMention(path[1], int(path[2]) if path[2] else None, said)

    def tasks(self) -> Iterator[TaskMention]:
        for line in self.prose:
            for prefix, number, rest in _TASK.findall(line.text):
                task = f"{prefix}-{number}"
                yield TaskMention(task, task + rest if rest else None)

    def _read(self, lines: list[str]) -> None:
        fence, section = "", ""
        for text in lines:
            opening = _FENCE.match(text)
            if fence:
                closes = opening is not None and opening[1].startswith(fence) and not text[opening.end() :].strip()
                self.lines.append(Line(text, True, section))
                fence = "" if closes else fence
            elif opening is not None:
                fence = opening[1]
                self.lines.append(Line(text, True, section))
            elif (found := _HEADING.match(text)) is not None:
                section = self._head(len(found[1]), found[2] or "")
            elif _UNDERLINE.match(text) and self._stands_below_text():
                section = self._head(1 if "=" in text else 2, self.lines.pop().text)
            else:
                self.lines.append(Line(text, False, section))
        self.is_open = bool(fence)

    def _head(self, level: int, text: str) -> str:
        words = text.strip().rstrip("#").strip()
        self.headings.append(Heading(level, words, len(self.lines)))
        return words

    def _stands_below_text(self) -> bool:
        if not self.lines or (self.headings and self.headings[-1].at == len(self.lines)):
            return False
        above = self.lines[-1]
        return (
            bool(above.text.strip()) and not above.fenced and not above.text.lstrip().startswith(("|", "-", "*", ">"))
        )


def without_code(text: str) -> str:
    """A line of prose without its code spans."""
    return _CODE.sub(" ", text)


def _without_front_matter(lines: list[str]) -> list[str]:
    if lines and lines[0].strip() == "---":
        for at, line in enumerate(lines[1:_FRONT_MATTER], 1):
            if line.strip() == "---":
                return lines[at + 1 :]
    return lines
