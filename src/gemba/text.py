"""Agents' text is data: what may be stored, and what may be shown on a terminal, how wide."""

from __future__ import annotations

import re
from unicodedata import category, east_asian_width

# C0 and C1 controls but newline and tab, and the marks that reorder what a reader sees, or cannot be seen at all.
_UNSHOWABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """The same text without NUL and lone surrogates, which no database takes; each becomes U+FFFD."""
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
