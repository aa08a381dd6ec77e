"""An output envelope to fill in, as a block that passes the verdict for every status. Pure.

It is made of the examples of the field table. Called by `gemba handoff template` and the tests.
"""

from __future__ import annotations

import json
from typing import Any

from gemba.errors import Invalid
from gemba.handoff import fields
from gemba.handoff.fields import Field
from gemba.handoff.finding import folded, quoted
from gemba.handoff.given import Given, read_given

# What a status asks for beyond the examples.
_SAID: dict[str, dict[Field, Any]] = {
    fields.IN_PROGRESS: {fields.PENDING_STEPS: ["what is left to do"], fields.NEXT_ACTION: "what you do next"},
    fields.APPROVAL: {fields.NEXT_ACTION: "run what is requested once it is approved"},
    fields.BLOCKED: {fields.OPEN_GAPS: ["what is in the way"], fields.NEXT_ACTION: "who could remove it, and how"},
    fields.NEEDS_INPUT: {fields.NEXT_ACTION: "A: the first option. B: the second."},
}


def template(given: object = None, status: str = fields.COMPLETE) -> str:
    """A block for a turn that was given this input envelope and ends with this status."""
    name = folded(str(status), fields.PLAN_STATUS)
    if name not in fields.PLAN_STATUSES:
        allowed = list(fields.PLAN_STATUSES)
        words = f"{quoted(str(status))} is no plan_status; allowed: {', '.join(allowed)}"
        raise Invalid(words, code="plan_status", found=str(status), allowed=allowed)
    body = json.dumps(_object("", name, read_given(given)), indent=2)
    return f"```{fields.FENCE}\n{body}\n```\n"


def _object(part: str, status: str, given: Given) -> dict[str, Any]:
    return {
        field.key: _value(field, status, given)
        for field in fields.FIELDS
        if field.part == part and field.presence != "optional" and _is_asked(field, status, given)
    }


def _is_asked(field: Field, status: str, given: Given) -> bool:
    return {
        fields.ALWAYS: True,
        fields.WHEN_COMPLETE: status == fields.COMPLETE,
        fields.WHEN_TEAM: status == fields.COMPLETE,  # of use to every world check
        fields.WHEN_CONSOLIDATING: given.consolidates,
        fields.WHEN_APPROVAL: status == fields.APPROVAL,
        fields.WHEN_LOOPING: False,
    }[field.when]


def _value(field: Field, status: str, given: Given) -> Any:
    if field.types == ("object",):
        return _object(field.pointer, status, given)
    if field is fields.PLAN_STATUS:
        return status
    if field is fields.AGENT_ID and given.agent_id is not None:
        return given.agent_id
    return _SAID.get(status, {}).get(field, json.loads(field.example))
