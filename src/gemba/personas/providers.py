"""What a persona is told of the project: facts made into text, each within its cap. Pure; `facts` reads them.

A provider begins with what matters most, so that a cut takes the least; what it leaves out itself it says. Chosen by
`context_providers.reads` of the persona, in that order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from gemba.personas.persona import Persona, Provider
from gemba.personas.prompts import Chunk
from gemba.text import one_line

MOST_DECISIONS: Final = 20
MOST_LISTED: Final = 40  # ready items, running sessions, escalations
CAPS: Final[dict[Provider, int]] = {
    "project_summary": 2_000,
    "project_state": 1_000,
    "decisions_log": 1_500,
    "sprint_context": 500,
    "active_escalations": 1_500,
}
_LONGEST_LINE = 400


class Named(NamedTuple):
    """Something with an id, in one line."""

    id: str
    words: str


class Decided(NamedTuple):
    """What was decided, by whom, and for which reason as far as somebody gave one."""

    at: str
    question: str
    decision: str
    by: str
    reason: str = ""


class Waiting(NamedTuple):
    """An escalation that nobody has answered."""

    id: str
    kind: str
    urgency: str
    opened_at: str
    words: str
    item_id: str | None = None


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the providers tell of. Lists may be cut; the totals are of all."""

    readme: str = ""
    sections: Sequence[tuple[str, str]] = ()
    phase: str = ""
    counts: Mapping[str, int] = {}
    ready: Sequence[Named] = ()
    ready_total: int = 0
    running: Sequence[Named] = ()
    running_total: int = 0
    decisions: Sequence[Decided] = ()  # newest first
    sprint: Mapping[str, Any] | None = None
    escalations: Sequence[Waiting] = ()  # oldest first
    escalations_total: int = 0


def context_of(persona: Persona, facts: Facts) -> list[Chunk]:
    """The chunks that a persona reads, in its order."""
    return [chunk_of(name, facts) for name in persona.context_providers.reads]


def chunk_of(name: Provider, facts: Facts) -> Chunk:
    text, dropped = _RENDERERS[name](facts)
    return Chunk(name, text, CAPS[name], tuple(dropped))


Rendered = tuple[str, list[str]]


def _project_summary(facts: Facts) -> Rendered:
    parts = [facts.readme.strip(), *(f"## {name}\n{text.strip()}" for name, text in facts.sections if text.strip())]
    return "\n\n".join(part for part in parts if part), []


def _project_state(facts: Facts) -> Rendered:
    counts = ", ".join(f"{many} {state}" for state, many in facts.counts.items() if many) or "none"
    lines = [f"phase: {facts.phase}"] if facts.phase else []
    lines.append(f"work items: {counts}")
    dropped: list[str] = []
    for noun, listed, total in (
        ("ready", facts.ready, facts.ready_total),
        ("running", facts.running, facts.running_total),
    ):
        shown = listed[:MOST_LISTED]
        lines += [f"{noun}: {max(total, len(listed))}", *_listed(shown)]
        dropped += _left_out(f"{noun} ones", max(total, len(listed)) - len(shown))
    return "\n".join(lines), dropped


def _decisions_log(facts: Facts) -> Rendered:
    shown = facts.decisions[:MOST_DECISIONS]
    lines = []
    for each in shown:
        why = f" because {one_line(each.reason, _LONGEST_LINE)}" if each.reason else ""
        question, decision = one_line(each.question, _LONGEST_LINE), one_line(each.decision, _LONGEST_LINE)
        lines.append(f"- {each.at} {each.by}: {question} → {decision}{why}")
    return "\n".join(lines), _left_out("older decisions", len(facts.decisions) - len(shown))


def _sprint_context(facts: Facts) -> Rendered:
    """The request's own, the one that it is about, or the one that runs."""
    if facts.sprint is None:
        return "", []
    return msgspec.json.format(msgspec.json.encode(facts.sprint), indent=2).decode(), []


def _active_escalations(facts: Facts) -> Rendered:
    shown = facts.escalations[:MOST_LISTED]
    lines = []
    for each in shown:
        about = f" about {each.item_id}" if each.item_id else ""
        words = one_line(each.words, _LONGEST_LINE)
        lines.append(f"- {each.id} {each.urgency} {each.kind}{about}, since {each.opened_at}: {words}")
    total = max(facts.escalations_total, len(facts.escalations))
    return "\n".join(lines), _left_out("newer escalations", total - len(shown))


def _listed(rows: Iterable[Named]) -> list[str]:
    return [f"- {row.id}: {one_line(row.words, _LONGEST_LINE)}" for row in rows]


def _left_out(what: str, many: int) -> list[str]:
    return [f"{many} {what}"] if many > 0 else []


_RENDERERS: Final[dict[Provider, Callable[[Facts], Rendered]]] = {
    "project_summary": _project_summary,
    "project_state": _project_state,
    "decisions_log": _decisions_log,
    "sprint_context": _sprint_context,
    "active_escalations": _active_escalations,
}
