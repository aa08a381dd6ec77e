"""Text as a person would read it off a terminal: what a program printed, without what it told the terminal. Pure.

Linear in its input, whatever that is: agents print anything. Called for transcripts, by the backends and the API.
"""

from __future__ import annotations

import re

# A command string (title, hyperlink, …) up to its end, a control sequence, or any other escape; each may be cut off.
_ESCAPE = re.compile(
    "(?:\x1b[\\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\\\|\x9c)?"
    "|(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]?"
    "|\x1b[ -/]*[0-~]?"
)
_ERASED = re.compile("[^\n\b]\b")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def plain_text(data: bytes) -> str:
    text = _ERASED.sub("", _ESCAPE.sub("", data.decode("utf-8", "replace")))
    # A line that was drawn again and again, as a progress bar is, is what was drawn last.
    drawn = (line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return _CONTROL.sub("", "\n".join(drawn))
