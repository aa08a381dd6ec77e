"""ask: a free question to an advisor, about anything of the project."""

from __future__ import annotations

import msgspec

from gemba.skills.consult.fields import Ref, Text
from gemba.skills.consult.skill import OUTPUT, ConsultSkill
from gemba.skills.consult.suggested import CHANGED_ITEM, NEW_MILESTONE


class AskInput(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    question: Text
    refs: list[Ref] | None = None


PROMPT = """\
Answer the operator's question from what you were given: the project's state, its decisions, what waits, and the \
references that came with the question. Answer first, then say why.

- The strategy says in a sentence or two how you understood the question and where you looked.
- Each finding is one fact that carries the answer, with the ids or paths where the operator can see it in refs. \
What you could not see you say as such; you do not guess a state, a number or a name.
- Propose only what follows from the findings and what the operator would otherwise do by hand: a change of one \
item, or a milestone. No proposal is better than one that nobody asked for.
- The summary's notes are the answer in at most three sentences, as you would say it aloud."""

SKILL = ConsultSkill(
    "ask",
    "Ask",
    "Answers a free question about the project, and proposes changes of items where they follow from the answer.",
    PROMPT,
    OUTPUT,
    AskInput,
    (NEW_MILESTONE, CHANGED_ITEM),
)
