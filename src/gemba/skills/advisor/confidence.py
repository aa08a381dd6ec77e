"""How sure the advisor is that an epic belongs where it stands, from what is known of it.

It starts at `BASE`, what an order by dependencies alone deserves. Every signal that is there adds its part, and every
doubt takes a share away: with everything known and no doubt it ends below 1, since no planner knows the work.
"""

from __future__ import annotations

from typing import NamedTuple

from gemba.skills.advisor.facts import Facts
from gemba.skills.advisor.velocity import ENOUGH

BASE = 0.45
LEAST = 0.05
KNOWN = {
    "estimate": 0.15,
    "paths": 0.15,
    "relations": 0.10,
    "velocity": 0.10,
}
DOUBTS = {
    "escalation": 0.8,
    "unknown dependency": 0.85,
    "larger than anything finished": 0.85,
}
_A_LEVEL = 0.98  # what is further down the chain depends on more that can turn out otherwise
_FAR = 3  # times the largest that was finished


class Confidence(NamedTuple):
    """The number, what it lacks and what it doubts."""

    value: float
    missing: tuple[str, ...]
    doubts: tuple[str, ...]


def confidence_in(id: str, facts: Facts) -> Confidence:
    epic = facts.epics[id]
    known = {
        "estimate": epic.estimated_tokens is not None,
        "paths": bool(epic.file_space_signature),
        "relations": bool(facts.depends[id] or facts.after[id]),
        "velocity": facts.velocity.completions >= ENOUGH,
    }
    strange = any(each not in facts.epics for each in epic.depends_on_epics or ())
    most = facts.velocity.most_tokens
    doubted = {
        "escalation": id in facts.escalations,
        "unknown dependency": strange,
        "larger than anything finished": bool(most and epic.tokens > _FAR * most),
    }
    value = BASE + sum(KNOWN[name] for name, is_known in known.items() if is_known)
    for name, is_doubted in doubted.items():
        value *= DOUBTS[name] if is_doubted else 1.0
    value *= _A_LEVEL ** min(facts.levels[id], 10)
    return Confidence(
        round(max(LEAST, value), 2),
        tuple(name for name, is_known in known.items() if not is_known),
        tuple(name for name, is_doubted in doubted.items() if is_doubted),
    )
