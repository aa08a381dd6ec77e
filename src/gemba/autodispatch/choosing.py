"""What is started next without a person, for whom, and why; or why nothing is. A pure decision.

Gates are lists of small functions: those of the workspace hold everything, those of a type of agent hold that type, and
those of new sessions leave the living ones of a type free to go on. Of those who may work, each has its ranking of what
is ready (`work.selection`); what the operator ordered goes first whoever would do it, then the highest score, and a
session that lives before one that would have to be started.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from gemba import clock
from gemba.autodispatch.start import AutoHold, pause_after
from gemba.work.selection import Choice, Field, Worker

_UNORDERED = 2**62


class TypeFacts(NamedTuple):
    """A type of agent: whether it is switched on, and what of its limits is taken."""

    name: str
    on: bool = False
    unusable: str | None = None  # why none of it can run here
    living: int = 0  # sessions, with those that are about to start
    most: int = 1
    started: int = 0  # within the hour
    rate: int = 0  # that many may be; 0 is no limit
    fewer_at: int = 0  # then one of them is longer ago than an hour
    failures: int = 0  # starts in a row that went wrong, since it was switched on
    failed_at: int = 0


class Free(NamedTuple):
    """A session that lives, and whose last dispatch is complete."""

    agent_type: str
    worker: Worker


class Situation(NamedTuple):
    """Everything that is decided on. `others` are holds of other parts, such as a sprint that is stopped; `kept` are
    items that a person has to look at first, each with the reason."""

    on: bool
    field: Field
    types: Sequence[TypeFacts] = ()
    free: Sequence[Free] = ()
    running: int = 0  # of what was started so
    most: int = 1
    others: Sequence[AutoHold] = ()
    kept: Mapping[str, str] = {}
    now: int = 0


class Chosen(NamedTuple):
    """An item for a session; without a `session_id` for a new one of the type."""

    choice: Choice
    agent_type: str
    session_id: str | None
    because: str


class Decision(NamedTuple):
    """`has_room`: somebody could begin something now. `again_at`: then a hold ends by itself."""

    chosen: Chosen | None
    holds: list[AutoHold]
    has_room: bool
    again_at: int | None


# ---- gates -----------------------------------------------------------------------------------------------------------


def _switched_off(known: Situation) -> list[AutoHold]:
    return [] if known.on else [AutoHold("off", "auto-dispatch is off for the workspace; on: gemba auto on")]


def _others(known: Situation) -> list[AutoHold]:
    return list(known.others)


def _full(known: Situation) -> list[AutoHold]:
    if known.running < known.most:
        return []
    place = "max_parallel of [auto] in .gemba/workspace.toml"
    return [AutoHold("full", f"{known.running} run that were started so; allowed: {known.most} ({place})")]


def _type_off(one: TypeFacts, _now: int) -> str | None:
    return None if one.on else f"it is off for {one.name}; on: gemba auto on --agent {one.name}"


def _unusable(one: TypeFacts, _now: int) -> str | None:
    return None if one.unusable is None or not one.on else f"{one.name} cannot run here: {one.unusable}"


def _failing(one: TypeFacts, now: int) -> str | None:
    if now >= _mended_at(one):
        return None
    many = "the last start" if one.failures == 1 else f"the last {one.failures} starts"
    return f"{many} of {one.name} went wrong: the next is not before {clock.rfc3339(_mended_at(one))}"


def _no_slot(one: TypeFacts, _now: int) -> str | None:
    return None if one.living < one.most else f"{one.living} of {one.name} run; allowed: {one.most} (max_parallel)"


def _too_often(one: TypeFacts, _now: int) -> str | None:
    if not one.rate or one.started < one.rate:
        return None
    return f"{one.started} of {one.name} were started within the hour; allowed: {one.rate} (runs_per_hour)"


TypeGate = Callable[[TypeFacts, int], str | None]
WORKSPACE: tuple[Callable[[Situation], list[AutoHold]], ...] = (_switched_off, _others, _full)
TYPE: tuple[tuple[str, TypeGate], ...] = (("type_off", _type_off), ("unusable", _unusable), ("failing", _failing))
NEW: tuple[tuple[str, TypeGate], ...] = (("max_parallel", _no_slot), ("runs_per_hour", _too_often))


def _held(one: TypeFacts, gates: Sequence[tuple[str, TypeGate]], now: int) -> list[AutoHold]:
    found = [(kind, text) for kind, gate in gates if (text := gate(one, now)) is not None]
    ends = {"failing": _mended_at(one), "runs_per_hour": _fewer_at(one)}
    return [AutoHold(kind, text, one.name, clock.rfc3339(ends[kind]) if kind in ends else None) for kind, text in found]


def _fewer_at(one: TypeFacts) -> int:
    return one.fewer_at if one.rate and one.started >= one.rate else 0


def _mended_at(one: TypeFacts) -> int:
    return one.failed_at + pause_after(one.failures) if one.failures else 0


def workers_of(known: Situation) -> int | None:
    """How many may work at once where work is started by itself; None where a person starts it."""
    most = sum(one.most for one in known.types if one.on and one.unusable is None)
    return min(known.most, most) if known.on and most else None


# ---- the choice ------------------------------------------------------------------------------------------------------


def decide(known: Situation) -> Decision:
    holds = [hold for gate in WORKSPACE for hold in gate(known)]
    by_type = {one.name: _held(one, TYPE, known.now) for one in known.types}
    for_new = {one.name: _held(one, NEW, known.now) for one in known.types if not by_type[one.name]}
    told = [*holds, *(hold for each in (*by_type.values(), *for_new.values()) for hold in each)]
    moments = [moment for one in known.types if one.on for moment in (_mended_at(one), _fewer_at(one))]
    again = min((moment for moment in moments if moment > known.now), default=None)
    if holds:
        return Decision(None, told, False, again)
    free = [one for one in known.free if by_type.get(one.agent_type) == []]
    new = sorted((one for one in known.types if for_new.get(one.name) == []), key=lambda one: (one.living, one.name))
    options = [_option(known, one.worker, one.agent_type, one.worker.id, _FREE.format(one.worker.id)) for one in free]
    if new:
        first = new[0]
        because = f"{first.name} has room: {first.living} of {first.most} run"
        options.append(_option(known, Worker(), first.name, None, because))
    best = min((one for one in options if one is not None), key=lambda one: _place(known, one), default=None)
    return Decision(best, told, bool(free or new), again)


_FREE = "{} is free: its last dispatch is complete"


def _option(known: Situation, worker: Worker, agent_type: str, session: str | None, because: str) -> Chosen | None:
    """The best that one could do."""
    ranking = known.field.rank(worker, 1 + len(known.kept))
    choice = next((each for each in ranking.choices if each.item_id not in known.kept), None)
    return None if choice is None else Chosen(choice, agent_type, session, because)


def _place(known: Situation, option: Chosen) -> tuple[int, int, bool, str]:
    ordered = next(item.user_order for item in known.field.items if item.id == option.choice.item_id)
    order = _UNORDERED if ordered is None else ordered
    return order, -option.choice.score, option.session_id is None, option.session_id or option.agent_type
