"""What came of a walk, as the lines of the skill `walk_summary`, without a model. Pure: a stored walk in, lines out.

A finding for each decision, then what was left open and what was settled elsewhere, then what follows; the summary has
the decisions by their kinds and what is open by number. Nothing is in it that the record does not say, and the same
record gives the same lines. Handed in as the skill's expert, through `app`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from gemba.skills.consult.advice import AdviceFinding, AdviceStrategy, AdviceSummary
from gemba.text import one_line
from gemba.walks.walk import DECISIONS, UNDECIDED, AgendaItem, Decision, ItemStatus, WalkDetail

MOST_FINDINGS: Final = 300  # of decisions, and of what is open
_MOST_NAMED: Final = 5  # decisions in the summary
_LONGEST: Final = 300  # characters of a topic or a reason

Made = tuple[AgendaItem, Decision]

_DONE: Final = {
    "ratify": "ratified",
    "modify": "changed and carried out",
    "reject": "rejected",
    "defer": "deferred",
    "handoff": "handed to",
}


def summary_lines(walk: WalkDetail) -> list[msgspec.Struct]:
    decided = [(item, item.decision) for item in walk.agenda if item.decision is not None]
    open_items = [item for item in walk.agenda if item.status in UNDECIDED and item.decision is None]
    elsewhere = [item for item in walk.agenda if item.status is ItemStatus.DISMISSED]
    findings = [
        *_bounded([_of_decision(*pair) for pair in decided], "decisions"),
        *_bounded([_of_open(item) for item in open_items], "items that are open"),
        *_bounded([_of_settled(item) for item in elsewhere], "items that were settled elsewhere"),
        *_what_follows(walk, decided),
    ]
    return [AdviceStrategy(_head(walk)), *findings, AdviceSummary(_notes(walk, decided))]


def _head(walk: WalkDetail) -> str:
    name = one_line(walk.label, _LONGEST) or walk.id
    until = f" and ended at {walk.ended_at} ({walk.status})" if walk.ended_at else f" and is {walk.status}"
    return (
        f"The walk {name} was begun by {walk.started_by} at {walk.started_at}{until}. {walk.totals.decided} of "
        f"{walk.totals.items} items were decided. Said without a model, from the record alone."
    )


def _of_decision(item: AgendaItem, decision: Decision) -> AdviceFinding:
    why = f" Because: {one_line(decision.rationale, _LONGEST)}" if decision.rationale.strip() else ""
    text = f"{_topic(item)}: {_how(decision)}, by {decision.by} at {decision.at}.{why}"
    named = (item.source.ref, decision.consult_id)
    return AdviceFinding(text, [ref for ref in named if ref])


def _how(decision: Decision) -> str:
    action = decision.action
    done = "" if action is None else f" ({one_line(action.label, _LONGEST)}; {action.verb} {action.path}"
    if action is not None:
        done += f", answered {decision.applied.status})" if decision.applied is not None else ")"
    to = f" {decision.persona_id}" if decision.kind == "handoff" and decision.persona_id else ""
    until = f" until {decision.until}" if decision.until else ""
    return f"{_DONE[decision.kind]}{to}{until}{done}"


def _of_open(item: AgendaItem) -> AdviceFinding:
    seen = item.framing is not None or item.status is ItemStatus.ACTIVE
    words = "it was on the table, and nothing was decided" if seen else "it was not looked at"
    since = f"; it waits since {item.since}" if item.since else ""
    return AdviceFinding(f"Open: {_topic(item)}: {words}{since}.", [item.source.ref] if item.source.ref else [])


def _of_settled(item: AgendaItem) -> AdviceFinding:
    how = one_line(item.settled or "its source was answered", _LONGEST)
    return AdviceFinding(f"Settled elsewhere: {_topic(item)}: {how}.", [item.source.ref] if item.source.ref else [])


def _what_follows(walk: WalkDetail, decided: list[Made]) -> Iterator[AdviceFinding]:
    for item, decision in decided[:MOST_FINDINGS]:
        if decision.kind == "handoff" and decision.persona_id:
            refs = [ref for ref in (item.source.ref, decision.consult_id) if ref]
            yield AdviceFinding(f"{decision.persona_id} goes on with: {_topic(item)}.", refs)
    touched = walk.totals.work_touched
    if touched:
        noun = "1 work item was" if len(touched) == 1 else f"{len(touched)} work items were"
        yield AdviceFinding(f"{noun} changed by these decisions.", list(touched[:MOST_FINDINGS]))


def _notes(walk: WalkDetail, decided: list[Made]) -> str:
    counts = [f"{walk.totals.decisions[kind]} {kind}" for kind in DECISIONS if walk.totals.decisions.get(kind)]
    named = [f"{_topic(item)}: {_how(decision)}." for item, decision in decided[:_MOST_NAMED]]
    more = [f"And {len(decided) - _MOST_NAMED} more."] if len(decided) > _MOST_NAMED else []
    noun = "1 decision" if len(decided) == 1 else f"{len(decided)} decisions"
    first = f"{noun} ({', '.join(counts)})." if counts else "Nothing was decided."
    still_open = sum(item.status in UNDECIDED for item in walk.agenda)
    return " ".join([first, *named, *more, f"{still_open} still open."])


def _topic(item: AgendaItem) -> str:
    return one_line(item.topic, _LONGEST)


def _bounded(findings: list[AdviceFinding], noun: str) -> list[AdviceFinding]:
    if len(findings) <= MOST_FINDINGS:
        return findings
    rest = AdviceFinding(f"{len(findings) - MOST_FINDINGS} more {noun} stand in the walk itself.")
    return [*findings[:MOST_FINDINGS], rest]
