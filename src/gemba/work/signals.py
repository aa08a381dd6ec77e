"""Planning signals of epics: what the board says of each, as numbers with a line of words. No I/O.

`measure` is one function over stored facts (`board` reads them): where an epic stands among those that wait for each
other, what hangs on it, whether it is on the longest chain, how old it is, which files it is about, how large it is
beside what was finished lately, who waits for an answer about it, and how many of its parts could be begun now. They
are the `derived` of the epics that are put into an order.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

import msgspec

from gemba import clock
from gemba.work.chains import counts, depths, heaviest, in_order, turned
from gemba.work.item import FINISHED, Kind, State

MOST_FILES = 200  # of a signature

_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class Fact(NamedTuple):
    """An item as planning sees it."""

    id: str
    title: str
    kind: Kind
    state: State
    parent: str | None = None
    created_at: int = 0
    user_order: int | None = None
    tokens: int | None = None
    targets: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    is_ready: bool = False


class Finished(NamedTuple):
    """An epic that was finished lately; what is not known is None."""

    id: str
    title: str
    closed_at: int
    started_at: int | None = None
    tokens: int | None = None


class Board(NamedTuple):
    """`items` are all that are not finished, with the finished parts of unfinished epics; `blocks` are pairs of those
    (what blocks, what is blocked). `touched` has the files that commits about an item changed, `waiting` how many
    escalations about one are open, `summaries` what an epic says of itself."""

    items: Mapping[str, Fact]
    blocks: Sequence[tuple[str, str]]
    finished: Sequence[Finished] = ()
    touched: Mapping[str, Sequence[str]] = {}
    waiting: Mapping[str, int] = {}
    summaries: Mapping[str, str] = {}


class Parts(msgspec.Struct, frozen=True):
    """What an epic is made of, near or far; other epics in it count as their own."""

    total: int
    finished: int
    ready: int
    started: int


class Signals(msgspec.Struct, frozen=True, kw_only=True):
    """`depth`, `frees` and what follows from chains are null for what waits in a circle. Sizes are tokens."""

    depth: int | None
    unblocks: int
    frees: int | None
    chain_tokens: int | None
    on_critical_path: bool
    age_days: int
    files: list[str]
    estimated_tokens: int | None
    size_against_recent: float | None
    open_escalations: int
    parts: Parts
    readiness: float
    labels: list[str]
    why: list[str]


class Epic(NamedTuple):
    """An unfinished epic with what it waits for, and what it is part of."""

    fact: Fact
    parent_epic: str | None
    depends_on: list[str]
    signals: Signals


def measure(board: Board, now: int) -> dict[str, Epic]:
    """Every unfinished epic by its id, the oldest first."""
    within = _within(board.items)
    epics = sorted(
        (one for one in board.items.values() if one.kind is Kind.EPIC and one.state not in FINISHED),
        key=lambda one: (one.created_at, one.id),
    )
    above = {one.id: _line(within, one.id) for one in epics}
    waits = _waits(board, within, above)
    members = _members(board.items, within)
    size = {one.id: _tokens(one, members[one.id]) for one in epics}
    chains = _Chains(waits, {id: known or 0 for id, known in size.items()})
    usual = [one.tokens for one in board.finished if one.tokens]
    recent = median(usual) if usual else None
    return {
        one.id: Epic(
            one,
            above[one.id][0] if above[one.id] else None,
            list(waits[one.id]),
            _signals(one, members[one.id], board, chains, size[one.id], recent, now),
        )
        for one in epics
    }


def enclosing(items: Mapping[str, Fact]) -> dict[str, str]:
    """By item the unfinished epic that it is, or else the nearest that it is part of; those in none are left out."""
    found = {id: id if _is_open_epic(items[id]) else epic for id, epic in _within(items).items()}
    return {id: epic for id, epic in found.items() if epic is not None}


def touched_by(commits: Iterable[tuple[str, Sequence[str]]], items: Container[str]) -> dict[str, list[str]]:
    """By item the files of the commits whose message names its id, each once; the first of them are kept."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for message, files in commits:
        for id in {word.rstrip(".-_") for word in _WORD.findall(message)}:
            if id in items:
                found[id] |= dict.fromkeys(files)
    return {id: list(files)[:MOST_FILES] for id, files in found.items()}


class _Chains:
    """What follows from who waits for whom."""

    def __init__(self, waits: Mapping[str, tuple[str, ...]], size: Mapping[str, int]) -> None:
        self.after = turned(waits)
        self.order = in_order(waits, self.after)
        self.depth = depths(self.order, waits)
        self.frees = counts(self.order, self.after)
        ahead = heaviest(self.order, self.after, size)
        behind = heaviest(self.order[::-1], waits, size)
        self.through = {id: ahead[id] + behind[id] - size[id] for id in self.order}
        self.longest = max(self.through.values(), default=0)
        self.is_chained = {id: bool(waits[id] or self.after[id]) for id in waits}


def _signals(
    epic: Fact,
    members: Sequence[Fact],
    board: Board,
    chains: _Chains,
    tokens: int | None,
    recent: float | None,
    now: int,
) -> Signals:
    unfinished = [one for one in members if one.state not in FINISHED]
    parts = Parts(
        len(members),
        len(members) - len(unfinished),
        sum(one.is_ready for one in unfinished),
        sum(one.state in (State.IN_PROGRESS, State.REVIEW) for one in unfinished),
    )
    # Without parts it is begun itself.
    could = parts.ready / len(unfinished) if unfinished else float(epic.is_ready and not members)
    waiting = sum(board.waiting.get(one.id, 0) for one in (epic, *members))
    through = chains.through.get(epic.id)
    found = Signals(
        depth=chains.depth.get(epic.id),
        unblocks=len(chains.after[epic.id]),
        frees=chains.frees.get(epic.id),
        chain_tokens=through,
        on_critical_path=chains.is_chained[epic.id] and through is not None and through == chains.longest,
        age_days=max(0, (now - epic.created_at) // clock.DAY),
        files=_files((epic, *unfinished), board.touched),
        estimated_tokens=tokens,
        size_against_recent=round(tokens / recent, 2) if tokens and recent else None,
        open_escalations=waiting,
        parts=parts,
        readiness=round(could, 2),
        labels=list(epic.labels),
        why=[],
    )
    return msgspec.structs.replace(found, why=_why(found, chains))


def _why(found: Signals, chains: _Chains) -> list[str]:
    lines = []
    if found.depth is None:
        lines.append("it waits in a circle of epics, or behind one")
    elif found.depth:
        one_epic = "one epic comes before it"
        lines.append(one_epic if found.depth == 1 else f"{found.depth} epics one behind the other come before it")
    if found.unblocks:
        lines.append(_waiting_words(found.unblocks, found.frees or found.unblocks))
    if found.on_critical_path:
        lines.append(f"it is on the longest chain: {chains.longest:,} tokens")
    if found.parts.total:
        parts = found.parts
        said = f"{parts.finished} finished, {parts.started} begun, {parts.ready} ready"
        lines.append(f"of {parts.total} parts {said}")
    if found.size_against_recent is not None:
        lines.append(f"{found.size_against_recent:g} times the size of what was finished lately")
    if found.open_escalations:
        asked = found.open_escalations
        lines.append("one escalation about it is open" if asked == 1 else f"{asked} escalations about it are open")
    if not found.files:
        lines.append("nobody knows which files it will touch")
    lines.append("a day old" if found.age_days == 1 else f"{found.age_days} days old")
    return lines


def _waiting_words(directly: int, in_all: int) -> str:
    who = "one epic waits" if directly == 1 else f"{directly} epics wait"
    return f"{who} for it" if directly == in_all else f"{who} for it directly, {in_all} in all"


# ---- epics and what is in them ---------------------------------------------------------------------------------------


def _within(items: Mapping[str, Fact]) -> dict[str, str | None]:
    """By item the nearest unfinished epic above it; each way up is walked once."""
    found: dict[str, str | None] = {}
    for id in items:
        way: list[str] = []
        at: str | None = id
        while at is not None and at in items and at not in found:
            found[at] = None  # so that a circle ends
            way.append(at)
            at = items[at].parent
        for each in reversed(way):
            parent = items[each].parent
            if parent is not None and parent in items:
                found[each] = parent if _is_open_epic(items[parent]) else found[parent]
    return found


def _is_open_epic(one: Fact) -> bool:
    return one.kind is Kind.EPIC and one.state not in FINISHED


def _line(within: Mapping[str, str | None], id: str) -> list[str]:
    """The epics above an epic, the nearest first."""
    found: list[str] = []
    at = within[id]
    while at is not None and at not in found:
        found.append(at)
        at = within[at]
    return found


def _members(items: Mapping[str, Fact], within: Mapping[str, str | None]) -> dict[str, list[Fact]]:
    found: dict[str, list[Fact]] = defaultdict(list)
    for id, epic in sorted(within.items()):
        if epic is not None and not _is_open_epic(items[id]):
            found[epic].append(items[id])
    return found


def _waits(
    board: Board, within: Mapping[str, str | None], above: Mapping[str, list[str]]
) -> dict[str, tuple[str, ...]]:
    """Which epics each waits for: what blocks it, a part of it or what it is part of, as the epic which that is in.

    What an epic has from within, or from what it is part of, is no other epic's.
    """
    found: dict[str, dict[str, None]] = {id: {} for id in above}
    for source, target in sorted(board.blocks):
        first, second = _epic_of(board.items, within, source), _epic_of(board.items, within, target)
        if first is None or second is None or first == second:
            continue
        if first not in above[second] and second not in above[first]:
            found[second][first] = None
    for id, line in above.items():
        for ancestor in line:
            own = {id, *above[id]}
            found[id] |= {each: None for each in found[ancestor] if each not in own and id not in above[each]}
    return {id: tuple(sorted(each)) for id, each in found.items()}


def _epic_of(items: Mapping[str, Fact], within: Mapping[str, str | None], id: str) -> str | None:
    if id not in items or items[id].state in FINISHED:
        return None
    return id if _is_open_epic(items[id]) else within[id]


def _tokens(epic: Fact, members: Iterable[Fact]) -> int | None:
    """Its own estimate, or what its unfinished parts are estimated at together."""
    known = [one.tokens for one in members if one.tokens is not None and one.state not in FINISHED]
    return epic.tokens if epic.tokens is not None else sum(known) if known else None


def _files(items: Iterable[Fact], touched: Mapping[str, Sequence[str]]) -> list[str]:
    """What they name, then what commits about them changed."""
    known = list(items)
    named = dict.fromkeys(glob for one in known for glob in one.targets)
    named |= dict.fromkeys(path for one in known for path in touched.get(one.id, ()))
    return list(named)[:MOST_FILES]
