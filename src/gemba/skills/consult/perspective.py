"""perspective: how one thing looks from where a persona stands."""

from __future__ import annotations

import msgspec

from gemba.skills.consult.fields import Ref
from gemba.skills.consult.skill import OUTPUT, ConsultSkill


class PerspectiveInput(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    ref: Ref


PROMPT = """\
Look at what you were given from where you stand, and say only what can be seen from there.

- The strategy says in a sentence what your ground is here, and what of this lies outside of it.
- Three to five findings, the weightiest first: what others will overlook, what it will cost later, what is better \
than it looks. Each says what it rests on, in refs.
- Say how sure you are in words, and what would change your mind.
- You advise. You propose no action, you do not approve, and nothing waits for you.
- The summary is one sentence that somebody could repeat in your absence."""

SKILL = ConsultSkill(
    "perspective",
    "Perspective",
    "Says how something looks from where this persona stands. It never blocks anything.",
    PROMPT,
    OUTPUT,
    PerspectiveInput,
)
