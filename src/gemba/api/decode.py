"""Bodies, queries and paths into their types, or an Invalid that names the place, what was found, what is allowed.

What does not fit is told by `gemba.fit`.
"""

from __future__ import annotations

from typing import TypeVar
from urllib.parse import parse_qsl

import msgspec

from gemba.errors import Invalid
from gemba.fit import escape, fit
from gemba.text import storable

T = TypeVar("T", bound=msgspec.Struct)


class Malformed(Invalid):
    """Not even JSON."""


def decode_body(data: bytes, kind: type[T]) -> T:
    """A JSON body; no body at all is an empty object."""
    try:
        document = msgspec.json.decode(data or b"{}")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Malformed(f"the body is not JSON: {error}", code="malformed_json", pointer="") from None
    return fit(document, kind)


def decode_query(query: bytes, kind: type[T]) -> T:
    """A query string; each parameter once, numbers written as such."""
    try:
        pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=50)
    except ValueError as error:
        raise Invalid(f"the query cannot be read: {error}", code="malformed_query") from None
    document: dict[str, str] = {}
    for name, value in pairs:
        if name in document:
            raise Invalid(f"{name} is given twice", code="repeated_parameter", pointer=f"/{escape(name)}", found=value)
        if value != storable(value):
            raise Invalid(
                f"{name} has a character that no text may have", code="invalid_value", pointer=f"/{escape(name)}"
            )
        document[name] = value
    return fit(document, kind, strict=False)
