"""What a skill never does, whatever its variety: look at the mode, write frames by hand, ask in another way.

A table of patterns over the plain body. Called by `lint`; linear in the body.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gemba.documents.finding import Fault
from gemba.documents.plain import Plain

_MODES = "(?:dangerous|balanced|cautious)"

_NEVER = (
    ("branches-on-mode", r"gemba_interaction_mode"),
    ("branches-on-mode", rf"\b{_MODES}[ -]mode\b"),
    ("branches-on-mode", rf"\bmode\b\}}?(?:\s(?:is|in|of|equals))?[\s=:!]{{0,10}}{_MODES}\b"),
    ("hand-written-frame", r"\bgemba(?:ask|state|replyread|skilloutput|handoff)\b"),  # the names of hooks
    ("hand-written-frame", r"(?:gemba_home\}?|\.gemba)/{1,3}(?:sessions|replies|turns)\b"),
    ("hand-written-frame", r"\bsessions/[^\s/]{1,200}\.jsonl"),
    ("other-capture", r"\baskuserquestion\b"),
    ("other-capture", r"/dev/tty\b"),
    ("other-capture", r"\bread[ \t]{1,8}-[a-z]{0,4}p\b"),
    ("other-capture", r"\binput\("),
    ("other-capture", r"\b(?:questions|blockers)\.(?:md|txt|json)\b"),
    ("other-capture", r"/api/escalations\b"),
)

_PATTERNS = tuple((rule, re.compile(pattern)) for rule, pattern in _NEVER)


def conduct_faults(plain: Plain) -> Iterator[Fault]:
    for rule, pattern in _PATTERNS:
        for found in pattern.finditer(plain.text):
            yield Fault(rule, plain.line(found.start()), found[0])
