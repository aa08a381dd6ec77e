"""Whether a purview holds a change of a work item's state. Pure: the change, the phase and the personas in, words out.

A purview is asked when work is called done, since that is what others build on; work that begins, rests or is given up
is nobody's to hold. It concerns an item by the item's labels, concepts, targets or kind. It is active in its phases;
that of the domain `auth` also in every other phase, for work that is labelled so. What a persona looks at (its
perspective) and how it sounds are not asked. Called by `holding`, and for `GET /api/purviews`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from gemba.personas.persona import Authority, Persona, Phase

ALWAYS_WATCHED: Final = "auth"  # the domain that is active in any phase, for work labelled so
HELD_MOVES: Final = frozenset({"done"})  # the states that a purview is asked about

# What belongs to a domain beside its own name: words of labels, concepts and paths, and kinds of items. A domain that
# is not here has its name alone.
WORDS: Final[dict[str, frozenset[str]]] = {
    "auth": frozenset(
        {
            *("auth", "authentication", "authorization", "authn", "authz", "login", "oauth", "oidc", "sso"),
            *("security", "permissions", "credentials", "secrets"),
        }
    ),
    "design": frozenset({"design", "architecture", "adr"}),
    "testing": frozenset({"testing", "test", "tests", "qa", "quality", "e2e"}),
    "shipping": frozenset(
        {"shipping", "ship", "release", "releases", "deploy", "deployment", "ci", "packaging", "infra"}
    ),
    "docs": frozenset({"docs", "doc", "documentation", "readme", "changelog"}),
}
KINDS: Final[dict[str, frozenset[str]]] = {"design": frozenset({"decision"}), "shipping": frozenset({"milestone"})}

_RANK = {None: 0, Authority.ADVISORY: 1, Authority.STRONG: 2, Authority.BLOCKING: 3}
_SPLIT = re.compile(r"[^0-9a-z]+")


class Change(NamedTuple):
    """A work item on its way from one state to another."""

    item_id: str
    kind: str
    from_state: str
    to_state: str
    labels: Sequence[str] = ()
    concepts: Sequence[str] = ()
    targets: Sequence[str] = ()
    repository: str | None = None


class Concern(NamedTuple):
    """One persona whose purview a change falls under, how much that weighs, and why."""

    persona_id: str
    persona_name: str
    domain: str
    authority: Authority
    reasons: tuple[str, ...]


class Verdict(NamedTuple):
    """`level` is the weightiest of the concerns; None when there is none."""

    level: Authority | None
    concerns: tuple[Concern, ...]

    @property
    def holds(self) -> bool:
        return self.level is Authority.BLOCKING

    def of(self, authority: Authority) -> list[Concern]:
        return [concern for concern in self.concerns if concern.authority is authority]


NOBODY: Final = Verdict(None, ())


def judge(change: Change, phase: Phase, personas: Iterable[Persona]) -> Verdict:
    """Every purview that a change falls under, the weightiest first."""
    if change.to_state not in HELD_MOVES or change.from_state == change.to_state:
        return NOBODY
    found = [concern for persona in personas if (concern := _concern(change, phase, persona)) is not None]
    found.sort(key=lambda concern: (-_RANK[concern.authority], concern.persona_id))
    return Verdict(found[0].authority if found else None, tuple(found))


def is_active(persona: Persona, phase: Phase) -> bool:
    """Whether a purview is active in a phase for all work of its domain."""
    return persona.purview is not None and phase in persona.purview.active_phases


def _concern(change: Change, phase: Phase, persona: Persona) -> Concern | None:
    purview, authority = persona.purview, persona.authority
    if purview is None or authority is None:
        return None
    scope = persona.scope
    if scope.kind == "repository" and scope.repository != change.repository:
        return None
    domain = purview.domain.casefold()
    labelled = list(_labels_in(domain, change))
    because = [*labelled, *_others_in(domain, change)]
    if not because:
        return None
    if is_active(persona, phase):
        when = f"the purview {purview.domain} of {persona.name} is active in phase {phase}"
    elif domain == ALWAYS_WATCHED and labelled:
        when = f"the purview {purview.domain} of {persona.name} is active in any phase for work that is labelled so"
    else:
        return None
    return Concern(persona.id, persona.name, purview.domain, authority, (*because, when))


def _labels_in(domain: str, change: Change) -> Iterator[str]:
    """How a domain is named on the item itself."""
    for noun, names in (("label", change.labels), ("concept", change.concepts)):
        for name in names:
            if _names(domain, name):
                yield f"the {noun} {name} belongs to {domain}"


def _others_in(domain: str, change: Change) -> Iterator[str]:
    for target in change.targets:
        if _names(domain, target):
            yield f"the target {target} belongs to {domain}"
    if change.kind in KINDS.get(domain, ()):
        yield f"a {change.kind} belongs to {domain}"


def _names(domain: str, text: str) -> bool:
    """Whether a label, a concept or a path has a word of the domain, as in `area:auth` or `src/auth/**`."""
    words = WORDS.get(domain, frozenset())
    folded = text.casefold()
    return folded == domain or any(part == domain or part in words for part in _SPLIT.split(folded))
