"""Answers epic_order without a model: the embedded default, and what every model is compared with.

The same input gets the same lines. They are the skill's own, so that its judge takes every one of them.
"""

from __future__ import annotations

from collections import Counter

from gemba.collector import Paused
from gemba.skills.advisor.facts import Facts, gather
from gemba.skills.advisor.plan import Plan, choose
from gemba.skills.advisor.wording import group_names, named, rationale, reasoning
from gemba.skills.consult.order_input import EpicOrderInput
from gemba.skills.consult.order_lines import (
    OrderDeferred,
    OrderLine,
    OrderRecommendation,
    OrderStrategy,
    OrderSummary,
    OrderWarning,
    ranking,
)

MODEL = "gemba-advisor"

_MOST_CONFLICTS = 20  # warnings; the rest is counted in the last of them
_REASONS = {
    "budget": "the token budget",
    "confidence": "min_confidence",
    "number": "max_recommendations",
}


def advise(given: EpicOrderInput, workers: int | None = None) -> list[OrderLine]:
    """`workers` is how many agents work at once; where nobody knows, a few."""
    with Paused():
        return _advise(given, workers)


def _advise(given: EpicOrderInput, workers: int | None) -> list[OrderLine]:
    facts = gather(given)
    plan = choose(given, facts, workers)
    recommendations = _recommendations(given, facts, plan)
    warnings = [*_cycles(facts), *_conflicts(plan), *_budget(given, facts, plan), *_missing(given)]
    deferred = [OrderDeferred(epic_id=id, reason=reason) for id, reason in facts.deferred.items()]
    why = Counter(plan.filtered.values())
    left_out = "; ".join(f"{many} for {_REASONS[reason]}" for reason, many in sorted(why.items()))
    strategy = OrderStrategy(
        workspace=given.workspace,
        as_of=given.as_of,
        model=MODEL,
        reasoning=reasoning(given, facts, plan),
        total_considered=len(facts.epics),
        total_ranked=len(recommendations),
        filtered=len(plan.filtered) or None,
        filter_reason=f"{left_out} (with what depends on them)" if left_out else None,
    )
    summary = OrderSummary(
        ranked=len(recommendations),
        warnings=len(warnings),
        deferred=len(deferred),
        estimated_total_tokens=plan.tokens,
        notes=_notes(facts, plan),
    )
    return [strategy, *recommendations, *warnings, *deferred, summary]


def _recommendations(given: EpicOrderInput, facts: Facts, plan: Plan) -> list[OrderRecommendation]:
    names = group_names(facts, plan)
    return [
        OrderRecommendation(
            rank=rank,
            epic_id=id,
            parallel_group=names.get(id),
            confidence=plan.confidence[id].value,
            rationale=rationale(id, given, facts, plan),
            estimated_tokens=facts.epics[id].estimated_tokens,
            suggested_action=ranking(id, rank),
        )
        for rank, id in enumerate(plan.ranked, 1)
    ]


def _cycles(facts: Facts) -> list[OrderWarning]:
    return [
        OrderWarning(kind="dep_cycle", epic_ids=knot, detail=f"these wait for each other: {' → '.join(circle)}")
        for knot, circle in zip(facts.knots, facts.circles, strict=True)
    ]


def _conflicts(plan: Plan) -> list[OrderWarning]:
    """What was kept apart: one warning for each glob by which epics meet, those of the most epics first."""
    meeting: dict[str, dict[str, None]] = {}
    for conflict in plan.conflicts:
        if conflict.first in plan.group and conflict.second in plan.group:
            meeting.setdefault(conflict.glob, {}).update({conflict.first: None, conflict.second: None})
    ordered = sorted(meeting.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    warnings = [
        OrderWarning(
            kind="parallel_conflict",
            epic_ids=list(ids),
            detail=f"{len(ids)} epics touch {glob}: they stand in different groups, one after the other",
        )
        for glob, ids in ordered[:_MOST_CONFLICTS]
    ]
    if len(ordered) > _MOST_CONFLICTS:
        ids = list(dict.fromkeys(id for _, each in ordered[_MOST_CONFLICTS:] for id in each))
        more = f"{len(ordered) - _MOST_CONFLICTS} further paths are touched by several epics, kept apart as well"
        warnings.append(OrderWarning(kind="parallel_conflict", epic_ids=ids, detail=more))
    return warnings


def _budget(given: EpicOrderInput, facts: Facts, plan: Plan) -> list[OrderWarning]:
    """A warning for each threshold that is crossed, with the epics that come after it."""
    budget, warnings = given.token_budget, []
    if budget is None:
        return []
    total = given.tokens_used + plan.tokens
    for name in ("inform", "warn"):
        share = getattr(given.thresholds, name)
        if share is None or total <= budget * share:
            continue
        used, beyond = given.tokens_used, []
        for id in plan.ranked:
            used += facts.epics[id].tokens
            if used > budget * share:
                beyond.append(id)
        detail = f"{total:,} of {budget:,} tokens once all of it is done, past {name} at {budget * share:,.0f}"
        warnings.append(OrderWarning(kind="budget_overrun", epic_ids=beyond, detail=detail))
    trimmed = [id for id, reason in plan.filtered.items() if reason == "budget"]
    if trimmed:
        limit = given.token_limit or 0
        detail = f"these do not fit: the budget stops at {limit:,.0f} tokens, and {total:,} are used or ranked"
        warnings.append(OrderWarning(kind="budget_overrun", epic_ids=trimmed, detail=detail))
    return warnings


def _missing(given: EpicOrderInput) -> list[OrderWarning]:
    ids = [epic.epic_id for epic in given.candidate_epics if epic.estimated_tokens is None]
    if not ids:
        return []
    detail = f"{len(ids)} of {len(given.candidate_epics)} have no estimated_tokens and count 0"
    return [OrderWarning(kind="missing_signal", epic_ids=ids, detail=detail)]


def _notes(facts: Facts, plan: Plan) -> str:
    if not plan.ranked:
        return "Nothing can be ranked: see the deferrals, and what was left out."
    hours = facts.velocity.hours(plan.tokens)
    pace = f", about {hours:,.1f} hours of work at the pace of late" if hours else ""
    groups = len(set(plan.group.values()))
    first = named(plan.ranked[0], facts)
    return f"Begin with {first}. {len(plan.ranked)} epics in {groups} steps, {plan.tokens:,} tokens{pace}."
