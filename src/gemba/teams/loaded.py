"""What a task's turn begins with of its team's knowledge, bounded for a prompt, and how an envelope carries it. Pure.

Each channel has its own room; what does not fit is left out whole and counted, never cut in the middle. The same rows
make the same knowledge. Made by `loading.py`; `as_knowledge` is the `team` of an input envelope's project_knowledge.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from gemba.teams.knowledge import KINDS, Exploration, Kind, Reported

# Characters of each channel; together what a prompt can bear.
ROOM_FOR_STATES = 12_000
ROOM_FOR_CHAIN = 6_000
ROOM_FOR_WISDOM = 6_000
ROOM_FOR_EXPLORATIONS = 4_000
MOST_SHOWN_FILES = 20
_WORD = re.compile(r"[a-z0-9_]+(?:-[0-9]{3,5})?")
_FIRST: tuple[Kind, ...] = ("decisions", "conventions", "issues", "learnings")  # where a role-spec names none

T = TypeVar("T")


class LoadedState(msgspec.Struct, frozen=True):
    """A task upstream: who did it, what for, and what it says of itself."""

    task_id: str
    owner: str
    goal: str
    state: Reported
    artifacts: tuple[str, ...]


class LoadedArtifact(msgspec.Struct, frozen=True):
    name: str
    task_id: str
    version: int
    digest: str
    size: int
    lines: int
    content: str


class LoadedWisdom(msgspec.Struct, frozen=True):
    number: int
    kind: Kind
    words: str
    task_id: str | None
    author: str


class LoadedEntry(msgspec.Struct, frozen=True):
    """What an earlier task of the chain accumulated."""

    task_id: str
    version: int
    entry: dict[str, Any]


class Loaded(msgspec.Struct, frozen=True):
    """All of it. `left_out` counts by channel what there was no room for."""

    task_id: str
    states: tuple[LoadedState, ...] = ()
    artifacts: tuple[LoadedArtifact, ...] = ()
    wisdom: tuple[LoadedWisdom, ...] = ()
    explorations: tuple[Exploration, ...] = ()
    chain: tuple[LoadedEntry, ...] = ()
    left_out: dict[str, int] = {}


class Named(NamedTuple):
    """What the line `Loads:` of a role-spec asks for beside what every task gets: kinds of wisdom that go first, and
    words by which a task further upstream is meant (its id, prefix, role or a capability of that, in small letters)."""

    kinds: tuple[Kind, ...]
    words: frozenset[str]


def named_in(loads: Iterable[str]) -> Named:
    words = frozenset(_WORD.findall(" ".join(loads).casefold()))
    first = [kind for kind in KINDS if kind in words or kind.removesuffix("s") in words]
    return Named((*first, *(kind for kind in _FIRST if kind not in first)), words)


def within(items: Sequence[T], room: int, size: Callable[[T], int]) -> tuple[tuple[T, ...], int]:
    """The first items that fit, each whole, and how many do not."""
    kept = []
    for item in items:
        needed = size(item)
        if needed <= room:
            room -= needed
            kept.append(item)
    return tuple(kept), len(items) - len(kept)


def size_of(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False))


# ---- for an envelope -------------------------------------------------------------------------------------------------


def as_knowledge(loaded: Loaded) -> dict[str, Any]:
    """Plain JSON values: a list a channel, in words that an agent reads; channels without anything are not there."""
    found: dict[str, Any] = {
        "upstream": [upstream_entry(each) for each in loaded.states],
        "chain": [chain_entry(each) for each in loaded.chain],
        "wisdom": [wisdom_entry(each) for each in loaded.wisdom],
        "explorations": [exploration_entry(each) for each in loaded.explorations],
        "left_out": dict(loaded.left_out),
    }
    return {name: value for name, value in found.items() if value}


def upstream_entry(each: LoadedState) -> dict[str, Any]:
    state = each.state
    told = {
        "task": each.task_id,
        "role": each.owner,
        "goal": each.goal,
        "key_findings": [*state.key_findings],
        "decisions": [f"{known.decision} (because: {known.reason})" for known in state.decisions],
        "files_modified": [*state.files_modified[:MOST_SHOWN_FILES]],
        "verification": state.verification,
        "artifacts": [f".gemba/artifacts/{name}" for name in each.artifacts[:MOST_SHOWN_FILES]],
    }
    return {key: value for key, value in told.items() if value}


def chain_entry(each: LoadedEntry) -> dict[str, Any]:
    return {"task": each.task_id} | {key: value for key, value in each.entry.items() if value}


def wisdom_entry(each: LoadedWisdom) -> dict[str, Any]:
    source = {} if each.task_id is None else {"task": each.task_id}
    return {"kind": each.kind, "words": each.words, "from": each.author} | source


def exploration_entry(each: Exploration) -> dict[str, Any]:
    told = {"angle": each.angle, "summary": each.summary, "files": [*each.files][:MOST_SHOWN_FILES]}
    return told if each.task_id is None else told | {"task": each.task_id}
