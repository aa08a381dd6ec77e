"""A text as its reader takes it: small letters, one kind of dash and space, nothing that only decorates.

Quotes, backslashes, emphasis, marks without a width and the joins of split lines are gone, entities and escapes are
characters: one spelling is left of many. Each character knows its line. One pass, linear. Called by the linters.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape
from typing import NamedTuple
from unicodedata import category, normalize

# A character by its number, as JSON and shells have it; in a string within a string behind several backslashes.
_CODE = r"(?:u[0-9A-Fa-f]{4}|U000[0-9A-Fa-f]{5}|x[0-9A-Fa-f]{2})"
_PIECE = re.compile(
    r"(?P<joined>\\[ \t]*+\n)"
    r"|(?P<quoted>^[ \t]*+(?:>[ \t]?)++)"
    r"|(?P<entity>&\#?[A-Za-z0-9]{1,32}+;)"
    rf"|(?P<escape>\\{{1,8}}{_CODE})"
    rf"|(?P<dropped>(?:['\"`*]|\\(?!\\{{0,7}}{_CODE}))++)"
    r"|(?P<ascii>[^\\'\"`*&\n\x80-\U0010ffff]++)"
    r"|(?P<other>[\s\S])",
    re.MULTILINE,
)


class Plain(NamedTuple):
    text: str
    lines: list[int]

    def line(self, place: int) -> int:
        """The line of a character; of the end of the text, its last one."""
        return self.lines[min(place, len(self.lines) - 1)]


def plain_text(body: str, first_line: int) -> Plain:
    parts: list[str] = []
    lines: list[int] = []
    line = first_line
    for piece in _PIECE.finditer(body):
        kind, found = piece.lastgroup, piece[0]
        if kind == "ascii":
            text = found.lower()
        elif kind == "entity":
            text = "".join(map(_as_read, unescape(found)))
        elif kind == "escape":
            text = _escaped(found)
        elif kind == "other":
            text = _as_read(found)
        else:
            text = ""
        parts.append(text)
        lines.extend([line] * len(text))
        line += found.count("\n")
    return Plain("".join(parts), lines or [first_line])


def _escaped(found: str) -> str:
    """The character that an escape stands for; a space for what nobody sees, or what ends a line."""
    char = chr(int(found.lstrip("\\")[1:], 16))
    return _as_read(char) if char.isprintable() else " "


@lru_cache(4096)
def _as_read(char: str) -> str:
    """What a reader sees in a character: nothing, another one, or itself."""
    return "".join(map(_simple, normalize("NFKC", char)))


def _simple(char: str) -> str:
    match category(char):
        case "Pd":
            return "-"
        case "Zs":
            return " "
        case "Cf" | "Mn" | "Me" | "Pi" | "Pf":
            return ""
    return "-" if char == "\N{MINUS SIGN}" else "" if char in "'\"`*\\" else char.casefold()
