"""Agents' text is data: what may be stored, what may be shown on a terminal, how wide; and a command to the letter.

What a person approves is what runs: `to_the_letter` and `framed` hide, fold and lose nothing of a command, and no text
of it can leave its frame. The page says the same in `web/src/approvals/letters.ts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import category, east_asian_width

# C0 and C1 controls but newline and tab, and the marks that reorder what a reader sees, or cannot be seen at all.
_UNSHOWABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
# Letters and marks that have no glyph; every other one that has none is of a category C or Z.
_NO_GLYPH = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
_EDGE_SPACES = re.compile("^ +| +$")


def storable(text: str) -> str:
    """The same text without NUL and lone surrogates, which no database takes; each becomes U+FFFD."""
    if text.isascii() and "\0" not in text:  # as nearly all are
        return text
    return _UNSTORABLE.sub("\ufffd", text)


def showable(text: str) -> str:
    """Text that cannot drive a terminal: escape sequences and reordering marks become visible escapes."""
    return _UNSHOWABLE.sub(_escape, text.replace("\r\n", "\n"))


def showable_json(document: str) -> str:
    """The same JSON document, with the escapes that keep it from driving a terminal; it still says the same."""
    return _UNSHOWABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", document)


def cells(text: str) -> int:
    """How many columns of a terminal a showable text takes."""
    return sum(0 if category(char) in ("Mn", "Me", "Cf") else 1 + (east_asian_width(char) in "WF") for char in text)


def one_line(text: str, width: int) -> str:
    """The showable text on one line, cut to a width."""
    flat = " ".join(showable(text).split())
    return flat if cells(flat) <= width else _head(flat, width - 1) + "…"


def fold(text: str, width: int) -> list[str]:
    """The showable text in lines of at most a width, broken between words where there is a place to."""
    width = max(width, 1)
    lines: list[str] = []
    for line in showable(text).expandtabs(4).splitlines():
        rest = line.rstrip()
        while cells(rest) > width:
            head = _head(rest, width) or rest[0]
            broken = rest[: len(head) + 1].rpartition(" ")[0].rstrip() or head
            lines.append(broken)
            rest = rest[len(broken) :].lstrip()
        lines.append(rest)
    return lines


def to_the_letter(command: str) -> str:
    """A command as it would run: what cannot be seen by name, `↵` at the end of a line, `·` for a space at an edge."""
    return "↵\n".join("".join(map(_named, _with_edges(line))) for line in command.split("\n"))


def letters_in_line(command: str, width: int | None = None) -> str:
    """The same on one line, for a list; cut to a width with a mark that there is more."""
    flat = to_the_letter(command).replace("\n", "")
    return flat if width is None or cells(flat) <= width else _head(flat, width - 1) + "…"


def framed(command: str, width: int | None = None) -> list[str]:
    """A command to the letter, each of its lines behind `│`; what a width continues below stands behind `┊`."""
    lines = to_the_letter(command).split("\n")
    if len(lines) > 1 and not lines[-1]:
        lines.pop()  # the end of the line before says so
    rows = [list(_rows(line, width - 2)) if width is not None else [line] for line in lines]
    return [f"{'┊' if place else '│'} {row}".rstrip() for line in rows for place, row in enumerate(line)]


def _rows(line: str, room: int) -> Iterator[str]:
    """A line in rows, broken behind a space where there is one; nothing is lost, a space at an edge is seen."""
    start = used = behind_space = 0
    for place, char in enumerate(line):
        size = _most_cells(char)
        if used + size > room and place > start:
            end = behind_space if behind_space > start else place
            yield _with_edges(line[start:end])
            start, used = end, sum(map(_most_cells, line[end:place]))
        used += size
        if char == " ":
            behind_space = place + 1
    yield _with_edges(line[start:])


def _most_cells(char: str) -> int:
    """The columns that a character takes at most: terminals differ in what they draw two columns wide."""
    return 1 if char.isascii() else 0 if not cells(char) else 2


def _with_edges(line: str) -> str:
    return _EDGE_SPACES.sub(lambda found: "·" * len(found[0]), line)


def _named(char: str) -> str:
    if " " <= char <= "~":
        return char
    if char == "\t":
        return "⇥"
    if char < " ":
        return chr(0x2400 + ord(char))  # Unicode has a picture for each of them
    return f"⟨U+{ord(char):04X}⟩" if category(char)[0] in "CZ" or _NO_GLYPH.match(char) else char


def _head(text: str, width: int) -> str:
    """As many of the first characters as fit."""
    used = 0
    for place, char in enumerate(text):
        used += cells(char)
        if used > width:
            return text[:place]
    return text


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
