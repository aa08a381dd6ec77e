"""change_this: what a change of mind about one item means, for it and around it."""

from __future__ import annotations

import msgspec

from gemba.skills.consult.fields import Id, Text
from gemba.skills.consult.skill import OUTPUT, ConsultSkill
from gemba.skills.consult.suggested import CHANGED_ITEM, NEW_ITEM


class ChangeThisInput(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    item_id: Id
    change: Text


PROMPT = """\
The operator wants one item to be different. Work the change in, and say what it costs.

- Findings first: which sentences of the item the change contradicts, what depends on the item and would be \
surprised, what work is under way on the old understanding. Ids in refs.
- Propose the change of the item itself as one PATCH with the new text of the fields that change, whole, so that it \
can be applied as it is. Leave every other field alone.
- Work that the change adds and that is not part of this item is a new item with a reason. If the change makes \
other items wrong, say so in a finding; they are not yours to change here.
- If two readings of the change lead to different items, say which one you took, and lower the confidence.
- The summary says what is different once this is applied, and what has to be told to whom."""

SKILL = ConsultSkill(
    "change_this",
    "Change this",
    "Works a wanted change into an item, and says what else it touches.",
    PROMPT,
    OUTPUT,
    ChangeThisInput,
    (CHANGED_ITEM._replace(own="item_id"), NEW_ITEM),
)
