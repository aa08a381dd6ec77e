"""The input of a consult, read into its skill's type. What does not fit is an InputMisfit that names the place.

Unknown fields are refused: a field that is silently dropped is a signal that an advisor was thought to have.
"""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec

from gemba import clock
from gemba.errors import Invalid
from gemba.fit import fit

T = TypeVar("T", bound=msgspec.Struct)

_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)\Z")


class InputMisfit(Invalid):
    """What was sent is not the input of this skill."""

    status = 400


def read_input(document: Any, kind: type[T]) -> T:
    """The document as the input of a skill. A type may look further, in a method `check` that raises InputMisfit."""
    try:
        given = fit(document, kind, whole="the input")
    except Invalid as error:
        raise _misfit_of(error) from None
    check = getattr(given, "check", None)
    if check is not None:
        check()
    return given


def read_json(data: bytes, kind: type[T]) -> T:
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputMisfit(f"the input is not JSON: {error}", code="malformed_json", pointer="") from None
    return read_input(document, kind)


def moment(text: str, pointer: str) -> int:
    """The moment that a text names, in microseconds."""
    found = clock.parse(text) if _RFC3339.match(text) else None
    if found is None:
        raise misfit(
            pointer, "this is no RFC 3339 time", text[:80], "a time with its zone, such as 2026-05-04T09:30:00Z"
        )
    return found


def misfit(pointer: str, words: str, found: Any, allowed: Any) -> InputMisfit:
    message = f"{pointer}: {words}; allowed: {allowed}"
    return InputMisfit(message, code="invalid_value", pointer=pointer, found=found, allowed=allowed)


def _misfit_of(error: Invalid) -> InputMisfit:
    return InputMisfit(
        error.message, code=error.code, pointer=error.pointer, found=error.found, allowed=error.allowed, **error.extra
    )
