"""Whether there is nothing to say about an envelope, found out in a few microseconds. Pure.

It asks the same rows of the field table as the verdict does and gives up at the first doubt: an envelope that it knows
has no finding, of one that it does not know nothing is said. Most envelopes of a running floor are known. Called by
`verdict.py` alone; a hook process pays for this import: standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from gemba.handoff import fields
from gemba.handoff.fields import KNOWN, Field
from gemba.handoff.finding import JSON
from gemba.handoff.given import Given

# Plain tuples: unpacking a named one costs more than the question. A field that must be there is of the class, and the
# look at it is truthy; one that may be there is of one of the classes.
_Needed = tuple[tuple[str, type, Callable[[Any], object] | None], ...]
_Allowed = tuple[tuple[str, frozenset[type]], ...]

_CLASSES: dict[str, type] = {"list": list, "string": str, "object": dict}


def plain_status(document: dict[str, Any], given: Given) -> str | None:
    """The status of an envelope about which there is nothing to say; None where that takes more questions."""
    agent, report = document.get(_AGENT_STATUS), document.get(_EVIDENCE_REPORT)
    if type(agent) is not dict or type(report) is not dict or given.consolidates:
        return None
    if not (
        _is_plain(document, _NO_NEEDED, _REST, _REST_KEYS)
        and _is_plain(agent, _OF_AGENT, _NO_ALLOWED, _AGENT_KEYS)
        and _is_plain(report, _OF_REPORT, _NO_ALLOWED, _REPORT_KEYS)
        and (given.agent_id is None or given.agent_id == agent[_AGENT_ID])
    ):
        return None
    status: str = agent[_PLAN_STATUS]
    if status == fields.COMPLETE:
        part, needed = report.get(_VERIFICATION), _OF_TEAM if given.is_team_task else _OF_RESULT
        return status if type(part) is dict and _is_plain(part, needed, _OF_VERIFICATION, _VERIFICATION_KEYS) else None
    if status == fields.APPROVAL or (status == fields.BLOCKED and not report[_OPEN_GAPS]):
        return None
    return status


def _is_plain(part: dict[str, Any], needed: _Needed, allowed: _Allowed, known: frozenset[str]) -> bool:
    for key, plain, look in needed:
        value = part.get(key)
        if type(value) is not plain or (look is not None and not look(value)):
            return False
    for key, classes in allowed:
        if type(part.get(key)) not in classes:
            return False
    return part.keys() <= known


# ---- the rows that are asked ---------------------------------------------------------------------------------------


def _needed(*within: Field) -> _Needed:
    return tuple((field.key, _CLASSES[field.types[0]], _look_at(field)) for field in within)


def _look_at(field: Field) -> Callable[[Any], object] | None:
    if field.types != ("string",):
        return None
    if field.allowed:
        return frozenset(field.allowed).__contains__
    return re.compile(field.pattern).fullmatch if field.pattern else str.strip


def _allowed(*within: Field) -> _Allowed:
    classes = [{each for each, kind in JSON.items() if kind in field.types or not field.types} for field in within]
    return tuple((field.key, frozenset({*each, type(None)})) for field, each in zip(within, classes, strict=True))


def _within(part: Field, *presences: str) -> list[Field]:
    return [field for field in fields.FIELDS if field.part == part.pointer and field.presence in presences]


_NO_NEEDED: _Needed = ()
_NO_ALLOWED: _Allowed = ()
_AGENT_STATUS, _PLAN_STATUS, _AGENT_ID = fields.AGENT_STATUS.key, fields.PLAN_STATUS.key, fields.AGENT_ID.key
_EVIDENCE_REPORT, _OPEN_GAPS = fields.EVIDENCE_REPORT.key, fields.OPEN_GAPS.key
_VERIFICATION = fields.VERIFICATION.key

_OF_AGENT = _needed(*_within(fields.AGENT_STATUS, "required"))
_OF_REPORT = _needed(*_within(fields.EVIDENCE_REPORT, "required"))
_RESULT, *_TEAM = _within(fields.VERIFICATION, "conditional")
_OF_RESULT, _OF_TEAM = _needed(_RESULT), _needed(_RESULT, *_TEAM)
_OF_VERIFICATION = _allowed(*_TEAM, *_within(fields.VERIFICATION, "optional"))
# Fields at the top of which nothing but the type is judged.
_ENTRIES = (fields.MEMORIALIZE, fields.UPDATE_CONTRACTS)
_SIMPLE = [
    field
    for field in fields.FIELDS
    if not field.part and field.presence == "optional" and field not in _ENTRIES and field.types != ("object",)
]
_REST, _REST_KEYS = _allowed(*_SIMPLE), frozenset({_AGENT_STATUS, _EVIDENCE_REPORT, *(field.key for field in _SIMPLE)})
_AGENT_KEYS, _REPORT_KEYS = KNOWN[fields.AGENT_STATUS.pointer], KNOWN[fields.EVIDENCE_REPORT.pointer]
_VERIFICATION_KEYS = KNOWN[fields.VERIFICATION.pointer]
