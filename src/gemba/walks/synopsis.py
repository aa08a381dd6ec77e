"""A walk in words: what a resumed one begins with, and what is left of an ended one. Pure: the same stored state gives
the same text, and no model is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gemba.teams.markdown import literal
from gemba.text import one_line
from gemba.walks.walk import UNDECIDED, AgendaItem, Decision, ItemStatus, Said, Totals, WalkSummary

_MOST_NEXT = 5
_WIDTH = 200
_PAST = {
    "ratify": "ratified",
    "modify": "modified",
    "reject": "rejected",
    "defer": "deferred",
    "handoff": "handed off",
}


def synopsis(walk: WalkSummary, agenda: Sequence[AgendaItem], transcript: Sequence[Said]) -> str:
    """Where a walk stands: what was decided, what is on the table, what comes next, what was said last."""
    return "\n".join(_synopsis(walk, agenda, transcript))


def resumed(context: str, message: str) -> str:
    """An operator's message after a pause."""
    return f"Resume context:\n{context}\n---\n{message}"


def _synopsis(walk: WalkSummary, agenda: Sequence[AgendaItem], transcript: Sequence[Said]) -> Iterator[str]:
    left = [each for each in agenda if each.status in UNDECIDED]
    name = f" ({one_line(walk.label, _WIDTH)})" if walk.label else ""
    yield f"Walk {walk.id}{name}, begun {walk.started_at} by {walk.started_by}: {len(agenda)} items, {len(left)} left."
    decided = [each for each in agenda if each.decision is not None]
    if decided:
        yield "Decided so far:"
        yield from (f"- {_decided(each, each.decision)}" for each in decided if each.decision is not None)
    dismissed = [each for each in agenda if each.status is ItemStatus.DISMISSED]
    if dismissed:
        yield f"Settled elsewhere: {'; '.join(one_line(each.topic, 80) for each in dismissed)}."
    active = next((each for each in agenda if each.status is ItemStatus.ACTIVE), None)
    if active is not None:
        yield f"On the table: {one_line(active.framing.sentence if active.framing else active.topic, _WIDTH)}"
        for number, action in enumerate(active.framing.actions if active.framing else (), 1):
            yield f"  {number}) {one_line(action.label, _WIDTH)}"
    queued = [each for each in left if each.status is ItemStatus.QUEUED]
    if queued:
        more = f"; and {len(queued) - _MOST_NEXT} more" if len(queued) > _MOST_NEXT else ""
        yield f"Next: {'; '.join(one_line(each.topic, 80) for each in queued[:_MOST_NEXT])}{more}."
    said = next((each for each in reversed(transcript) if each.speaker == "operator"), None)
    if said is not None:
        yield f"You said last: {one_line(said.text.rpartition(chr(10) + '---' + chr(10))[2], _WIDTH)}"


def _decided(each: AgendaItem, made: Decision) -> str:
    what = f": {one_line(made.action.label, _WIDTH)}" if made.action is not None else ""
    whom = f" to {made.persona_id}" if made.persona_id is not None else ""
    until = f" until {made.until}" if made.until is not None else ""
    why = f" ({one_line(made.rationale, _WIDTH)})" if made.rationale else ""
    return f"{made.kind}{whom}{until}: {one_line(each.topic, _WIDTH)}{what}{why}"


def summary(walk: WalkSummary, agenda: Sequence[AgendaItem], totals: Totals) -> str:
    """What came of a walk, as Markdown."""
    return "\n".join(_summary(walk, agenda, totals)) + "\n"


def _summary(walk: WalkSummary, agenda: Sequence[AgendaItem], totals: Totals) -> Iterator[str]:
    yield f"# {literal(walk.label, _WIDTH) if walk.label else 'A walk'}"
    yield ""
    ended = f" to {_minute(walk.ended_at)}" if walk.ended_at is not None else ""
    yield f"- {walk.status.capitalize()} by {literal(walk.started_by, _WIDTH)}: {_minute(walk.started_at)}{ended} UTC"
    yield f"- Time walked: {_span(totals.seconds)}"
    kinds = ", ".join(f"{many} {_PAST.get(kind, kind)}" for kind, many in totals.decisions.items()) or "none"
    yield f"- Decisions: {kinds}; actions applied: {totals.applied}"
    if totals.work_touched:
        yield f"- Work touched: {', '.join(literal(id, _WIDTH) for id in totals.work_touched)}"
    cost = "not known" if totals.dollars is None else f"${totals.dollars:.2f}"
    yield f"- Cost: {cost}, for {totals.consults} {'consult' if totals.consults == 1 else 'consults'}"
    yield f"- Record: {walk.id}"
    for title, chosen in (
        ("Decided", [each for each in agenda if each.status is ItemStatus.DECIDED]),
        ("Put off", [each for each in agenda if each.status is ItemStatus.DEFERRED]),
        ("Settled elsewhere", [each for each in agenda if each.status is ItemStatus.DISMISSED]),
        ("Not looked at", [each for each in agenda if each.status in (ItemStatus.QUEUED, ItemStatus.ACTIVE)]),
    ):
        if chosen:
            yield ""
            yield f"## {title}"
            yield ""
            yield from (f"{number}. {_line(each)}" for number, each in enumerate(chosen, 1))


def _line(each: AgendaItem) -> str:
    """What was asked, what became of it, and where it is kept; an ask is known by its words."""
    made = each.decision
    outcome = f" · {_outcome(made)}" if made is not None else ""
    kept = f" ({each.source.kind} {literal(each.source.ref, _WIDTH)})" if each.source.kind != "escalation" else ""
    return f"{literal(one_line(each.topic, _WIDTH) + outcome, 3 * _WIDTH)}{kept}"


def _outcome(made: Decision) -> str:
    whom = f" to {made.persona_id}" if made.persona_id is not None else ""
    until = "" if made.until is None else _until(made.until)
    what = f": {one_line(made.action.label, _WIDTH)}" if made.action is not None else ""
    why = f" ({one_line(made.rationale, _WIDTH)})" if made.rationale else ""
    return f"{_PAST.get(made.kind, made.kind)}{whom}{until}{what}{why}"


def _until(until: str) -> str:
    return " to the backlog" if until == "backlog" else f" until {_minute(until)} UTC"


def _minute(at: str) -> str:
    """As in 2026-11-18 07:42: a stored moment is in UTC."""
    return at[:16].replace("T", " ")


def _span(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
