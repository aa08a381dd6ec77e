"""The output envelope as a JSON Schema, draft 2020-12, made of the field table. Pure.

It takes every envelope that the verdict takes without an input envelope, and refuses what the verdict refuses, but for
a loop that is short of its threshold, which no schema can compare. What is optional may have any type there, since the
verdict only warns of it. Served as `GET /api/handoff/schema.json` and printed by `gemba handoff schema`.
"""

from __future__ import annotations

import json
from typing import Any

from gemba.handoff import fields
from gemba.handoff.fields import Field

Schema = dict[str, Any]

_TYPES = {"object": "object", "list": "array", "string": "string", "number": "number", "boolean": "boolean"}
_NOT_EMPTY: dict[str, Schema] = {"list": {"minItems": 1}, "object": {"minProperties": 1}}
# What `str.strip` takes away: other dialects of patterns mean other characters by \s.
_BLANK = "".join(char for char in map(chr, range(0x3001)) if char.isspace())


def json_schema() -> Schema:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The output envelope of an agent's turn",
        "description": f"The body of the block ```{fields.FENCE} that ends a turn.",
        **_object(""),
        "allOf": [
            _when(fields.COMPLETE, fields.VERIFICATION),
            _when(fields.APPROVAL, fields.APPROVAL_REQUEST),
        ],
    }


def _object(part: str) -> Schema:
    """What stands in a part, whatever the status."""
    within = [field for field in fields.FIELDS if field.part == part]
    return {
        "type": "object",
        "properties": {field.key: _described(field) for field in within},
        "required": [field.key for field in within if _is_needed_in(field, part)],
    }


def _is_needed_in(field: Field, part: str) -> bool:
    """Is the field required wherever its part is? What only an input asks for no schema knows."""
    when = fields.BY_POINTER[part].when if part else fields.ALWAYS
    return field.presence in ("required", "conditional") and field.when == when


def _described(field: Field) -> Schema:
    told = {"description": f"{field.hint}; {_presence(field)}: {field.fits}", "examples": [json.loads(field.example)]}
    if _is_needed_in(field, field.part):
        return {**told, **_needed(field)}
    if field.when == fields.WHEN_CONSOLIDATING:
        return {**told, "anyOf": [{"type": "null"}, _needed(field)]}
    return told


def _presence(field: Field) -> str:
    return field.presence if field.when == fields.ALWAYS else f"{field.presence} ({fields.CONDITIONS[field.when]})"


def _needed(field: Field) -> Schema:
    """What the value of a field must be where it must be there."""
    kinds = [_of_type(field, kind) for kind in field.types]
    return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}


def _of_type(field: Field, kind: str) -> Schema:
    if kind == "string":
        return _text(field)
    if field.types == ("object",):
        return _object(field.pointer)
    return {"type": _TYPES[kind], **(_NOT_EMPTY[kind] if field.empty else {})}


def _text(field: Field) -> Schema:
    if field.allowed and not field.fold:
        return {"enum": list(field.allowed)}
    if field.allowed:
        return {"type": "string", "pattern": _folded(field.allowed)}
    return {"type": "string", "pattern": f"^{field.pattern}$" if field.pattern else f"[^{_BLANK}]"}


def _folded(names: tuple[str, ...]) -> str:
    """A pattern of these names in any case, with blanks around them."""
    cased = ("".join(f"[{char.upper()}{char.lower()}]" if char.isalpha() else char for char in name) for name in names)
    return f"^[{_BLANK}]*({'|'.join(cased)})[{_BLANK}]*$"


def _when(status: str, field: Field) -> Schema:
    """A part that must be there with a status."""
    has_status = {"type": "string", "pattern": _folded((status,))}
    return {
        "if": _inside(fields.PLAN_STATUS.pointer, has_status),
        "then": _inside(field.pointer, _needed(field)),
    }


def _inside(pointer: str, schema: Schema) -> Schema:
    """A schema of the whole for what must stand at a pointer."""
    for key in reversed(pointer[1:].split("/")):
        schema = {"properties": {key: schema}, "required": [key]}
    return schema
