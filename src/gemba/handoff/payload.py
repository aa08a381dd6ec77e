"""A payload as it is kept in a section: what the databases, the API and every reader of JSON can take.

`kept(payload)` gives the same document with NUL and lone surrogates replaced, as in all text that is stored, or an
Invalid that names the place: a number that not all readers of JSON hold, too many levels, too many bytes. Pure, linear.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec

from gemba.errors import Invalid
from gemba.handoff.value import Place
from gemba.text import storable
from gemba.wire import MAX_DEPTH

MOST_BYTES = 4 * 1024 * 1024  # of a section's value, as JSON
_LARGEST = 2**63 - 1


def kept(payload: dict[str, Any], root: str) -> dict[str, Any]:
    """`root` is the section, with which the pointers of refusals begin."""
    clean: dict[str, Any] = _kept(payload, Place().child(root), 1)
    encoded(clean, root)
    return clean


def encoded(value: dict[str, Any], root: str) -> str:
    """The text that is stored, unless it is too long."""
    text = msgspec.json.encode(value)
    if len(text) > MOST_BYTES:
        raise _refused(f"/{root}", f"this has {len(text):,} bytes", f"at most {MOST_BYTES:,} in a section")
    return text.decode()


def _kept(value: Any, place: Place, level: int) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict | list):
        if level > MAX_DEPTH:
            raise _refused(place.pointer, "this is nested too deeply", f"{MAX_DEPTH} levels")
        if isinstance(value, list):
            return [_kept(item, place.child(number), level + 1) for number, item in enumerate(value)]
        return {storable(key): _kept(item, place.child(key), level + 1) for key, item in value.items()}
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _LARGEST:
        raise _refused(place.pointer, "this number has more than 64 bits", "smaller ones, or its digits as a text")
    if isinstance(value, float) and not math.isfinite(value):
        raise _refused(place.pointer, "this number is too large", "smaller ones, or its digits as a text")
    return value


def _refused(pointer: str, found: str, allowed: str) -> Invalid:
    where = storable(pointer)
    return Invalid(f"{where}: {found}; allowed: {allowed}", code="context_value", pointer=where, allowed=allowed)
