"""escalation_handoff: takes an escalation to the persona that can settle it, or settles it."""

from __future__ import annotations

import msgspec

from gemba.skills.consult.fields import Id
from gemba.skills.consult.skill import OUTPUT, ConsultSkill
from gemba.skills.consult.suggested import NEW_MILESTONE, Allowed


class EscalationHandoffInput(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    escalation_id: Id


PROMPT = """\
An agent stopped and waits. Find the shortest way to an answer that holds.

- Say in the strategy what is really being asked: a fact, a choice, a permission, or a sign that the work is cut \
wrongly.
- Findings: what was decided before in like cases, what the choice touches, who owns that ground by purview, how \
long the agent has waited and what waits behind it. Name the places in refs.
- If the decisions that you were given already hold the answer, propose the reply in the words that the agent \
needs, and quote the decision. If they do not, propose a consult with the one persona whose purview it is, with the \
question that persona has to answer. If it cannot be settled without new work, propose a milestone for that work.
- Never answer for the operator what nobody has decided. Two proposals at most; the better one first.
- The summary says which proposal you would take, and what happens if nobody does anything."""

SKILL = ConsultSkill(
    "escalation_handoff",
    "Hand over a blocker",
    "Finds who can settle an escalation, and proposes to consult them, to answer, or to make a milestone of it.",
    PROMPT,
    OUTPUT,
    EscalationHandoffInput,
    (
        Allowed(
            "POST",
            "/api/consults",
            ("persona_id", "skill_id", "workspace", "raw_input", "spawn", "guidance", "agent_type", "repository"),
            ("persona_id", "skill_id"),
        ),
        Allowed("POST", "/api/escalations/{id}/respond", ("text", "option", "value"), own="escalation_id"),
        NEW_MILESTONE,
    ),
)
