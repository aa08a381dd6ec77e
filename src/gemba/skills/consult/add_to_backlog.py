"""add_to_backlog: makes items of what an operator wrote down in passing."""

from __future__ import annotations

import msgspec

from gemba.skills.consult.fields import Text
from gemba.skills.consult.skill import OUTPUT, ConsultSkill
from gemba.skills.consult.suggested import NEW_ITEM


class AddToBacklogInput(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: Text


PROMPT = """\
Make of these words the items that the team needs, no more.

- Look first for what is there already: an item that says the same is a finding with its id in refs, and needs no \
second.
- One proposal for each piece of work that can be finished and checked by itself. A sentence may be one item; it \
may be three; it may be a question, which is a finding and no item.
- Each new item has a title that says the outcome, a description with the operator's own words quoted, acceptance \
that a person could check, a kind, and the parent, labels and targets that you can derive. What you cannot derive \
you leave out.
- Do not widen the work. What would also be nice is a finding.
- The summary says what became of each part of the text."""

SKILL = ConsultSkill(
    "add_to_backlog",
    "Add to backlog",
    "Makes well-cut items of a few words that somebody wrote down in passing.",
    PROMPT,
    OUTPUT,
    AddToBacklogInput,
    (NEW_ITEM,),
)
