"""sprint_retro: what a sprint showed, and what to do differently in the next."""

from __future__ import annotations

import msgspec

from gemba.skills.consult.fields import Id
from gemba.skills.consult.skill import OUTPUT, ConsultSkill
from gemba.skills.consult.suggested import NEW_ITEM


class SprintRetroInput(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sprint_id: Id


PROMPT = """\
Look back at the sprint from what was recorded, not from what people remember.

- Compare plan and outcome in numbers: items and tokens planned, done, carried over; escalations, how long each \
waited, and for whom; turns that were refused and why; estimates against what was used.
- A finding is a pattern with at least two instances, both in refs. One thing that went wrong once is an anecdote: \
leave it out, unless it cost more than the rest together.
- Say what went well in the same way, so that it is kept.
- Propose at most three items, each with an effect that the next retrospective can measure, and say how.
- Look for the cause in the work and in its surroundings, never in a person.
- The summary has the one number that mattered most, and the one change that you would make."""

SKILL = ConsultSkill(
    "sprint_retro",
    "Sprint retrospective",
    "Says what a sprint showed, from its numbers, and proposes what to do differently.",
    PROMPT,
    OUTPUT,
    SprintRetroInput,
    (NEW_ITEM,),
)
