"""What a slice above the skills knows of one of them: how it is answered without a model, and what is wrong with its
lines as a whole.

A skill's own rules are in its grammar. Some jobs have their rules in a slice that lies above the skills: the plan of a
team is judged by teams, whoever proposes it. Such a slice hands in an expert, with the surroundings of a transaction
(`experts`, by the skill's id), and consults ask it in the place of a second set of rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from gemba.skills.consult.judge import OrderError


class Expert(NamedTuple):
    """`advise` gives the lines for an input, in the name of the persona of that id, or raises what it refuses. Where
    there are `faults` of lines as a whole, those of a model that have one are set aside, and the expert's are taken
    instead."""

    advise: Callable[[Any, str], Sequence[msgspec.Struct]]
    faults: Callable[[Any, Sequence[msgspec.Struct]], list[OrderError]] | None = None


def experts_in(surroundings: Mapping[str, Any]) -> Mapping[str, Expert]:
    found: Mapping[str, Expert] = surroundings.get("experts", {})
    return found
