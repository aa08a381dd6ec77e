"""A persona's comment without a model: what can be seen of a thing from where it stands, by its purview, its triggers
and what is stored. Pure.

It says what is so and where that can be seen, and nothing that would need judgement. The same facts give the same
lines. Called by `asking`, as the expert of the skill `perspective`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from gemba import clock
from gemba.personas.persona import Persona, Phase
from gemba.personas.purview import Change, Concern, is_active, judge
from gemba.personas.triggers import Around, ItemSeen, Signal, own_signals
from gemba.skills.consult.advice import AdviceFinding, AdviceStrategy, AdviceSummary
from gemba.text import one_line

_LONGEST: Final = 200  # characters of a title
_HOUR: Final = 3_600 * clock.SECOND


def comment(
    persona: Persona, around: Around, signals: Sequence[Signal], phase: Phase, now: int
) -> list[msgspec.Struct]:
    """One strategy, the findings with what each rests on, one summary."""
    mine, concern = own_signals(persona, signals), _concern(persona, around.item, phase)
    findings = [*_of_purview(around, concern), *_of_signals(mine)]
    if findings or persona.purview is None:  # to whoever answers for a domain, all else is somebody else's
        findings += [*_of_thing(around, now), *_of_item(around, now)]
    return [
        AdviceStrategy(_ground(persona, phase)),
        *(findings or [AdviceFinding("nothing that is stored of it touches this ground.", [around.ref])]),
        AdviceSummary(_in_a_sentence(persona, around, concern, mine)),
    ]


def _ground(persona: Persona, phase: Phase) -> str:
    looks = persona.perspective.statement.strip().rstrip(".") or f"the work of the {persona.role}"
    words = [f"I look at {looks}."]
    if persona.purview is not None and persona.authority is not None:
        when = "is active" if is_active(persona, phase) else "is not active"
        words.append(f"I answer for {persona.purview.domain} ({persona.authority}), which {when} in the phase {phase}.")
    else:
        words.append("I answer for no domain of my own, and hold nothing.")
    words.append("This was said without a model, from what is stored; what needs judgement is not in it.")
    return " ".join(words)


def _concern(persona: Persona, item: ItemSeen | None, phase: Phase) -> Concern | None:
    """Whether its purview would be asked if the item were to be called done."""
    if item is None:
        return None
    change = Change(
        item.id, item.kind, "review", "done", item.labels, item.concepts, item.targets, repository=item.repository
    )
    return next(iter(judge(change, phase, [persona]).concerns), None)


def _of_purview(around: Around, concern: Concern | None) -> Iterator[AdviceFinding]:
    if concern is None or around.item is None:
        return
    then = {
        "advisory": "I am told when it is done, and hold nothing",
        "strong": "when it is done the operator is asked about it, and it goes on",
        "blocking": "it cannot be called done before somebody has said that it is right, or overrode it with a reason",
    }[str(concern.authority)]
    yield AdviceFinding(f"{around.item.id} is mine: {'; '.join(concern.reasons)}. So {then}.", [around.item.id])


def _of_signals(signals: Sequence[Signal]) -> Iterator[AdviceFinding]:
    for signal in signals:
        yield AdviceFinding(f"{signal.trigger}: {signal.text}.", list(signal.refs))


def _of_thing(around: Around, now: int) -> Iterator[AdviceFinding]:
    thing = around.thing
    if thing is None:
        return
    words = one_line(str(thing.get("title") or thing.get("text") or thing.get("note") or ""), _LONGEST)
    facts = [str(thing[name]) for name in ("kind", "urgency", "state", "lifecycle", "plan_status") if thing.get(name)]
    since = clock.parse(str(thing.get("opened_at", "")))
    waited = "" if since is None else f", opened {_hours(now - since)} ago"
    why = f" ({one_line(str(thing['reason']), _LONGEST)})" if thing.get("reason") else ""
    text = f"the {thing['what']} is {', '.join(facts) or 'there'}{waited}{why}{f': {words}' if words else '.'}"
    yield AdviceFinding(text, [around.ref])


def _of_item(around: Around, now: int) -> Iterator[AdviceFinding]:
    item = around.item
    if item is None:
        return
    facts = f"{item.kind}, {item.state}, priority {item.priority}, {_hours(now - item.created_at)} old"
    waits = f"; it waits for {', '.join(item.blocked_by)}" if item.blocked_by else ""
    title = one_line(item.title, _LONGEST)
    yield AdviceFinding(f"{item.id} ({title}) is {facts}{waits}.", [item.id, *item.blocked_by])
    if around.asked:
        many = len(around.asked)
        asks = "1 more escalation about it is open" if many == 1 else f"{many} more escalations about it are open"
        yield AdviceFinding(f"{asks}.", list(around.asked))


def _in_a_sentence(persona: Persona, around: Around, concern: Concern | None, mine: Sequence[Signal]) -> str:
    said = []
    if concern is not None and around.item is not None:
        said.append(f"{around.item.id} is of {concern.domain}, which I answer for ({concern.authority})")
    if mine:
        said.append(f"of my triggers {', '.join(dict.fromkeys(each.trigger for each in mine))} fires now")
    if not said:
        looked = f"its purview ({persona.purview.domain}) or its triggers" if persona.purview else "its triggers"
        by_rule = f"by rule, nothing that is stored of this touches {looked}"
        return f"{persona.name}: {by_rule}. Nobody with a model looked at it."
    return f"{persona.name}: {', and '.join(said)}."


def _hours(span: int) -> str:
    hours = max(0, span) // _HOUR
    return f"{hours // 24} d" if hours >= 48 else f"{hours} h" if hours else "less than an hour"
