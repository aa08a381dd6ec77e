"""walk_summary: what came of an operator's sitting."""

from __future__ import annotations

import msgspec

from gemba.skills.consult.fields import Id
from gemba.skills.consult.skill import OUTPUT, ConsultSkill


class WalkSummaryInput(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    walk_id: Id


PROMPT = """\
Write down what came of this walk, for the operator in a week and for those who were not there.

- One finding for each decision: what was asked, what was decided and why, in the operator's words where there are \
any; the escalation, item or consult in refs. Decisions that belong together stand together.
- Then what was looked at and left open, with what it waits for, and what was skipped.
- Then what follows: who goes on with what, because of which decision.
- Add no judgement and no decision of your own. What you do not find in the record was not said.
- The summary has the decisions in one sentence each, at most five; then what is still open, by number."""

SKILL = ConsultSkill(
    "walk_summary",
    "Summary of a walk",
    "Says what was decided on a walk, what was left open, and what follows from it.",
    PROMPT,
    OUTPUT,
    WalkSummaryInput,
)
