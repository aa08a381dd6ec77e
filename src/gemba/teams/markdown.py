"""Words of people and agents as a part of a line of Markdown: they are read as they were written, and are no markup.

Called by whoever composes a page from them.
"""

from __future__ import annotations

import re

from gemba.text import one_line

# What can begin markup inside of a line. An underscore does so only at the edge of a word.
_MARKUP = re.compile(r"[\\`*\[<|~]|&(?=[#A-Za-z])|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")


def literal(text: str, width: int) -> str:
    """On one line, cut to a width, with everything escaped that Markdown would take for its own."""
    return _MARKUP.sub(lambda found: f"\\{found[0]}", one_line(text, width))
