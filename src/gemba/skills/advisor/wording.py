"""What the advisor says of a plan: reasons that cite the numbers it used, and names for groups."""

from __future__ import annotations

from collections import Counter

from gemba import clock
from gemba.skills.advisor.facts import Facts
from gemba.skills.advisor.plan import Plan
from gemba.skills.advisor.velocity import ENOUGH
from gemba.skills.consult.order_input import EpicOrderInput, OpenEscalation
from gemba.text import one_line

_LONGEST = 80
_DAYS_FROM = 48  # hours


def group_names(facts: Facts, plan: Plan) -> dict[str, str]:
    """By epic the name of its group; one that is alone has none. A name that all members bring is kept."""
    sizes = Counter(plan.group.values())
    hints: dict[int, set[str | None]] = {}
    for id, number in plan.group.items():
        hint = facts.epics[id].parallel_group
        hints.setdefault(number, set()).add(None if hint is None else str(hint))
    taken: set[str] = set()
    names: dict[int, str] = {}
    several = [number for number in hints if sizes[number] > 1]
    for place, number in enumerate(several, 1):
        (hint, *others) = hints[number]
        name = hint if hint and not others and hint not in taken else f"g{place}"
        while name in taken:
            name += "+"
        taken.add(name)
        names[number] = name
    return {id: names[number] for id, number in plan.group.items() if number in names}


def named(id: str, facts: Facts) -> str:
    """An epic by its id and what it is called."""
    title = one_line(facts.epics[id].title, _LONGEST)
    return f"{id} ({title})" if title else id


def rationale(id: str, given: EpicOrderInput, facts: Facts, plan: Plan) -> str:
    said = [*_waiting(id, given, facts), *_place(id, facts), *_cost(id, facts), *_wanted(id, facts)]
    sure = plan.confidence[id]
    if sure.missing or sure.doubts:
        lacks = [f"no {name}" for name in sure.missing] + list(sure.doubts)
        said.append(f"Less sure for: {', '.join(lacks)}.")
    return " ".join(said)


def reasoning(given: EpicOrderInput, facts: Facts, plan: Plan) -> str:
    edges = sum(map(len, facts.depends.values()))
    said = [
        (
            f"{_many(len(facts.epics), 'candidate')} with {_many(edges, 'dependency', 'dependencies')} among them: what"
            " they depend on first, then open escalations, the operator's guidance, what frees the most on the longest"
            " chains."
        ),
        f"{len(plan.ranked)} ranked, {len(plan.filtered)} left out, {len(facts.deferred)} deferred.",
    ]
    if facts.order:
        head = max(facts.order, key=lambda id: (facts.path[id], id))
        said.append(f"The longest chain begins with {named(head, facts)} and has {_length(head, facts)}.")
    if facts.escalations:
        waiting = len(facts.escalations)
        said.append(f"{_many(waiting, 'candidate')} wait{'s' * (waiting == 1)} for the answer to an escalation.")
    limit = given.token_limit
    if limit is not None:
        said.append(f"Of {limit:,.0f} tokens {given.tokens_used:,} are used, and the ranked ones need {plan.tokens:,}.")
    velocity = facts.velocity
    if velocity.tokens_per_hour:
        hours = velocity.hours(plan.tokens) or 0
        trust = "" if velocity.completions >= ENOUGH else ", too few to rely on"
        pace = f"{velocity.tokens_per_hour:,.0f} tokens an hour ({_many(velocity.completions, 'completion')}{trust})"
        said.append(f"At {pace} that is {hours:,.1f} hours{_until_the_end(given)}.")
    return " ".join(said)


def _until_the_end(given: EpicOrderInput) -> str:
    ends = given.sprint_context.ends_at if given.sprint_context else None
    if ends is None:
        return ""
    left = ((clock.parse(ends) or 0) - (clock.parse(given.as_of) or 0)) / (3_600 * clock.SECOND)
    return f" of one agent; the sprint has {max(0.0, left):,.1f} left"


def _waiting(id: str, given: EpicOrderInput, facts: Facts) -> list[str]:
    waiting = facts.escalations.get(id)
    if not waiting:
        return []
    first = waiting[0]
    more = f" and {len(waiting) - 1} more" if len(waiting) > 1 else ""
    frees = f"; the answer frees {_epics(facts.frees[id])} behind it" if facts.frees[id] else ""
    return [f"It waits for the answer to {_name(first)}{more}{_age(first, given)}{frees}."]


def _name(escalation: OpenEscalation) -> str:
    named = f"“{escalation.title[:_LONGEST]}”" if escalation.title else escalation.id
    return " ".join(part for part in (escalation.urgency, escalation.kind or "escalation", named) if part)


def _age(escalation: OpenEscalation, given: EpicOrderInput) -> str:
    opened, now = clock.parse(escalation.opened_at or ""), clock.parse(given.as_of)
    if opened is None or now is None or now < opened:
        return ""
    hours = (now - opened) / (3_600 * clock.SECOND)
    if hours < 1:
        return ", open for less than an hour"
    return f", open for {_many(int(hours), 'hour') if hours < _DAYS_FROM else _many(int(hours / 24), 'day')}"


def _length(id: str, facts: Facts) -> str:
    """Of the longest chain that begins with an epic."""
    return f"{facts.path[id]:,} tokens" if facts.unit == "tokens" else _epics(facts.path[id])


def _place(id: str, facts: Facts) -> list[str]:
    before, after = facts.depends[id], facts.after[id]
    said = []
    if facts.frees[id]:
        in_all = "" if len(after) == facts.frees[id] else f" at once and {facts.frees[id]} in all"
        said.append(f"It frees {_epics(len(after))}{in_all},")
        said.append(f"on a chain of {_length(id, facts)}.")
    else:
        said.append("Nothing waits for it.")
    if before:
        named = ", ".join(before[:3]) + (f" and {len(before) - 3} more" if len(before) > 3 else "")
        said.append(f"It needs {named} first.")
    strange = [each for each in facts.epics[id].depends_on_epics or () if each not in facts.epics]
    if strange:
        said.append(f"It depends on {', '.join(strange[:3])}, no candidate: taken as done.")
    return said


def _cost(id: str, facts: Facts) -> list[str]:
    tokens = facts.epics[id].estimated_tokens
    if tokens is None:
        return ["It has no estimate and counts 0."]
    usual, hours = facts.velocity.typical_tokens, facts.velocity.hours(tokens)
    beside = f", {tokens / usual:.1f} times what epics took of late" if usual else ""
    time = f", about {hours:,.1f} h" if hours else ""
    return [f"{tokens:,} tokens{beside}{time}."]


def _wanted(id: str, facts: Facts) -> list[str]:
    found = facts.guidance.get(id)
    if found is None or not found.weight:
        return []
    if not found.words:
        return ["What the guidance asks for depends on it."]
    when = "sooner" if found.weight > 0 else "later"
    return [f"The guidance wants it {when} ({', '.join(found.words[:5])})."]


def _epics(many: int) -> str:
    return _many(many, "epic")


def _many(many: int, one: str, several: str | None = None) -> str:
    return f"{many} {one if many == 1 else several or one + 's'}"
