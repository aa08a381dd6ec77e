"""refine: goes through items of the backlog and says what is wrong with each."""

from __future__ import annotations

import msgspec

from gemba.skills.consult.fields import Ids
from gemba.skills.consult.skill import OUTPUT, ConsultSkill
from gemba.skills.consult.suggested import ITEM, NEW_MILESTONE, Allowed


class RefineInput(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    item_ids: Ids


PROMPT = """\
Go through the items one by one, as a person would who has to start one of them tomorrow.

- Look for: two items that are one; a parent that is missing or wrong; a priority that contradicts what the item \
blocks; a state that the history does not bear out; labels that would let the right person find it; a group of \
items that is a milestone and has none.
- A finding names the item in refs and quotes the words that led you to it. Items that are well as they are need \
none.
- A proposal changes priority, parent, state or labels of one of the items that you were given, nothing else, and \
only where a finding says why. Never change several things of an item that have different reasons in one proposal.
- A milestone is proposed with a title and a description that says when it is reached. Its title has no number: the \
server gives it one.
- The summary says how many items you looked at, what they have in common, and what to do first."""

SKILL = ConsultSkill(
    "refine",
    "Refine",
    "Goes through items of the backlog: priority, parent, state, labels, and milestones that are missing.",
    PROMPT,
    OUTPUT,
    RefineInput,
    (Allowed("PATCH", ITEM, ("priority", "parent", "state", "labels", "version"), own="item_ids"), NEW_MILESTONE),
)
