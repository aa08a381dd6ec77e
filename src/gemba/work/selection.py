"""What a session should do next: everything that may be done, ranked, each place with its reasons. No I/O.

Hard gates rule an item out for a session: its state, somebody else's claim, its parts, a path that it shares with what
is running, a worktree that somebody works in. Soft gates cost points: too large for what is left of the session's
context, not what it is for, somebody else's. Scores add points: what the session knows already, what waits for the
item, and a point for every day that it waits, without end, so that nothing waits for ever. An item's score is the sum
of its lines. What the operator ordered goes first, in that order.

The same facts get the same answer, in whatever order they come. `Field` prepares what is ready once and is asked for
one session after the other; `parallel` says what of it can be done at the same time. `board` reads the facts.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from heapq import nlargest
from itertools import islice
from typing import NamedTuple

import msgspec

from gemba import clock
from gemba.paths import PathIndex
from gemba.work.item import LOWEST_PRIORITY, STARTABLE, Kind, State

PRIORITY = 10  # points, for each step above the lowest
DAY = 1  # for each whole day since the item was made
LEVERAGE, MOST_LEVERAGE = 5, 30  # for each doubling of what waits for it
CONCEPT, MOST_CONCEPTS = 8, 24  # for each concept that the session had before
FILES = 16
EPIC = 12
TOO_LARGE = -60
OUT_OF_INTENT = -40
ASSIGNED = -40

_UNORDERED = 2**62
_CONCEPTS = range(0, MOST_CONCEPTS, CONCEPT)  # points, by how many there are


class Candidate(NamedTuple):
    """An item that might be done. `owner` has a claim that lasts; `epic` is the nearest one that it is part of."""

    id: str
    state: State = State.UNSTARTED
    kind: Kind = Kind.TASK
    user_order: int | None = None
    priority: int = 2
    created_at: int = 0
    targets: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    epic: str | None = None
    tokens: int | None = None
    waiting: int = 0  # unfinished items that it blocks
    only: int = 0  # of these, what nothing else blocks
    parts: int = 0  # of its own, unfinished
    owner: str | None = None
    assignee: str | None = None
    repository: str | None = None


class Worker(NamedTuple):
    """A session: what it did so far, what of its context is left, what it is for. None and nothing are not known."""

    id: str = ""
    folder: str | None = None
    targets: tuple[tuple[str | None, str], ...] = ()  # repository, glob
    concepts: frozenset[str] = frozenset()
    epics: frozenset[str] = frozenset()
    room: int | None = None
    intent: frozenset[str] = frozenset()  # concepts and labels
    is_coach: bool = False


class Running(NamedTuple):
    """An item that is being worked on, by whom, and where."""

    item: str
    owner: str | None = None
    targets: tuple[str, ...] = ()
    repository: str | None = None
    folder: str | None = None


class Gate(msgspec.Struct, frozen=True):
    """Why an item is not for a session at all: `state`, `parts`, `claim`, `conflict`, `worktree`, `role`, or `held`
    where nothing new is begun."""

    kind: str
    text: str
    items: list[str]


class Line(msgspec.Struct, frozen=True):
    """One reason, and what it adds to the score; `soft` is a gate that can be passed."""

    kind: str
    points: int
    text: str
    soft: bool = False


class Choice(msgspec.Struct, frozen=True):
    """An item that a session may do, at its place."""

    item_id: str
    rank: int
    score: int
    reasons: list[Line]


class RuledOut(msgspec.Struct, frozen=True):
    item_id: str
    gates: list[Gate]


class Ranking(msgspec.Struct, frozen=True):
    """The best of what a session may do, the best first; how many there are; and what is ruled out for it."""

    choices: list[Choice]
    total: int
    ruled_out: list[RuledOut]
    total_ruled_out: int


class Clash(NamedTuple):
    """Something that runs and shares a path with a candidate."""

    running: Running
    mine: str
    theirs: str


class Field:
    """What is ready, beside what is running, at a moment. `held`: why nothing of it is begun by anybody."""

    def __init__(
        self, candidates: Iterable[Candidate], running: Iterable[Running], now: int, held: Sequence[Gate] = ()
    ) -> None:
        self.held = list(held)
        self.items = sorted(candidates, key=_usual_place)
        self.running = sorted(running, key=_running_place)
        self.now = now
        self._own = [_own_gates(item) for item in self.items]
        self._clashes = self._find_clashes()
        self._base = [sum(self._points(item)) for item in self.items]
        self._base_lines: dict[int, list[Line]] = {}
        self._conflicts: dict[int, list[Gate]] = {}
        self._ordered = sum(item.user_order is not None for item in self.items)
        # Places in `items` that are open to anybody, and those that are to one session alone.
        self._free: list[int] = []
        self._open_to: dict[str | None, list[int]] = defaultdict(list)
        self._by_word: dict[str, list[int]] = defaultdict(list)
        self._by_concept: dict[str, list[int]] = defaultdict(list)
        self._by_epic: dict[str, list[int]] = defaultdict(list)
        self._by_path: dict[str | None, PathIndex] = defaultdict(PathIndex)
        for place, item in enumerate(self.items):
            self._enter(place, item)
            if not self._own[place]:
                self._open(place, item)
        self._by_size = sorted(range(len(self.items)), key=lambda place: self.items[place].tokens or 0)
        self._sizes = [self.items[place].tokens or 0 for place in self._by_size]
        self._assigned = [place for place, item in enumerate(self.items) if item.assignee is not None]

    def _enter(self, place: int, item: Candidate) -> None:
        for word in {*item.concepts, *item.labels}:
            self._by_word[word].append(place)
        for concept in set(item.concepts):
            self._by_concept[concept].append(place)
        if item.epic is not None:
            self._by_epic[item.epic].append(place)
        for glob in item.targets:
            self._by_path[item.repository].add(glob, str(place))

    def _open(self, place: int, item: Candidate) -> None:
        """What a session has claimed, or does itself, is not in its own way."""
        holders = {clash.running.owner for clash in self._clashes.get(place, ())}
        if item.owner is not None:
            holders.add(item.owner)
        if not holders:
            self._free.append(place)
        elif len(holders) == 1:
            self._open_to[holders.pop()].append(place)

    def _find_clashes(self) -> dict[int, list[Clash]]:
        indexes: dict[str | None, PathIndex] = defaultdict(PathIndex)
        for number, one in enumerate(self.running):
            for glob in one.targets:
                indexes[one.repository].add(glob, str(number))
        found: dict[int, list[Clash]] = {}
        for place, item in enumerate(self.items):
            index = indexes.get(item.repository)
            met: dict[str, Clash] = {}
            for glob in item.targets if index else ():
                for owner, theirs in index.find_all(glob).items() if index else ():
                    met.setdefault(owner, Clash(self.running[int(owner)], glob, theirs))
            clashes = [met[owner] for owner in sorted(met, key=int) if met[owner].running.item != item.id]
            if clashes:
                found[place] = clashes
        return found

    # ---- what a session should do ------------------------------------------------------------------------------------

    def rank(self, worker: Worker, limit: int) -> Ranking:
        """For one session; `limit` bounds what is shown, not what is considered."""
        known, whole = self._known(worker), self._gates_of(worker)
        open_ = [] if whole else self._open_places(worker)
        scores = self._scores(worker, known)
        best = self._best(open_, scores, limit)
        places = set(open_)
        out = islice((place for place in range(len(self.items)) if place not in places), limit)
        return Ranking(
            choices=[
                Choice(self.items[place].id, rank, scores[place], self._lines(place, worker, known))
                for rank, place in enumerate(best, 1)
            ],
            total=len(open_),
            ruled_out=[RuledOut(self.items[place].id, [*whole, *self._gates(place, worker)]) for place in out],
            total_ruled_out=len(self.items) - len(open_),
        )

    def _gates(self, place: int, worker: Worker) -> list[Gate]:
        """All about the item at this place that rules it out for a session."""
        item = self.items[place]
        found = self._own[place].copy()
        if item.owner is not None and item.owner != worker.id:
            found.append(Gate("claim", f"{item.owner} has claimed it", []))
        clashes = self._clashes.get(place)
        if clashes:
            if place not in self._conflicts:
                self._conflicts[place] = [_conflict(clash) for clash in clashes]
            told = self._conflicts[place]
            found += [gate for gate, clash in zip(told, clashes, strict=True) if clash.running.owner != worker.id]
        return found

    def _gates_of(self, worker: Worker) -> list[Gate]:
        """What rules everything out for it."""
        if worker.is_coach:
            return [Gate("role", f"{worker.id} is a coach's session, and a coach does not work on items", [])]
        return self.held + [
            Gate("worktree", f"{one.owner or 'somebody'} works on {one.item} in the same worktree", [one.item])
            for one in self.running
            if worker.folder is not None and one.folder == worker.folder and one.owner != worker.id
        ]

    def _open_places(self, worker: Worker) -> list[int]:
        """What no hard gate of an item's own rules out for a session, as it stands in `items`."""
        mine = self._open_to.get(worker.id)
        return sorted(self._free + mine) if mine else self._free

    def _best(self, places: list[int], scores: list[int], limit: int) -> list[int]:
        """The first of these: what is ordered, which has the first places of all, then by score."""
        first = bisect_left(places, self._ordered)
        head = sorted(places[:first], key=lambda place: (self.items[place].user_order, -scores[place]))
        rest = limit - len(head)
        return head[:limit] + (nlargest(rest, places[first:], key=scores.__getitem__) if rest > 0 else [])

    def _scores(self, worker: Worker, known: _Known) -> list[int]:
        """Of every item, in the order of `items`."""
        if known.inside is None:
            scores = self._base.copy()
        else:
            scores = [score + OUT_OF_INTENT for score in self._base]
            for place in known.inside:
                scores[place] -= OUT_OF_INTENT
        for place, many in known.shared.items():
            scores[place] += _CONCEPTS[many] if many < len(_CONCEPTS) else MOST_CONCEPTS
        for place in known.files:
            scores[place] += FILES
        for place in known.epics:
            scores[place] += EPIC
        for place in self._assigned:
            if self.items[place].assignee != worker.id:
                scores[place] += ASSIGNED
        if worker.room is not None:
            for place in self._by_size[bisect_right(self._sizes, worker.room) :]:
                scores[place] += TOO_LARGE
        return scores

    def _known(self, worker: Worker) -> _Known:
        shared: dict[int, int] = defaultdict(int)
        for concept in worker.concepts:
            for place in self._by_concept.get(concept, ()):
                shared[place] += 1
        files: dict[int, str] = {}
        for repository, glob in sorted(worker.targets, key=lambda each: (each[0] or "", each[1])):
            if repository in self._by_path:
                for owner in self._by_path[repository].find_all(glob):
                    files.setdefault(int(owner), glob)
        epics = {place for epic in worker.epics for place in self._by_epic.get(epic, ())}
        inside = {place for word in worker.intent for place in self._by_word.get(word, ())} if worker.intent else None
        return _Known(shared, files, epics, inside)

    def _lines(self, place: int, worker: Worker, known: _Known) -> list[Line]:
        item = self.items[place]
        lines = self._lines_of_item(place).copy()
        if place in known.shared:
            both = sorted(worker.concepts.intersection(item.concepts))
            lines.append(Line("concept", _concept_points(len(both)), f"the session had this before: {', '.join(both)}"))
        if place in known.files:
            lines.append(Line("files", FILES, f"it touches what the session knows: {known.files[place]}"))
        if place in known.epics:
            lines.append(Line("epic", EPIC, f"the session worked on {item.epic}, which it is part of"))
        if worker.room is not None and (item.tokens or 0) > worker.room:
            text = f"about {item.tokens:,} tokens, and the session has room for {worker.room:,}"
            lines.append(Line("size", TOO_LARGE, text, soft=True))
        if known.inside is not None and place not in known.inside:
            text = f"it is about none of what the session is for: {', '.join(sorted(worker.intent))}"
            lines.append(Line("intent", OUT_OF_INTENT, text, soft=True))
        if item.assignee is not None and item.assignee != worker.id:
            lines.append(Line("assignee", ASSIGNED, f"it is assigned to {item.assignee}", soft=True))
        return lines

    def _points(self, item: Candidate) -> tuple[int, int, int]:
        """What counts whoever asks: priority, leverage, age."""
        return (
            PRIORITY * (LOWEST_PRIORITY - item.priority),
            min(MOST_LEVERAGE, LEVERAGE * item.waiting.bit_length()),
            DAY * max(0, (self.now - item.created_at) // clock.DAY),
        )

    def _lines_of_item(self, place: int) -> list[Line]:
        """The same in words; made once, where it is shown."""
        found = self._base_lines.get(place)
        if found is None:
            item = self.items[place]
            priority, leverage, age = self._points(item)
            found = [Line("priority", priority, f"priority {item.priority}")]
            if item.user_order is not None:
                found.insert(0, Line("ordered", 0, f"you ordered it: place {item.user_order}"))
            if leverage:
                found.append(Line("leverage", leverage, _waiting_words(item.waiting, item.only)))
            if age:
                found.append(Line("age", age, "a day old" if age == DAY else f"{age // DAY} days old"))
            if not item.targets:
                found.append(Line("targets", 0, "it names no targets: nobody knows which files it will touch"))
            self._base_lines[place] = found
        return found

    def open_to_anyone(self) -> Sequence[Candidate]:
        """What nothing rules out, whoever would do it, the best first."""
        if self.held:
            return []
        anyone = Worker()
        scores = self._scores(anyone, self._known(anyone))
        return [self.items[place] for place in self._best(self._free, scores, len(self.items))]


class _Known(NamedTuple):
    """Where a session meets what is ready: places in a field. `inside` is what it is for, if that is known."""

    shared: dict[int, int]
    files: dict[int, str]
    epics: set[int]
    inside: set[int] | None


def _usual_place(item: Candidate) -> tuple[int, int, int, str]:
    order = _UNORDERED if item.user_order is None else item.user_order
    return order, item.priority, item.created_at, item.id


def _running_place(one: Running) -> tuple[str, str, str, str, tuple[str, ...]]:
    return one.item, one.owner or "", one.folder or "", one.repository or "", one.targets


def _own_gates(item: Candidate) -> list[Gate]:
    """What rules an item out for everybody."""
    found = []
    if item.state not in STARTABLE:
        text = f"it is {item.state}; what can be begun is {' or '.join(sorted(STARTABLE, reverse=True))}"
        found.append(Gate("state", text, []))
    if item.kind is Kind.MILESTONE:
        found.append(Gate("parts", "it is a milestone: what is worked on are its parts", []))
    elif item.parts:
        many = "one unfinished part" if item.parts == 1 else f"{item.parts} unfinished parts"
        found.append(Gate("parts", f"it has {many}, which are worked on instead", []))
    return found


def _conflict(clash: Clash) -> Gate:
    one = clash.running
    by = f"by {one.owner} " if one.owner else ""
    text = f"{one.item}, worked on {by}now, touches {clash.theirs}; this touches {clash.mine}"
    return Gate("conflict", text, [one.item])


def _waiting_words(waiting: int, only: int) -> str:
    """How many wait for an item, and how many of them for nothing else."""
    who = "one item waits for it" if waiting == 1 else f"{waiting} items wait for it"
    if only == waiting:
        return f"{who}, and for nothing else"
    return f"{who}, {only} of them for nothing else" if only else who


def _concept_points(many: int) -> int:
    return min(MOST_CONCEPTS, CONCEPT * many)
