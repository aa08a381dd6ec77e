"""A skill's body as its reader takes it: small letters, one kind of dash and space, nothing that only decorates.

Quotes, backslashes, emphasis, marks without a width and the joins of split lines are gone, entities are characters: one
spelling is left of many. Each character knows its line. One pass, linear. Called by `asks` and `conduct`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape
from typing import NamedTuple
from unicodedata import category, normalize

_PIECE = re.compile(
    r"(?P<joined>\\[ \t]*+\n)"
    r"|(?P<quoted>^[ \t]*+(?:>[ \t]?)++)"
    r"|(?P<entity>&\#?[A-Za-z0-9]{1,32}+;)"
    r"|(?P<dropped>[\\'\"`*]++)"
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
        elif kind == "other":
            text = _as_read(found)
        else:
            text = ""
        parts.append(text)
        lines.extend([line] * len(text))
        line += found.count("\n")
    return Plain("".join(parts), lines or [first_line])


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
