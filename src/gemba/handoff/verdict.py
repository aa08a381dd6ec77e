"""The one verdict on an output envelope: any text, bytes or object in, a verdict out. Total, pure, linear in the input.

`judge` takes the text of a turn, `judge_object` what somebody else has decoded (MCP, the API), `judge_line` a line of a
bulk audit. What may stand where is in `fields.py`, what is said about it in `rules.py`; here is the order of the
questions. A part that is missing, or of another type, is reported by itself: what would have to stand in it is not. A
value is of the class that JSON decodes to, or of a wrong type.

Called by the hooks, `gemba handoff check`, the API, the MCP tool and the gate. A hook process pays for this import:
standard library only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from gemba.handoff import fields, finding, rules
from gemba.handoff.block import Found, find_block, read_text
from gemba.handoff.entries import MOST_FINDINGS, about_suggestions, about_unknown, about_updates
from gemba.handoff.fields import KNOWN, Field
from gemba.handoff.finding import Finding as Finding
from gemba.handoff.finding import as_suffix, fault_of, folded, quoted
from gemba.handoff.given import NOTHING, Given, read_given
from gemba.handoff.plain import plain_status
from gemba.handoff.rules import Implied

Object = dict[str, Any]


class Verdict(NamedTuple):
    """Valid is exactly: nothing is missing and nothing invalid. Codes stand in the order of the table, each once."""

    valid: bool
    plan_status: str | None  # as the table writes it; None when it is none of the five
    missing: list[str]
    invalid: list[str]
    warnings: list[str]
    findings: list[Finding]
    action: str  # accept | repair; whoever counts repairs makes it escalate


def judge(text: str | bytes, given: Object | None = None, *, strict: bool = False) -> Verdict:
    """The verdict on the text of a turn; `given` is the input envelope where the dispatch is known."""
    return read(text, given, strict=strict)[0]


def judge_object(document: object, given: Object | None = None, *, strict: bool = False) -> Verdict:
    """The verdict on an envelope that is decoded already."""
    return _judged(document, NOTHING if given is None else read_given(given), strict, [])


def read(text: object, given: Object | None = None, *, strict: bool = False) -> tuple[Verdict, Object | None]:
    """The verdict on a text, and the envelope that it is about; None when the text has none."""
    if not isinstance(text, (str, bytes)):
        return judge_object(text, given, strict=strict), text if type(text) is dict else None
    found = find_block(text)
    findings: list[Finding] = []
    if found.blocks != 1 or found.duplicate_keys or type(text) is not str:
        findings += _about_text(text, found)
    if found.body is None:
        return _summed_up(None, [*findings, _no_body(found)]), None
    known = NOTHING if given is None else read_given(given)
    return _judged(found.body, known, strict, findings), found.body


def document_of(text: str | bytes) -> Object | None:
    """The envelope that `judge` takes from this text, or None."""
    return find_block(text).body


def judge_line(line: str | bytes, *, strict: bool = False) -> Verdict:
    """The verdict on one line of a bulk audit: an object with a text, and an input perhaps. All else is `BODY:line`."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError) as error:
        return _bad_line(f"it is not JSON: {str(error)[:100]}")
    if type(said) is not dict:
        return _bad_line("it is no object")
    text, given = said.get("text"), said.get("input")
    if type(text) is not str:
        return _bad_line("text is missing" if text is None else "text is not a text")
    if given is not None and type(given) is not dict:
        return _bad_line("input is no object")
    return judge(text, given, strict=strict)


def _bad_line(detail: str) -> Verdict:
    return _summed_up(None, [finding.make(rules.BODY, "line", found=f"the line is no object with a text; {detail}")])


def to_dict(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON has it."""
    return {**verdict._asdict(), "findings": [each._asdict() for each in verdict.findings]}


def _judged(document: object, given: Given, strict: bool, findings: list[Finding]) -> Verdict:
    if type(document) is dict:
        status = plain_status(document, given)
        return _judged_in_full(document, given, strict, findings) if status is None else _summed_up(status, findings)
    kind = finding.type_of(document)
    found = f"it is {'null' if document is None else fields.TYPES.get(kind, kind)}"
    return _summed_up(None, [finding.make(rules.BODY, "type", found=found)])


def _judged_in_full(document: Object, given: Given, strict: bool, findings: list[Finding]) -> Verdict:
    """The same as `_judged` of an object, without the short cut."""
    case = _Case(given, findings)
    case.judge(document)
    findings += islice(about_unknown(case.unknown, strict), MOST_FINDINGS)
    return _summed_up(case.status, findings)


def _summed_up(status: str | None, findings: list[Finding]) -> Verdict:
    if not findings:
        return Verdict(True, status, [], [], [], findings, "accept")
    missing, invalid, warnings = (
        list(dict.fromkeys(each.code for each in findings if each.severity == severity))
        for severity in ("missing", "invalid", "warning")
    )
    valid = not missing and not invalid
    return Verdict(valid, status, missing, invalid, warnings, findings, "accept" if valid else "repair")


# ---- the text --------------------------------------------------------------------------------------------------------


def _about_text(text: str | bytes, found: Found) -> Iterator[Finding]:
    if read_text(text)[1]:
        yield finding.make(rules.NOT_UTF8)
    if found.blocks > 1:
        yield finding.make(rules.SEVERAL_BLOCKS, str(found.blocks), found=str(found.blocks))
    for pointer in found.duplicate_keys:
        yield finding.make(rules.DUPLICATE_KEY, found=pointer, pointer=pointer)


def _no_body(found: Found) -> Finding:
    if found.cause is None:
        return finding.make(rules.NO_BLOCK)
    place = f"line {found.line}, column {found.column}: {found.detail}"
    return finding.make(rules.BODY, found.cause, found=place, hint=found.suggestion)


# ---- the envelope ----------------------------------------------------------------------------------------------------

Rows = tuple[tuple[str, Field, Implied], ...]


def _rows(part: str, *presences: str) -> Rows:
    within = (field for field in fields.FIELDS if field.part == part and field.presence in presences)
    return tuple((field.key, field, rules.implied_by(field)) for field in within)


# Every field of a part that must be there, and every one that may be, each with the rules that its row implies.
_NEEDED = {part: _rows(part, "required", "conditional") for part in KNOWN}
_ADVISED = {part: _rows(part, "advisory", "optional") for part in KNOWN}

_IDENTITY, _STEPS = _NEEDED[fields.AGENT_STATUS.pointer][:2], _NEEDED[fields.AGENT_STATUS.pointer][2:]
_LISTS = _NEEDED[fields.EVIDENCE_REPORT.pointer][:-1]  # all but the verification
_OF_RESULT, _OF_TEAM = _NEEDED[fields.VERIFICATION.pointer][:1], _NEEDED[fields.VERIFICATION.pointer][1:]


class _Case:
    """One envelope that is judged, part after part, in the order of the table."""

    def __init__(self, given: Given, findings: list[Finding]) -> None:
        self.given = given
        self.findings = findings
        self.unknown: list[tuple[str, Object]] = []  # parts with fields that are not in the table
        self.status: str | None = None

    def judge(self, document: Object) -> None:
        self._look_for_unknown("", document)
        self._agent_status(document)
        self._evidence(document)
        if self.given.consolidates or document.get(fields.CONSOLIDATION_REPORT.key) is not None:
            self._consolidation(document)
        if self.status == fields.APPROVAL or document.get(fields.APPROVAL_REQUEST.key) is not None:
            self._approval(document)
        self._optional(document)

    def _look_for_unknown(self, pointer: str, part: Object) -> None:
        if not part.keys() <= KNOWN[pointer]:
            self.unknown.append((pointer, part))

    def _part(self, container: Object, field: Field) -> Object | None:
        """The object that must stand there; anything else is told."""
        value = container.get(field.key)
        if type(value) is dict:
            self._look_for_unknown(field.pointer, value)
            return value
        self._ask(container, ((field.key, field, rules.implied_by(field)),))
        return None

    def _ask(self, part: Object, rows: Rows) -> None:
        """Fields that must be there."""
        for key, field, (absent, wrong, _) in rows:
            fault = fault_of(part.get(key), field)
            if fault is None:
                continue
            if wrong is not None and not fault.is_missing:
                self.findings.append(finding.make(wrong, fault.suffix, found=fault.found))
            elif absent is not None:
                self.findings.append(finding.make(absent, found=fault.found))

    def _advise(self, part: Object, rows: Rows) -> None:
        """Fields that may be there; what is wrong with them is a warning."""
        for key, field, (absent, _, ignored) in rows:
            fault = fault_of(part.get(key), field)
            if fault is None:
                continue
            if ignored is not None and not fault.is_missing:
                self.findings.append(finding.make(ignored, fault.suffix, found=fault.found))
            elif absent is not None and field.presence == "advisory":
                self.findings.append(finding.make(absent, key, found=fault.found))

    def _agent_status(self, document: Object) -> None:
        part = self._part(document, fields.AGENT_STATUS)
        if part is None:
            return
        self._ask(part, _IDENTITY)
        status: Any = part.get(fields.PLAN_STATUS.key)
        if type(status) is str and (status := folded(status, fields.PLAN_STATUS)) in fields.PLAN_STATUSES:
            self.status = status
        agent_id: Any = part.get(fields.AGENT_ID.key)
        expected = self.given.agent_id
        if expected is not None and fault_of(agent_id, fields.AGENT_ID) is None and agent_id != expected:
            found, fits = quoted(agent_id), quoted(expected)
            self.findings.append(finding.make(rules.OTHER_AGENT, as_suffix(agent_id), found=found, fits=fits))
        self._ask(part, _STEPS)

    def _evidence(self, document: Object) -> None:
        part = self._part(document, fields.EVIDENCE_REPORT)
        if part is None:
            return
        self._ask(part, _LISTS)
        gaps = part.get(fields.OPEN_GAPS.key)
        if self.status == fields.BLOCKED and type(gaps) is list and not gaps:
            self.findings.append(finding.make(rules.BLOCKED_WITHOUT_GAP))
        if self.status == fields.COMPLETE and (verification := self._part(part, fields.VERIFICATION)) is not None:
            self._ask(verification, _OF_RESULT)
            (self._ask if self.given.is_team_task else self._advise)(verification, _OF_TEAM)
            self._advise(verification, _ADVISED[fields.VERIFICATION.pointer])

    def _consolidation(self, document: Object) -> None:
        part = self._part(document, fields.CONSOLIDATION_REPORT)
        if part is not None:
            self._ask(part, _NEEDED[fields.CONSOLIDATION_REPORT.pointer])

    def _approval(self, document: Object) -> None:
        if self.status != fields.APPROVAL:
            if self.status is not None:
                self.findings.append(finding.make(rules.APPROVAL_UNEXPECTED, found=self.status))
            return
        part = self._part(document, fields.APPROVAL_REQUEST)
        if part is not None:
            self._ask(part, _NEEDED[fields.APPROVAL_REQUEST.pointer])
            self._advise(part, _ADVISED[fields.APPROVAL_REQUEST.pointer])

    def _optional(self, document: Object) -> None:
        for key, field, implied in _ADVISED[""]:
            value = document.get(key)
            if value is None:
                continue
            self._advise(document, ((key, field, implied),))
            pointer = field.pointer
            if type(value) is dict and pointer in KNOWN:
                self._look_for_unknown(pointer, value)
                self._advise(value, _ADVISED[pointer])
                if pointer == fields.LOOP_STATE.pointer and self.status == fields.COMPLETE:
                    self._loop(value)
            elif type(value) is list and pointer == fields.MEMORIALIZE.pointer:
                self.findings += islice(about_suggestions(value), MOST_FINDINGS)
            elif type(value) is list and pointer == fields.UPDATE_CONTRACTS.pointer:
                self.findings += islice(about_updates(value, self.given.writable), MOST_FINDINGS)

    def _loop(self, state: Object) -> None:
        """A loop that could go on, and is short of what it is for; it counts with four numbers only."""
        numbers: list[Any] = [state.get(field.key) for field in fields.LOOP_NUMBERS]
        if not all(type(number) in (int, float) for number in numbers):
            return
        iteration, most, metric, threshold = numbers
        direction = state.get(fields.DIRECTION.key)
        is_lower_better = type(direction) is str and direction == fields.LOWER
        is_short = metric > threshold if is_lower_better else metric < threshold
        if iteration < most and is_short:
            shown = "{}/{},{}/{}".format(*map(finding.digits, numbers))
            self.findings.append(finding.make(rules.LOOP_INCOMPLETE, shown, found=shown))
