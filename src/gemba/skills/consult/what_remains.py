"""what_remains: what is still to be done before an epic or a sprint can be closed."""

from __future__ import annotations

import msgspec

from gemba.skills.consult.fields import Id
from gemba.skills.consult.reading import misfit
from gemba.skills.consult.skill import OUTPUT, ConsultSkill


class WhatRemainsInput(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    epic_id: Id | None = None
    sprint_id: Id | None = None

    def check(self) -> None:
        if (self.epic_id is None) == (self.sprint_id is None):
            found = "both" if self.epic_id is not None else "neither"
            raise misfit("/epic_id", f"{found} of epic_id and sprint_id are given", None, "one of the two")


PROMPT = """\
Say what stands between now and done, for the epic or the sprint that you were given.

- One finding for each thing that remains, with the item, its state and what it waits for; the ids in refs. Put \
first what other things wait for.
- Tell apart: work that nobody has begun, work that is under way, work that waits for a person, and work that \
claims to be done and was not checked.
- Compare with the acceptance criteria. A criterion that no item covers is a finding of its own: it is what gets \
forgotten.
- Give numbers where you have them (items, tokens, days) and say where you have none.
- Nothing is proposed here. The summary's notes say whether it can be closed, and if not, the one thing that would \
bring it furthest."""

SKILL = ConsultSkill(
    "what_remains",
    "What remains",
    "Says what is still to be done before an epic or a sprint can be closed, and what stands in the way.",
    PROMPT,
    OUTPUT,
    WhatRemainsInput,
)
