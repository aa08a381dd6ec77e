"""The lines that most skills speak: what was looked for, what was found, what to do about it, and the end.

`epic_order` has lines of its own. A proposal carries the action that would carry it out, which has to be on its
skill's allow-list: the rule is here, the lists are in the skills.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from gemba.skills.consult.judge import Grammar, Judge, Rule, Seen
from gemba.skills.consult.suggested import Allowed, SuggestedAction, refusal

Confidence = Annotated[float, msgspec.Meta(ge=0, le=1)]
Title = Annotated[str, msgspec.Meta(min_length=1)]


class AdviceStrategy(msgspec.Struct, frozen=True, tag="strategy", tag_field="type"):
    """First: how the question was understood and gone about."""

    reasoning: str = ""


class AdviceFinding(msgspec.Struct, frozen=True, tag="finding", tag_field="type"):
    """Something that is so, and where it can be seen: ids, paths, addresses."""

    text: Title
    refs: list[str] = []


class AdviceProposal(msgspec.Struct, frozen=True, tag="proposal", tag_field="type"):
    """Something to do, ready to be applied by a person."""

    title: Title
    rationale: str
    confidence: Confidence
    suggested_action: SuggestedAction


class AdviceSummary(msgspec.Struct, frozen=True, tag="summary", tag_field="type"):
    """Last: what it comes to."""

    notes: str


class AdviceSeen(Seen):
    """With what the skill was given, and what it may suggest."""

    def __init__(self, given: msgspec.Struct, allowed: tuple[Allowed, ...]) -> None:
        super().__init__()
        self.given = given
        self.allowed = allowed


def _action(seen: AdviceSeen, line: AdviceProposal) -> str | None:
    return refusal(line.suggested_action, seen.allowed, seen.given)


GRAMMAR = Grammar(
    ((AdviceStrategy,), (AdviceFinding, AdviceProposal), (AdviceSummary,)),
    (Rule("action", (AdviceProposal,), "The action of a proposal is on the skill's allow-list.", _action),),
)


def judge_advice(given: msgspec.Struct, allowed: tuple[Allowed, ...]) -> Judge[AdviceSeen]:
    return Judge(GRAMMAR, AdviceSeen(given, allowed))
