"""What an envelope holds beyond its table: entries of lists, of which some do not count, and fields that nobody knows.

Nothing here makes an envelope invalid but an unknown field in strict mode. `updates_of` and `suggestions_of` are what
is left of the two lists, for whoever applies an envelope that was accepted. A hook process pays for this import:
standard library only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from gemba.handoff import fields, rules
from gemba.handoff.fields import Field
from gemba.handoff.finding import Finding, as_suffix, fault_of, make, quoted
from gemba.handoff.given import read_given

Object = dict[str, Any]

MOST_FINDINGS = 20  # of one list, and of unknown fields: who sends more of them has more to do than to read
_LONGEST_KEY = 64  # characters of an unknown field for which a known name is looked for


class Update(NamedTuple):
    """An entry of update_contracts that may be applied."""

    contract: str
    payload: Object


def updates_of(document: Object, given: object) -> list[Update]:
    """The updates that this turn may make, in their order; without an input envelope none."""
    writable = read_given(given).writable or {}
    entries = _entries(document.get(fields.UPDATE_CONTRACTS.key), fields.UPDATE)
    updates = (Update(entry[fields.CONTRACT.key], entry[fields.PAYLOAD.key]) for _, entry in entries if entry)
    return [update for update in updates if update.contract in writable]


def suggestions_of(document: Object) -> list[Object]:
    """The entries of memorialize_suggestions that are offered to the person."""
    return [entry for _, entry in _entries(document.get(fields.MEMORIALIZE.key), fields.SUGGESTION) if entry]


# ---- entries ---------------------------------------------------------------------------------------------------------

_ITEMS = {
    part.pointer: tuple(field for field in fields.ITEMS if field.part == part.pointer)
    for part in (fields.SUGGESTION, fields.UPDATE)
}


def _entries(entries: object, part: Field) -> Iterator[tuple[int, Object]]:
    """Each entry of a list with its number; an empty object for one that does not count."""
    for number, entry in enumerate(entries if type(entries) is list else ()):
        yield number, entry if type(entry) is dict and _counts(entry, part) else {}


def _counts(entry: Object, part: Field) -> bool:
    for field in _ITEMS[part.pointer]:
        fault = fault_of(entry.get(field.key), field._replace(allowed=()))
        if fault is not None and (field.presence == "required" or not fault.is_missing):
            return False
    return True


def about_suggestions(entries: object) -> Iterator[Finding]:
    for number, entry in _entries(entries, fields.SUGGESTION):
        pointer = f"{fields.MEMORIALIZE.pointer}/{number}"
        if not entry:
            yield make(rules.SUGGESTION_SKIPPED, str(number), found=str(number), pointer=pointer)
            continue
        for field, rule in ((fields.MEMORY_TYPE, rules.OTHER_TYPE), (fields.MEMORY_CLASS, rules.OTHER_CLASS)):
            fault = fault_of(entry.get(field.key), field)
            if fault is not None and not fault.is_missing:
                yield make(rule, fault.suffix, found=fault.found, pointer=f"{pointer}/{field.key}")


def about_updates(entries: object, writable: dict[str, None] | None) -> Iterator[Finding]:
    seen: dict[str, int] = {}
    for number, entry in _entries(entries, fields.UPDATE):
        pointer = f"{fields.UPDATE_CONTRACTS.pointer}/{number}"
        if not entry:
            yield make(rules.UPDATE_MALFORMED, str(number), found=str(number), pointer=pointer)
            continue
        name: str = entry[fields.CONTRACT.key]
        pointer = f"{pointer}/{fields.CONTRACT.key}"
        seen[name] = seen.get(name, 0) + 1
        if writable is not None and name not in writable:
            fits = ", ".join(quoted(each) for each in islice(writable, MOST_FINDINGS)) or "nothing"
            yield make(rules.UPDATE_NOT_WRITABLE, as_suffix(name), found=quoted(name), fits=fits, pointer=pointer)
        elif seen[name] == 2:
            yield make(rules.UPDATE_TWICE, as_suffix(name), found=quoted(name), pointer=pointer)


# ---- unknown fields --------------------------------------------------------------------------------------------------


def about_unknown(parts: Iterable[tuple[str, Object]], strict: bool) -> Iterator[Finding]:
    """What to say of fields that are not in the table; invalid in strict mode."""
    rule = rules.UNKNOWN_FIELD._replace(severity="invalid") if strict else rules.UNKNOWN_FIELD
    for pointer, part in parts:
        for key in part:
            if key in fields.KNOWN[pointer]:
                continue
            name = key if type(key) is str else f"({type(key).__name__})"
            short = as_suffix(name)
            where = f"{pointer}/{short.replace('~', '~0').replace('/', '~1')}"
            found = f"{pointer[1:].replace('/', '.')}{'.' if pointer else ''}{quoted(name)[1:-1]}"
            yield make(rule, short, found=found, pointer=where, hint=_nearest(name, pointer))


def _nearest(name: str, part: str) -> str:
    """Which known name may be meant."""
    known = fields.NAMES[part]
    if len(name) <= _LONGEST_KEY:
        from difflib import get_close_matches  # a valid envelope has no use for it

        plain = _plain(name)
        same = [each for each in known if _plain(each) == plain]
        elsewhere = [field.name for field in fields.FIELDS if _plain(field.key) == plain]
        for near in (same, elsewhere, get_close_matches(name.lower(), known, 1)):
            if near:
                return f"did you mean {near[0]}?"
    return f"known here: {', '.join(known)}"


def _plain(name: str) -> str:
    """A name without what people write differently: `planStatus`, `plan-status`."""
    return name.replace("_", "").replace("-", "").replace(" ", "").lower()
