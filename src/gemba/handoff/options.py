"""The options that an agent lists when it needs input: the list at the end of its words. Pure, total and linear.

Only what is a list beyond doubt becomes options: asked for before it, one kind of mark in its order, and nothing behind
it. They are offered beside an answer in other words. Called where a handoff is accepted.
"""

from __future__ import annotations

import re

from gemba import wire

FEWEST, MOST = 2, 9
_ASKS = ("?", ":")
_OPEN = (":", "…", "...")  # how an item ends that asks for words
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?P<mark>[-*](?=[ \t])|[1-9a-iA-I](?=[.)]))(?P<end>[.)]?)[ \t]+(?P<words>\S.*)")
_ORDERS = ("-" * MOST, "*" * MOST, "123456789", "abcdefghi", "ABCDEFGHI")


def options_in(text: str, said_before: str = "") -> list[str]:
    """The options in the order of the list, none where it may be something else; `said_before` is what a person reads
    right before this text."""
    lines = [line for raw in text.splitlines() if (line := raw.rstrip())]
    found: list[re.Match[str]] = []
    while lines and len(found) <= MOST and (item := _ITEM.fullmatch(lines[-1])):
        found.append(item)
        lines.pop()
    found.reverse()
    asking = lines[-1] if lines else said_before.rstrip()
    if not FEWEST <= len(found) <= MOST or not asking.endswith(_ASKS) or not _is_one_list(found):
        return []
    options = [item["words"] for item in found]
    return options if _can_be_chosen(options) else []


def _is_one_list(found: list[re.Match[str]]) -> bool:
    marks = "".join(item["mark"] for item in found)
    looks = {(item["indent"], item["end"]) for item in found}
    return len(looks) == 1 and any(order.startswith(marks) for order in _ORDERS)


def _can_be_chosen(options: list[str]) -> bool:
    """Each is short enough for a choice, an answer by itself, and another one than the rest."""
    if any(len(option) > wire.MAX_OPTION or option.endswith(_OPEN) for option in options):
        return False
    return len({option.casefold() for option in options}) == len(options)
