"""Chooses: which epics are ranked, in which order, in which parallel groups, and why the others are not.

Groups are filled one after the other from the epics whose dependencies are all ranked in earlier groups, the best
first; one that shares a path with a member waits for the next. So a group is a run of ranks, its members are
independent, and what frees the most stands as far up as its dependencies let it. A group takes `WIDTH` epics at most: a
wide one would put many that free nothing before the next link of the longest chain. Of epics that cannot join, no more
than a few are passed over for each group, which keeps the whole near linear.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

from gemba.skills.advisor.confidence import Confidence, confidence_in
from gemba.skills.advisor.facts import Facts
from gemba.skills.consult.order_input import EpicOrderInput
from gemba.skills.consult.paths import PathIndex

WIDTH = 4
_PASSED_OVER = 24
_STARTED = frozenset({"in_progress", "in progress", "in-progress", "started", "active", "doing", "review", "hooked"})

Key = tuple[int, int, float, int, int, str]


class Conflict(NamedTuple):
    """Two epics that could run at the same time but for a path, and the glob by which they meet."""

    first: str
    second: str
    glob: str


class Plan(NamedTuple):
    """`ranked` in order, `group` the number of each one's group; `filtered` with the reason of each."""

    ranked: list[str]
    group: dict[str, int]
    confidence: dict[str, Confidence]
    filtered: dict[str, str]
    conflicts: list[Conflict]
    tokens: int


def choose(given: EpicOrderInput, facts: Facts) -> Plan:
    return _Choice(given, facts).made()


def urgency(id: str, facts: Facts) -> Key:
    """What comes first, smallest first: what waits for an answer, what the operator wants, what frees the most."""
    epic = facts.epics[id]
    escalated = 2 if id not in facts.escalations else 0 if facts.frees[id] else 1
    wanted = facts.guidance[id].weight if id in facts.guidance else 0
    # A chain is as long as it is; what waits beside it, by how many wait for a token of this one.
    leverage = facts.path[id] * (1 + facts.frees[id]) ** 0.5
    started = epic.ui_state.strip().lower() in _STARTED
    rank = epic.current_rank if epic.current_rank is not None else 2**53
    return escalated, -wanted, -leverage, -int(started), rank, id


class _Choice:
    def __init__(self, given: EpicOrderInput, facts: Facts) -> None:
        self.given = given
        self.facts = facts
        self.plan = Plan([], {}, {}, {}, [], 0)
        self.used = given.tokens_used
        self.ready: list[tuple[Key, str]] = []
        self.missing = {id: len(facts.depends[id]) for id in facts.order}
        self.recent = PathIndex()

    def made(self) -> Plan:
        for id in self.facts.order:
            if not self.missing[id]:
                self._make_ready(id)
        number = 0
        while self.ready:
            number += 1
            self._fill_group(number)
        for id in self.facts.order:  # released by nothing that is ranked
            if id not in self.plan.group and id not in self.plan.filtered:
                before = next(each for each in self.facts.depends[id] if each not in self.plan.group)
                self.plan.filtered[id] = self.plan.filtered[before]
        return self.plan._replace(tokens=self.used - self.given.tokens_used)

    def _make_ready(self, id: str) -> None:
        heappush(self.ready, (urgency(id, self.facts), id))

    def _fill_group(self, number: int) -> None:
        index, members, aside = PathIndex(), list[str](), list[tuple[Key, str]]()
        close: list[tuple[Key, str]] = []  # would meet what was ranked just before
        while self.ready and len(members) < WIDTH and len(aside) + len(close) < _PASSED_OVER:
            entry = heappop(self.ready)
            id = entry[1]
            if self._is_left_out(id):
                continue
            if self._meets(id, index):
                aside.append(entry)
            elif members and self._meets(id, self.recent, is_told=False):
                close.append(entry)
            else:
                self._add(id, number, index, members)
        for entry in close:
            if len(members) >= WIDTH or self._is_left_out(entry[1]) or self._meets(entry[1], index):
                aside.append(entry)
            else:
                self._add(entry[1], number, index, members)
        for entry in aside:
            heappush(self.ready, entry)
        self.recent = index
        for id in members:
            for each in self.facts.after[id]:
                if each in self.missing:
                    self.missing[each] -= 1
                    if not self.missing[each]:
                        self._make_ready(each)

    def _add(self, id: str, number: int, index: PathIndex, members: list[str]) -> None:
        for glob in self.facts.epics[id].file_space_signature or ():
            index.add(glob, id)
        members.append(id)
        self.plan.ranked.append(id)
        self.plan.group[id] = number
        self.used += self.facts.epics[id].tokens

    def _meets(self, id: str, index: PathIndex, *, is_told: bool = True) -> bool:
        for glob in self.facts.epics[id].file_space_signature or ():
            found = index.find(glob)
            if found is not None:
                if is_told:
                    self.plan.conflicts.append(Conflict(found.owner, id, glob))
                return True
        return False

    def _is_left_out(self, id: str) -> bool:
        """Is it trimmed? Asked when its turn comes; what is left out by number or budget then stays out."""
        sure = self.plan.confidence.get(id)
        if sure is None:
            sure = self.plan.confidence[id] = confidence_in(id, self.facts)
        limit = self.given.token_limit
        if sure.value < self.given.min_confidence:
            self.plan.filtered[id] = "confidence"
        elif limit is not None and self.used + self.facts.epics[id].tokens > limit:
            self.plan.filtered[id] = "budget"
        elif self.given.most is not None and len(self.plan.ranked) >= self.given.most:
            self.plan.filtered[id] = "number"
        return id in self.plan.filtered
