"""Permission dialogs of Claude Code in its terminal, as far as it is known for sure what a key does there. Pure.

Of the tools named here the client asks with a list that begins with `1. Yes`, and Escape refuses; that was tried with
the client itself (`tests/clients/test_dialogs.py`). Of any other tool, and of a dialog that looks otherwise, nothing is
known: there the first choice may mean more than this once. After a refusal the client tells of nothing, so whether the
dialog is gone is seen on its screen. Called where an operator's decision is put on its way, and by the keeper of runs.
"""

from __future__ import annotations

import re

REFUSAL = "Escape"

_TOOLS = frozenset({"Bash", "Edit", "Write"})
_KEYS = {"yes": "1", "no": REFUSAL}
_LOWEST = 15  # lines of the screen, where the list is; above it stands what the agent wants to do
_BESIDE = re.compile(r" *\u2502.*$", re.MULTILINE)  # a bar parts what the client shows beside the conversation
# The choice that Enter would take has an angle in front of it.
_LIST = re.compile(r"^ *(?:\u276f )?1\. Yes *$.*^ *Esc to cancel\b", re.MULTILINE | re.DOTALL)


def key_for(tool: str | None, decision: str | None) -> str | None:
    """The key that gives this decision, once and for nothing else; None where that is not known."""
    return _KEYS.get(decision or "") if tool in _TOOLS else None


def is_shown(screen: str) -> bool:
    """Whether a screen shows a dialog in which the keys mean what is said here."""
    lines = _BESIDE.sub("", screen).rstrip().split("\n")
    return _LIST.search("\n".join(lines[-_LOWEST:])) is not None
