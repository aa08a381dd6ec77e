"""One thing to say about an envelope, and one value beside the row of the field table that it must fit. Pure and total.

Whatever stands in an envelope, a finding is short and holds nothing that a file, a terminal's encoding or a database
refuses. Called by `verdict.py` and `entries.py`; a hook process pays for this import: standard library only.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from gemba.handoff.fields import FIELDS, TYPES, Field
from gemba.handoff.rules import Rule

_LONGEST_VALUE = 200  # characters of a value in a code
_LONGEST_SHOWN = 60  # characters of a value in a message

JSON = {dict: "object", list: "list", str: "string", int: "number", float: "number", bool: "boolean"}
_MATCH = {field.pattern: re.compile(field.pattern).fullmatch for field in FIELDS if field.pattern}
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class Finding(NamedTuple):
    code: str
    pointer: str
    severity: str  # missing | invalid | warning
    message: str
    hint: str


def make(
    rule: Rule,
    suffix: str | None = None,
    *,
    found: str = "",
    fits: str = "",
    pointer: str | None = None,
    hint: str | None = None,
) -> Finding:
    """What a rule says here: the suffix ends its code, `found` and `fits` stand in its message."""
    code = rule.code if suffix is None else f"{rule.head}:{suffix}"
    before, _, after = rule.message.partition("{found}")
    message = f"{before}{found}{after.replace('{fits}', fits)}"
    return Finding(code, rule.pointer if pointer is None else pointer, rule.severity, message, hint or rule.hint)


def as_suffix(text: str) -> str:
    """A text of the envelope as a code ends in it."""
    return _kept(text, _LONGEST_VALUE)


def quoted(text: str) -> str:
    """A text of the envelope as a message shows it."""
    return json.dumps(_kept(text, _LONGEST_SHOWN), ensure_ascii=False)


def _kept(text: str, longest: int) -> str:
    return _UNSTORABLE.sub("\ufffd", text if len(text) <= longest else f"{text[:longest]}…")


def digits(number: float) -> str:
    """A number as JSON writes it; one that is longer than anybody reads is cut."""
    try:
        return as_suffix(str(number))
    except ValueError:  # more digits than the process turns into text
        return "…"


def type_of(value: object) -> str:
    """The type of JSON that a value has; the name of its class when it has none."""
    return JSON.get(type(value)) or type(value).__name__


class Fault(NamedTuple):
    """What is wrong with a value: it counts as missing, or it is another one, as a code and as a message say it."""

    is_missing: bool
    suffix: str = ""
    found: str = "missing"


_ABSENT, _EMPTY = Fault(True), Fault(True, found="empty")


def fault_of(value: object, field: Field) -> Fault | None:
    """What is wrong with the value of a field that must be there; None when nothing is."""
    if value is None:
        return _ABSENT
    if type(value) is str:
        return _fault_of_text(value, field)
    kind = type_of(value)
    if kind in field.types:
        return Fault(field.empty == "missing", kind, "empty") if field.empty and not value else None
    return Fault(False, kind, TYPES.get(kind, kind)) if field.types else None


def _fault_of_text(text: str, field: Field) -> Fault | None:
    if not text or text.isspace():
        return _EMPTY
    if "string" not in field.types:
        return Fault(False, "string", TYPES["string"]) if field.types else None
    if field.allowed:
        fits = folded(text, field) in field.allowed
    else:
        fits = not field.pattern or _MATCH[field.pattern](text) is not None
    return None if fits else Fault(False, as_suffix(text), quoted(text))


def folded(text: str, field: Field) -> str:
    """A text as it is compared. Only ASCII has another case: no other letter passes for one of ours."""
    if not field.fold or text in field.allowed:
        return text
    text = text.strip()
    if not text.isascii():
        return text
    return text.upper() if field.fold == "upper" else text.lower()
