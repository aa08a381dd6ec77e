"""What a manager persona may apply without a person: its mutation_authority, as a pure decision with its reasons.

An action is a method and a path; a pattern is one with `*` or `{name}` for a whole part of the path. The answer is for
one use now: whoever applies asks again for each, records it, and asks again inside its transaction. A coach may apply
nothing, and neither may anybody whose file lists nothing.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gemba.personas.persona import MICROS, Persona, Phase, micros

VERBS = ("POST", "PATCH", "PUT", "DELETE")
PATTERN_RULE = "POST, PATCH, PUT, DELETE and a path below /api/, such as PATCH /api/work-items/*: * stands for one part"

_PART = re.compile(r"[A-Za-z0-9._~:@-]+")
_WILD = re.compile(r"\*|\{[a-z_]+\}")


class Use(NamedTuple):
    """One action that a persona wants to apply, and what is known of it by then."""

    verb: str
    path: str
    phase: Phase
    applied_so_far: int  # by the persona itself, in this consult
    spent_micros: int  # by this consult
    revoked: bool = False  # the operator took the authority back


class Ruling(NamedTuple):
    allowed: bool
    reasons: tuple[str, ...]


def may_apply(persona: Persona, use: Use) -> Ruling:
    """Whether a persona may apply an action by itself now; each reason is a sentence."""
    granted = persona.mutation_authority
    if persona.variety == "coach":
        return Ruling(False, (f"{persona.name} is a coach: a person applies what it recommends",))
    if granted is None or not granted.actions:
        return Ruling(False, (f"{persona.name} has no mutation_authority: a person applies what it recommends",))
    wanted = f"{use.verb} {use.path}"
    pattern = next((each for each in granted.actions if fits(each, use.verb, use.path)), None)
    against = []
    if use.revoked:
        against.append(f"the authority of {persona.name} is revoked")
    if pattern is None:
        against.append(f"{wanted} is none of its actions: {', '.join(granted.actions)}")
    if use.phase not in granted.phases:
        against.append(f"the phase is {use.phase}; it may apply in: {', '.join(granted.phases) or 'none'}")
    if use.applied_so_far >= granted.max_per_consult:
        against.append(f"it has applied {use.applied_so_far} in this consult; allowed: {granted.max_per_consult}")
    if use.spent_micros > micros(granted.max_dollars):
        spent = use.spent_micros / MICROS
        against.append(f"the consult has cost {spent:.2f} dollars; it may apply up to {granted.max_dollars:.2f}")
    if against:
        return Ruling(False, tuple(against))
    return Ruling(True, (f"{wanted} is allowed to {persona.name} by {pattern}, in phase {use.phase}",))


def acts_alone(persona: Persona) -> bool:
    """Whether there is anything at all that it may apply without a person."""
    granted = persona.mutation_authority
    return persona.variety == "manager" and granted is not None and bool(granted.actions)


def fits(pattern: str, verb: str, path: str) -> bool:
    """Whether an action is one that a pattern means. A path that could mean another one fits nothing."""
    method, _, rest = pattern.partition(" ")
    if verb != method:
        return False
    parts, wanted = path.split("/"), rest.split("/")
    if len(parts) != len(wanted) or parts[0]:
        return False
    return all(
        _PART.fullmatch(part) and part.strip(".") and (part == want or _WILD.fullmatch(want))
        for part, want in zip(parts[1:], wanted[1:], strict=True)
    )


def pattern_trouble(pattern: str) -> str | None:
    """What is wrong with a pattern, or None."""
    verb, _, path = pattern.partition(" ")
    if verb not in VERBS:
        return f"begins with {verb!r}"[:80]
    if not path.startswith("/api/"):
        return "has a path that does not begin with /api/"
    for part in path.split("/")[1:]:
        if not (_PART.fullmatch(part) and part.strip(".")) and not _WILD.fullmatch(part):
            return f"has the part {part!r}"[:80]
    return None
