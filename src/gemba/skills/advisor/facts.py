"""What the advisor knows of each candidate before it ranks any: its place among the others, in numbers.

Linear in epics and dependencies, but for the count of all that an epic frees, which goes over the graph once for every
few thousand epics.
"""

from __future__ import annotations

from statistics import median
from typing import Literal, NamedTuple

from gemba.skills.advisor.guidance import Match, match
from gemba.skills.advisor.velocity import Velocity, measure
from gemba.skills.consult.graph import cycle_in, dependencies, knots, turned
from gemba.skills.consult.order_input import CandidateEpic, EpicOrderInput, OpenEscalation
from gemba.work.chains import counts, depths, heaviest


class Facts(NamedTuple):
    """Everything that is known, by epic. `order` has every epic that can be ranked, what it depends on before it;
    `knots` are the circles, `deferred` the reasons of what cannot be ranked. `size` is in tokens, the median where
    there is no estimate, and 1 each where there is none at all, so that `unit` is epics then; `path` is the size of the
    longest chain that begins with an epic; `places` is where each was given.
    """

    epics: dict[str, CandidateEpic]
    places: dict[str, int]
    depends: dict[str, tuple[str, ...]]
    after: dict[str, list[str]]
    order: list[str]
    knots: list[list[str]]
    circles: list[list[str]]
    deferred: dict[str, str]
    frees: dict[str, int]
    size: dict[str, int]
    unit: Literal["tokens", "epics"]
    path: dict[str, int]
    levels: dict[str, int]
    escalations: dict[str, list[OpenEscalation]]
    guidance: dict[str, Match]
    velocity: Velocity


def gather(given: EpicOrderInput) -> Facts:
    epics = {epic.epic_id: epic for epic in given.candidate_epics}
    depends = dependencies(given.candidate_epics)
    after = turned(depends)
    tied = knots(depends)
    circles = [cycle_in(depends, knot) for knot in tied]
    deferred = _deferred(tied, circles, after)
    order = _order(depends, after, deferred)
    known = [epic.estimated_tokens for epic in epics.values() if epic.estimated_tokens]
    usual = int(median(known)) if known else 1
    size = {id: usual if epic.estimated_tokens is None else epic.estimated_tokens for id, epic in epics.items()}
    escalations: dict[str, list[OpenEscalation]] = {}
    for each in given.open_escalations or ():
        if each.blocked_epic in epics:
            escalations.setdefault(str(each.blocked_epic), []).append(each)
    return Facts(
        epics,
        {id: place for place, id in enumerate(epics)},
        depends,
        after,
        order,
        tied,
        circles,
        deferred,
        counts(order, after),
        size,
        "tokens" if known else "epics",
        heaviest(order, after, size),
        depths(order, depends),
        escalations,
        _lifted(match(given.guidance, given.candidate_epics), order, after),
        measure(given.recent_completions or []),
    )


def _deferred(tied: list[list[str]], circles: list[list[str]], after: dict[str, list[str]]) -> dict[str, str]:
    """Why an epic is deferred: it is on a circle, or depends on one that is deferred."""
    reasons: dict[str, str] = {}
    for knot, circle in zip(tied, circles, strict=True):
        shown = " → ".join(circle[:12]) + (" → …" if len(circle) > 12 else "")
        for epic in knot:
            reasons[epic] = f"on a dependency cycle: {shown}"
    waiting = list(reasons)
    for epic in waiting:
        for each in after[epic]:
            if each not in reasons:
                reasons[each] = f"depends on {epic}, which is deferred"
                waiting.append(each)
    return reasons


def _order(depends: dict[str, tuple[str, ...]], after: dict[str, list[str]], deferred: dict[str, str]) -> list[str]:
    missing = {epic: len(before) for epic, before in depends.items() if epic not in deferred}
    order = [epic for epic, many in missing.items() if not many]
    for epic in order:
        for each in after[epic]:
            if each in missing:
                missing[each] -= 1
                if not missing[each]:
                    order.append(each)
    return order


def _lifted(found: dict[str, Match], order: list[str], after: dict[str, list[str]]) -> dict[str, Match]:
    """What an epic that is wanted depends on is wanted as much."""
    if not found:
        return found
    lifted = dict(found)
    for epic in reversed(order):
        most = max((lifted[each].weight for each in after[epic] if each in lifted), default=0)
        if most > max(0, lifted[epic].weight if epic in lifted else 0):
            lifted[epic] = Match(most, found[epic].words if epic in found else ())
    return lifted
