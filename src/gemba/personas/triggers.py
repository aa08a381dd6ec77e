"""The signals that a persona's `triggers` name, as far as they are there at this moment. Pure: what was read in, words
and references out.

A signal is not an event that was missed: it is asked for when somebody wants perspectives, and says what is so then. An
epic counts for the things that belong to it; a sprint and the set of what is ready count for everything. Called by
`asking`, with what `around` has read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec

from gemba import clock
from gemba.paths import PathIndex
from gemba.personas.persona import Persona
from gemba.skills.consult import perspective

WINDOW: Final = clock.DAY  # how long an epic's change is news
MOST_SIGNALS: Final = 5  # of one trigger; how many more there are is said
MOST_REFS: Final = 10
_BURNT: Final = ("warn", "stop")  # the levels of a sprint that ask a person


class Signal(msgspec.Struct, frozen=True):
    """What fires a trigger now, in a sentence, and where it can be seen."""

    trigger: str
    text: str
    refs: list[str]


class ItemSeen(NamedTuple):
    """A work item as far as a perspective is concerned with it."""

    id: str
    title: str
    kind: str
    state: str
    priority: int
    created_at: int
    labels: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    repository: str | None = None
    blocked_by: tuple[str, ...] = ()


class EpicMove(NamedTuple):
    epic_id: str
    title: str
    before: str
    after: str
    at: int
    actor: str


class SprintSeen(NamedTuple):
    """`cards` are the escalations in which it asks about its budget."""

    id: str
    title: str
    level: str
    tokens_used: int
    token_budget: int
    ends_at: int | None
    cards: tuple[str, ...] = ()


class Touching(NamedTuple):
    """An item and the paths that it says it touches."""

    id: str
    repository: str | None
    targets: tuple[str, ...]


class Around(NamedTuple):
    """A thing, the item that it is about, and what is around it. `thing` is what is told of one that is no item,
    `asked` the escalations about the item that wait, `own` the item or its parts, `at_work` what is worked on."""

    ref: str
    thing: Mapping[str, Any] | None = None
    item: ItemSeen | None = None
    asked: Sequence[str] = ()
    moves: Sequence[EpicMove] = ()
    sprint: SprintSeen | None = None
    ready: int = 0
    unfinished: Sequence[str] = ()
    unfinished_total: int = 0
    own: Sequence[Touching] = ()
    at_work: Sequence[Touching] = ()


def signals_now(around: Around, now: int) -> list[Signal]:
    """Everything that fires, in the order of the triggers."""
    return [signal for of in _SIGNALS.values() for signal in of(around, now)]


def own_signals(persona: Persona, signals: Sequence[Signal]) -> list[Signal]:
    """Those that its triggers name."""
    return [signal for signal in signals if signal.trigger in persona.perspective.triggers]


def silence(persona: Persona, signals: Sequence[Signal]) -> str | None:
    """Why a persona is not asked for a comment now; None where it is."""
    mode, named = persona.perspective.volunteer_mode, persona.perspective.triggers
    if mode == "never":
        return "its volunteer_mode is never"
    if perspective.SKILL.id not in persona.skills:
        listed = ", ".join(persona.skills) or "none"
        return f"it does not list the skill {perspective.SKILL.id}; it lists: {listed}"
    if mode == "on_trigger" and not own_signals(persona, signals):
        return (
            f"its volunteer_mode is on_trigger, and none of its triggers fires now: {', '.join(named) or 'it has none'}"
        )
    return None


def words_of(signals: Sequence[Signal]) -> str:
    """The signals as a persona is told of them, each with its references."""
    lines = [f"- {each.trigger}: {each.text} (refs: {', '.join(each.refs) or 'none'})" for each in signals]
    return (
        "\n".join(["These of your triggers fire now; link what you say of one to its refs:", *lines]) if lines else ""
    )


# ---- one trigger each ------------------------------------------------------------------------------------------------


def _epic_state_changed(around: Around, _now: int) -> Iterator[Signal]:
    for move in around.moves[:MOST_SIGNALS]:
        when = clock.rfc3339(move.at)
        text = (
            f"the epic {move.epic_id} ({move.title}) went from {move.before} to {move.after} at {when}, by {move.actor}"
        )
        yield Signal("epic_state_changed", text, [move.epic_id])


def _sprint_overrun(around: Around, now: int) -> Iterator[Signal]:
    sprint = around.sprint
    if sprint is None:
        return
    over = []
    if sprint.level in _BURNT:
        used = f"{sprint.tokens_used:,} of {sprint.token_budget:,} tokens"
        over.append(f"has used {used} and passed its threshold {sprint.level}")
    if sprint.ends_at is not None and sprint.ends_at < now:
        over.append(f"was to end at {clock.rfc3339(sprint.ends_at)}")
    if over:
        text = f"the sprint {sprint.id} ({sprint.title}) {' and '.join(over)}"
        yield Signal("sprint_overrun", text, [sprint.id, *sprint.cards])


def _ready_set_empty(around: Around, _now: int) -> Iterator[Signal]:
    if around.ready == 0 and around.unfinished_total:
        text = f"nothing is ready to be begun, and {around.unfinished_total:,} items are not finished"
        yield Signal("ready_set_empty", text, list(around.unfinished[:MOST_REFS]))


def _parallel_conflict(around: Around, _now: int) -> Iterator[Signal]:
    index: dict[str | None, PathIndex] = defaultdict(PathIndex)
    for other in around.at_work:
        for glob in other.targets:
            index[other.repository].add(glob, other.id)
    found: dict[frozenset[str], Signal] = {}
    for item in around.own:
        for glob in item.targets:
            for other_id, theirs in sorted(index[item.repository].find_all(glob).items()):
                pair = frozenset({item.id, other_id})
                if len(pair) > 1 and pair not in found:
                    text = f"{item.id} touches {glob}, and {other_id}, which is being worked on, touches {theirs}"
                    found[pair] = Signal("parallel_conflict", text, [item.id, other_id])
    shown = list(found.values())
    more = len(shown) - MOST_SIGNALS
    for place, signal in enumerate(shown[:MOST_SIGNALS], 1):
        rest = f" (and {more} more pairs)" if place == MOST_SIGNALS and more > 0 else ""
        yield msgspec.structs.replace(signal, text=signal.text + rest)


_SIGNALS: Final[Mapping[str, Callable[[Around, int], Iterator[Signal]]]] = MappingProxyType(
    {
        "epic_state_changed": _epic_state_changed,
        "sprint_overrun": _sprint_overrun,
        "ready_set_empty": _ready_set_empty,
        "parallel_conflict": _parallel_conflict,
    }
)
TRIGGERS: Final = tuple(_SIGNALS)
