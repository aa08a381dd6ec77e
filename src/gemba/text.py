"""Agents' text is data: what may be stored, and what may be shown on a terminal."""

from __future__ import annotations

import re

# C0 and C1 controls but newline and tab, and the marks that reorder what a reader sees.
_UNSHOWABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """The same text without NUL and lone surrogates, which no database takes; each becomes U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)


def showable(text: str) -> str:
    """Text that cannot drive a terminal: escape sequences and reordering marks become visible escapes."""
    return _UNSHOWABLE.sub(lambda match: f"\\x{ord(match[0]):02x}", text.replace("\r\n", "\n"))


def one_line(text: str, width: int) -> str:
    """The showable text on one line, cut to a width."""
    flat = " ".join(showable(text).split())
    return flat if len(flat) <= width else flat[: max(width - 1, 0)] + "…"
