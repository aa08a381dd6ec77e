"""Chooses: which epics are ranked, in which order, in which parallel groups, and why the others are not.

The order is that in which a floor with a lane for each worker would begin them: whenever a lane is free, the best epic
whose dependencies are done and that shares no path with what is running. So what frees the most stands as far up as its
dependencies let it, and what would get in each other's way stands apart. Of epics that have to wait, no more than a few
are passed over at a time, which keeps the whole near linear. Groups are runs of this order.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

from gemba.paths import PathIndex
from gemba.skills.advisor.confidence import Confidence, confidence_in
from gemba.skills.advisor.facts import Facts
from gemba.skills.consult.order_input import EpicOrderInput

USUAL_WORKERS = 5  # where nobody knows how many there are
_PASSED_OVER = 16
_STARTED = frozenset({"in_progress", "in progress", "in-progress", "started", "active", "doing", "review", "hooked"})

Key = tuple[int, int, float, int, int, int]


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


def choose(given: EpicOrderInput, facts: Facts, workers: int | None = None) -> Plan:
    return _Choice(given, facts, max(1, workers or USUAL_WORKERS)).made()


def urgency(id: str, facts: Facts) -> Key:
    """What comes first, smallest first: what waits for an answer, what the operator wants, what frees the most; of what
    is alike in all of it, what was given first."""
    epic = facts.epics[id]
    escalated = 2 if id not in facts.escalations else 0 if facts.frees[id] else 1
    wanted = facts.guidance[id].weight if id in facts.guidance else 0
    # What waits for it, and how long the chain behind it is beside its own size.
    leverage = (0.1 + facts.frees[id]) * (facts.path[id] / max(1, facts.size[id])) ** 0.5
    started = epic.ui_state.strip().lower() in _STARTED
    rank = epic.current_rank if epic.current_rank is not None else 2**53
    return escalated, -wanted, -leverage, -int(started), rank, facts.places[id]


class _Choice:
    """The floor as the advisor imagines it: a few lanes, in which an epic takes as long as it has tokens."""

    def __init__(self, given: EpicOrderInput, facts: Facts, width: int) -> None:
        self.given = given
        self.width = width
        self.facts = facts
        self.plan = Plan([], {}, {}, {}, [], 0)
        self.used = given.tokens_used
        self.ready: list[tuple[Key, str]] = []
        self.missing = {id: len(facts.depends[id]) for id in facts.order}
        self.running: list[tuple[int, int, str]] = []  # by when it ends
        self.paths = PathIndex()  # of what is running, and of some that ended since
        self.now = 0

    def made(self) -> Plan:
        for id in self.facts.order:
            if not self.missing[id]:
                heappush(self.ready, (urgency(id, self.facts), id))
        while self.ready or self.running:
            found = self._next() if len(self.running) < self.width else None
            if found is None:
                self._end_one()
            else:
                self._begin(found)
        ranked = set(self.plan.ranked)
        for id in self.facts.order:  # freed by nothing that is ranked
            if id not in ranked and id not in self.plan.filtered:
                before = next(each for each in self.facts.depends[id] if each in self.plan.filtered)
                self.plan.filtered[id] = self.plan.filtered[before]
        self._group()
        return self.plan._replace(tokens=self.used - self.given.tokens_used)

    def _next(self) -> str | None:
        """The best that shares no path with what is running; None when there is none among the first."""
        aside: list[tuple[Key, str]] = []
        found = None
        while self.ready and found is None and len(aside) < _PASSED_OVER:
            entry = heappop(self.ready)
            if self._is_left_out(entry[1]):
                continue
            if self._meets_running(entry[1]):
                aside.append(entry)
            else:
                found = entry[1]
        for entry in aside:
            heappush(self.ready, entry)
        return found

    def _begin(self, id: str) -> None:
        for glob in self.facts.epics[id].file_space_signature or ():
            self.paths.add(glob, id)
        self.plan.ranked.append(id)
        self.used += self.facts.epics[id].tokens
        heappush(self.running, (self.now + self.facts.size[id], self.facts.places[id], id))

    def _end_one(self) -> None:
        if not self.running:
            return
        self.now, _, id = heappop(self.running)
        for each in self.facts.after[id]:
            if each in self.missing:
                self.missing[each] -= 1
                if not self.missing[each]:
                    heappush(self.ready, (urgency(each, self.facts), each))

    def _meets_running(self, id: str) -> bool:
        """The index forgets nothing, so it is made anew when one that ended is in the way."""
        found = self._shared(id, self.paths)
        if found is None:
            return False
        running = {other for _, _, other in self.running}
        if found.first in running:
            return True
        self.paths = PathIndex()
        for other in running:
            for glob in self.facts.epics[other].file_space_signature or ():
                self.paths.add(glob, other)
        return self._shared(id, self.paths) is not None

    def _shared(self, id: str, index: PathIndex) -> Conflict | None:
        for glob in self.facts.epics[id].file_space_signature or ():
            found = index.find(glob)
            if found is not None:
                return Conflict(found.owner, id, glob)
        return None

    def _group(self) -> None:
        """Runs of ranks that can be worked on at once. Whoever depends on a member depends, since all that lies
        between them is in the run, on a member directly.
        """
        number, members, index = 0, set[str](), PathIndex()
        for id in self.plan.ranked:
            shared = self._shared(id, index)
            if shared is not None:
                self.plan.conflicts.append(shared)
            if (
                shared is not None
                or not members
                or len(members) >= self.width
                or not members.isdisjoint(self.facts.depends[id])
            ):
                number, members, index = number + 1, set(), PathIndex()
            members.add(id)
            for glob in self.facts.epics[id].file_space_signature or ():
                index.add(glob, id)
            self.plan.group[id] = number

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
