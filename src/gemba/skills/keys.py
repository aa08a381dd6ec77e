"""The keys of a skill's front matter: each with a text, all of them, no other. Called by `lint`."""

from __future__ import annotations

from typing import NamedTuple

from gemba.documents.finding import Fault
from gemba.documents.front_matter import FrontMatter, known_pairs
from gemba.skills.skill import KEYS


class Text(NamedTuple):
    """What a key holds, and the key's line."""

    text: str
    line: int


def texts_of(front: FrontMatter) -> tuple[dict[str, Text], list[Fault]]:
    """The known keys that hold a text, and everything wrong with the front matter."""
    faults = list(front.faults)
    pairs = known_pairs(front.pairs, KEYS, faults)
    texts: dict[str, Text] = {}
    for key, pair in pairs.items():
        value = pair.value
        if value.kind == "a text" and value.text:
            texts[key] = Text(value.text, pair.line)
        elif value.kind in ("a text", "nothing"):
            faults.append(Fault("key-missing", pair.line, key))
        else:
            faults.append(Fault("key-not-text", value.line, f"{key} is {value.kind}"))
    if front.body is not None and all(fault.rule.startswith("key-") for fault in faults):
        faults += [Fault("key-missing", 1, key) for key in KEYS if key not in pairs]
    return texts, faults
