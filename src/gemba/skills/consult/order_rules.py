"""The rules on the lines of epic_order, as data: each with an id, a sentence, and a test.

`OrderSeen` keeps what the rules need to know of the lines so far, so that a line costs what it holds and not what came
before it. Dependencies inside a group are found by a mask of groups that is handed down from an epic to those that
depend on it; shared paths by an index of the group.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gemba.paths import PathIndex
from gemba.skills.consult.graph import dependencies, knots
from gemba.skills.consult.judge import Grammar, Judge, Line, Rule, Seen, WholeRule
from gemba.skills.consult.order_input import EpicOrderInput
from gemba.skills.consult.order_lines import (
    OrderDeferred,
    OrderRecommendation,
    OrderStrategy,
    OrderSummary,
    OrderWarning,
    ranking,
)
from gemba.skills.consult.suggested import NEW_MILESTONE, Allowed, refusal
from gemba.toml import quoted

_NAMED = 5  # ids in a reason

ALLOWED = (Allowed("PATCH", "/api/work-items/{id}", ("user_order",), ("user_order",)), NEW_MILESTONE)


class OrderSeen(Seen):
    """What was said so far, by whom it is needed."""

    def __init__(self, given: EpicOrderInput) -> None:
        super().__init__()
        self.given = given
        self.epics = {epic.epic_id: epic for epic in given.candidate_epics}
        self.depends = dependencies(given.candidate_epics)
        self.strategy: OrderStrategy | None = None
        self.ranks: dict[str, int] = {}
        self.deferred: set[str] = set()
        self.warned: dict[str, set[str]] = {}
        self.without_tokens: list[str] = []
        self.tokens = 0  # of what was taken
        self.last_rank = 0
        self.seen_rank = 0  # of what came, taken or not
        self.came: dict[type[Line], int] = {}
        self.tokens_came = 0
        self._bits: dict[str | int, int] = {}
        self._above: dict[str, int] = {}  # the groups of all that an epic depends on, and its own
        self._paths: dict[str | int, PathIndex] = {}

    def arrived(self, kind: type[Line], raw: dict[str, Any]) -> None:
        self.came[kind] = self.came.get(kind, 0) + 1
        if kind is OrderRecommendation:
            tokens, id = raw.get("estimated_tokens"), raw.get("epic_id")
            epic = self.epics.get(id) if isinstance(id, str) else None
            said = tokens if isinstance(tokens, int) and not isinstance(tokens, bool) and tokens >= 0 else None
            self.tokens_came += epic.tokens if said is None and epic else said or 0

    def take(self, line: Line, phase: int) -> None:
        super().take(line, phase)
        match line:
            case OrderStrategy():
                self.strategy = line
            case OrderRecommendation():
                self._rank(line)
            case OrderWarning():
                self.warned.setdefault(line.kind, set()).update(line.epic_ids)
            case OrderDeferred():
                self.deferred.add(line.epic_id)

    def refuse(self, kind: type[Line], raw: dict[str, Any]) -> None:
        if kind is OrderRecommendation:
            rank = raw.get("rank")
            self.seen_rank = max(self.seen_rank + 1, rank if isinstance(rank, int) else 0)

    def tokens_of(self, line: OrderRecommendation) -> int:
        return self.epics[line.epic_id].tokens if line.estimated_tokens is None else line.estimated_tokens

    def groups_above(self, epic_id: str) -> int:
        mask = 0
        for each in self.depends[epic_id]:
            mask |= self._above.get(each, 0)
        return mask

    def bit_of(self, group: str | int) -> int:
        return self._bits.setdefault(group, 1 << len(self._bits))

    def shared_path(self, line: OrderRecommendation) -> tuple[str, str] | None:
        """A member of the line's group that shares a path with it, and by which glob of the line."""
        index = self._paths.get(line.parallel_group) if line.parallel_group is not None else None
        for glob in (self.epics[line.epic_id].file_space_signature or ()) if index is not None else ():
            found = index.find(glob) if index is not None else None
            if found is not None:
                return found.owner, glob
        return None

    def _rank(self, line: OrderRecommendation) -> None:
        self.ranks[line.epic_id] = line.rank
        self.last_rank = line.rank
        self.seen_rank = max(self.seen_rank, line.rank)
        self.tokens += self.tokens_of(line)
        if line.estimated_tokens is None and self.epics[line.epic_id].estimated_tokens is None:
            self.without_tokens.append(line.epic_id)
        mask = self.groups_above(line.epic_id)
        if line.parallel_group is not None:
            mask |= self.bit_of(line.parallel_group)
            index = self._paths.setdefault(line.parallel_group, PathIndex())
            for glob in self.epics[line.epic_id].file_space_signature or ():
                index.add(glob, line.epic_id)
        self._above[line.epic_id] = mask


# ---- a line ----------------------------------------------------------------------------------------------------------


def _frozen(seen: OrderSeen, line: OrderStrategy) -> str | None:
    for name in ("workspace", "as_of"):
        if getattr(line, name) != getattr(seen.given, name):
            return f"{name} is {quoted(getattr(line, name))}; the input has {quoted(getattr(seen.given, name))}"
    return None


def _considered(seen: OrderSeen, line: OrderStrategy) -> str | None:
    total = len(seen.epics)
    if line.total_considered != total:
        return f"total_considered is {line.total_considered}; there are {total} candidates"
    if line.total_ranked + (line.filtered or 0) > total:
        return f"{line.total_ranked} ranked and {line.filtered or 0} filtered are more than the {total} candidates"
    return None


def _candidate(seen: OrderSeen, line: OrderRecommendation | OrderDeferred | OrderWarning) -> str | None:
    ids = line.epic_ids if isinstance(line, OrderWarning) else [line.epic_id]
    strange = [id for id in ids if id not in seen.epics]
    return f"{_listed(strange)} is not among the candidates" if strange else None


def _once(seen: OrderSeen, line: OrderRecommendation | OrderDeferred) -> str | None:
    if line.epic_id in seen.ranks:
        return f"{quoted(line.epic_id)} is ranked already, at {seen.ranks[line.epic_id]}"
    return f"{quoted(line.epic_id)} is deferred already" if line.epic_id in seen.deferred else None


def _rank_order(seen: OrderSeen, line: OrderRecommendation) -> str | None:
    if line.rank <= seen.last_rank:
        return f"rank {line.rank} comes after rank {seen.last_rank}"
    if line.rank > seen.seen_rank + 1:
        return f"rank {line.rank} comes where {seen.seen_rank + 1} is due"
    return None


def _dependency(seen: OrderSeen, line: OrderRecommendation) -> str | None:
    missing = [each for each in seen.depends[line.epic_id] if each not in seen.ranks]
    if line.epic_id in missing:
        return f"{quoted(line.epic_id)} depends on itself"
    return f"it depends on {_listed(missing)}, not ranked above it" if missing else None


def _estimate(seen: OrderSeen, line: OrderRecommendation) -> str | None:
    known = seen.epics[line.epic_id].estimated_tokens
    if known is None or line.estimated_tokens in (None, known):
        return None
    return f"estimated_tokens is {line.estimated_tokens}; the input has {known}"


def _group_paths(seen: OrderSeen, line: OrderRecommendation) -> str | None:
    found = seen.shared_path(line)
    if found is None:
        return None
    owner, glob = found
    return f"it shares {quoted(glob)} with {quoted(owner)} of the same group {quoted(str(line.parallel_group))}"


def _group_dependency(seen: OrderSeen, line: OrderRecommendation) -> str | None:
    if line.parallel_group is None or not seen.groups_above(line.epic_id) & seen.bit_of(line.parallel_group):
        return None
    return f"it depends, directly or not, on another one of its group {quoted(str(line.parallel_group))}"


def _min_confidence(seen: OrderSeen, line: OrderRecommendation) -> str | None:
    least = seen.given.min_confidence
    return f"confidence is {line.confidence:g}; the least is {least:g}" if line.confidence < least else None


def _most(seen: OrderSeen, _line: OrderRecommendation) -> str | None:
    most = seen.given.most
    return f"{most} are recommended already; no more were wanted" if most and len(seen.ranks) >= most else None


def _budget(seen: OrderSeen, line: OrderRecommendation) -> str | None:
    limit = seen.given.token_limit
    total = seen.given.tokens_used + seen.tokens + seen.tokens_of(line)
    if limit is None or total <= limit:
        return None
    return f"with it {total:,} tokens would be used; the budget stops at {limit:,.0f}"


def _action(seen: OrderSeen, line: OrderRecommendation) -> str | None:
    action = line.suggested_action
    if fault := refusal(action, ALLOWED, seen.given):
        return fault
    wanted = ranking(line.epic_id, line.rank)
    if action.verb == "PATCH" and action != wanted:
        return f'the action of this line is PATCH {wanted.path} with {{"user_order": {line.rank}}}'
    return None


def _counts(seen: OrderSeen, line: OrderSummary) -> str | None:
    """A number agrees with the lines that were taken, or with all that were sent."""
    for name, kind in (("ranked", OrderRecommendation), ("warnings", OrderWarning), ("deferred", OrderDeferred)):
        said, taken, came = getattr(line, name), seen.counts.get(kind, 0), seen.came.get(kind, 0)
        if said not in (taken, came):
            return f"{name} is {said}; the lines are {taken}"
    return None


def _token_sum(seen: OrderSeen, line: OrderSummary) -> str | None:
    if line.estimated_total_tokens in (seen.tokens, seen.tokens_came):
        return None
    return f"estimated_total_tokens is {line.estimated_total_tokens}; the lines add up to {seen.tokens}"


_RANKED = (OrderRecommendation,)
RULES = (
    Rule("frozen", (OrderStrategy,), "The strategy is about the input's workspace at its `as_of`.", _frozen),
    Rule("considered", (OrderStrategy,), "`total_considered` is the number of candidates.", _considered),
    Rule(
        "candidate",
        (OrderRecommendation, OrderDeferred, OrderWarning),
        "No epic is named that is no candidate.",
        _candidate,
    ),
    Rule("once", (OrderRecommendation, OrderDeferred), "No epic is ranked or deferred twice, or both.", _once),
    Rule("rank_order", _RANKED, "Ranks rise from 1, one by one.", _rank_order),
    Rule(
        "dependency",
        _RANKED,
        "An epic ranks below every candidate that it depends on, and is not ranked when one of them is not.",
        _dependency,
    ),
    Rule("estimate", _RANKED, "An estimate that the input has is the line's too.", _estimate),
    Rule("group_paths", _RANKED, "Members of a group share no path of their file-space signatures.", _group_paths),
    Rule("group_dependency", _RANKED, "Members of a group do not depend on each other.", _group_dependency),
    Rule("min_confidence", _RANKED, "No confidence is below `min_confidence`.", _min_confidence),
    Rule("max_recommendations", _RANKED, "There are no more recommendations than were wanted.", _most),
    Rule("budget", _RANKED, "What is used and what is ranked stay within `token_budget` times `stop`.", _budget),
    Rule(
        "action",
        _RANKED,
        "The action puts the line's own epic at the line's rank, or makes a milestone.",
        _action,
    ),
    Rule("counts", (OrderSummary,), "The summary's counts are those of the lines.", _counts),
    Rule("token_sum", (OrderSummary,), "The summary's tokens are those of the recommendations.", _token_sum),
)


# ---- the whole -------------------------------------------------------------------------------------------------------


def _totals(seen: OrderSeen) -> Iterator[str]:
    strategy = seen.strategy
    if strategy is None:
        return
    ranked = (len(seen.ranks), seen.came.get(OrderRecommendation, 0))
    deferred = (len(seen.deferred), seen.came.get(OrderDeferred, 0))
    if strategy.total_ranked not in ranked:
        yield f"the strategy says that {strategy.total_ranked} are ranked; {ranked[0]} are"
    rest = strategy.total_considered - strategy.total_ranked - (strategy.filtered or 0)
    if rest not in deferred:
        said = f"{strategy.total_ranked} ranked and {strategy.filtered or 0} filtered of {strategy.total_considered}"
        yield f"the strategy says {said}, which leaves {rest} deferred; {deferred[0]} are"


def _cycles(seen: OrderSeen) -> Iterator[str]:
    for knot in knots(seen.depends):
        if left := [epic for epic in knot if epic not in seen.deferred]:
            yield f"{_listed(left)} is on a dependency cycle and not deferred"
        if not seen.warned.get("dep_cycle", set()).intersection(knot):
            yield f"no dep_cycle warning names the cycle of {_listed(knot)}"


def _deferred_with(seen: OrderSeen) -> Iterator[str]:
    left = [
        epic
        for epic, before in seen.depends.items()
        if epic not in seen.deferred and epic not in before and not seen.deferred.isdisjoint(before)
    ]
    if left:
        yield f"{_listed(left)} depends on what is deferred and is not"


def _unestimated(seen: OrderSeen) -> Iterator[str]:
    named = seen.warned.get("missing_signal", set())
    if left := [epic for epic in seen.without_tokens if epic not in named]:
        yield f"{_listed(left)} has no estimate, and no missing_signal warning names it"


WHOLE = (
    WholeRule("totals", "Ranked, filtered and deferred epics are all that were considered.", _totals),
    WholeRule("cycles", "Epics on a dependency cycle are deferred, and a dep_cycle warning names it.", _cycles),
    WholeRule("deferred_with", "What depends on a deferred epic is deferred.", _deferred_with),
    WholeRule("unestimated", "Ranked epics without an estimate are named by a missing_signal warning.", _unestimated),
)

GRAMMAR = Grammar(
    ((OrderStrategy,), (OrderRecommendation,), (OrderWarning, OrderDeferred), (OrderSummary,)), RULES, WHOLE
)


def judge_order(given: EpicOrderInput) -> Judge[OrderSeen]:
    return Judge(GRAMMAR, OrderSeen(given))


def _listed(ids: list[str]) -> str:
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    return ", ".join(map(quoted, ids[:_NAMED])) + more
