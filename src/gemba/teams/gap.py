"""A skill that is missing in a run, as somebody at work says it, and what follows: one more task for a role that has
it, a role for it where there is room, or a question to a person. Pure and deterministic, each with its reason.

Words are looked up in the same list as a run's text, and nothing else of them is understood. Called by `gaps`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gemba.teams.capabilities import Capability, Vocabulary, form_of
from gemba.teams.plan import PlanRole
from gemba.text import one_line, storable

LONGEST = 100  # characters of a capability's name


class Gap(NamedTuple):
    """What is missing for a task of `owner`. `for_gap`: the task was itself added for a gap."""

    capability: str
    owner: str
    for_gap: bool
    roles: Sequence[PlanRole]
    max_roles: int


class Closing(NamedTuple):
    """Without a `role` a person is asked. `goal` is what a task of the capability is told to reach."""

    reason: str
    role: PlanRole | None = None
    is_new: bool = False
    goal: str = ""


def name_of(capability: str) -> str:
    """A capability as it is compared: the same words are the same gap, however they are written."""
    return one_line(storable(capability), LONGEST).casefold().strip()


def close(gap: Gap, vocabulary: Vocabulary) -> Closing:
    if gap.for_gap:
        return Closing("the task was itself added for what another one missed")
    known = _known(gap.capability, vocabulary)
    name = known.name if known is not None else gap.capability
    goal = known.goal if known is not None else ""
    has_it = next((role for role in gap.roles if name in (role.name, *role.capabilities)), None)
    if has_it is not None and has_it.name == gap.owner:
        return Closing(f"{name} is what its own role, {gap.owner}, is there for")
    if has_it is not None:
        return Closing(f"{has_it.name} has it", has_it, goal=goal)
    if known is None:
        names = ", ".join(each.name for each in vocabulary.capabilities)
        return Closing(f"nobody in the run has it, and it is no capability that is known: {names}")
    if len(gap.roles) >= gap.max_roles:
        return Closing(f"nobody in the run has it, and with {len(gap.roles)} roles the limit is reached")
    taken = next((role for role in gap.roles if known.prefix == role.prefix), None)
    if taken is not None:
        return Closing(f"nobody in the run has it, and its prefix {known.prefix} is taken by {taken.name}")
    role = PlanRole(known.name, known.prefix, capabilities=(known.name,))
    return Closing("nobody in the run has it, and there is room for a role", role, is_new=True, goal=goal)


def _known(capability: str, vocabulary: Vocabulary) -> Capability | None:
    """By its name, its prefix, or a word of the list that asks for it."""
    meaning = vocabulary.meanings.get(form_of(capability))
    names = {capability, meaning.capability if meaning is not None else capability}
    return next(
        (each for each in vocabulary.capabilities if each.name in names or each.prefix.casefold() == capability), None
    )
