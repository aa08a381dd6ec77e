"""A plan that a person keeps in a file: TOML or JSON, the same document in both.

A fault names its line in TOML, and in JSON the line where it stops being JSON, or else the place as a pointer. What a
plan may be is judged by `planning.read_plan`, as for every other plan. Called by whoever starts a run from a file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gemba import toml, wire
from gemba.errors import Invalid, Unusable
from gemba.teams.analysis import MOST_ROLES
from gemba.teams.plan import Plan
from gemba.teams.planning import read_plan

MOST_BYTES = 8 * 1024 * 1024  # of JSON; TOML has a limit of its own
_DEEPEST = 16  # levels of a document


def read_plan_file(path: Path, *, max_roles: int = MOST_ROLES) -> Plan:
    """The plan of a file, or an Invalid that begins with the file and says where in it."""
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}", code="plan_unreadable") from None
    return parse_plan(raw, str(path), max_roles=max_roles)


def parse_plan(raw: bytes, name: str, *, max_roles: int = MOST_ROLES) -> Plan:
    """The same of a file's bytes; it is JSON when it begins as an object does, else TOML."""
    is_json = raw.lstrip().startswith(b"{")
    text, document = _json(raw, name) if is_json else _toml(raw, name)
    if wire.is_deeper(document, _DEEPEST):
        raise Invalid(f"{name}: the plan is too deep; allowed: {_DEEPEST} levels", code="plan_syntax")
    try:
        return read_plan(document, max_roles=max_roles)
    except Invalid as fault:
        where = "" if is_json else f":{toml.line_of(_place(fault.pointer, document), toml.places(text))}"
        at = f" (at {fault.pointer})" if is_json and fault.pointer and fault.pointer not in fault.message else ""
        raise Invalid(
            f"{name}{where}: {fault.message}{at}",
            code=fault.code,
            pointer=fault.pointer,
            found=fault.found,
            allowed=fault.allowed,
            **fault.extra,
        ) from None


def _json(raw: bytes, name: str) -> tuple[str, Any]:
    if len(raw) > MOST_BYTES:
        raise Invalid(f"{name}: the file is too long; allowed: {MOST_BYTES:,} bytes", code="plan_syntax")
    try:
        text = raw.decode()
        return text, json.loads(text)
    except json.JSONDecodeError as error:
        raise Invalid(f"{name}:{error.lineno}: this is not JSON: {error.msg}", code="plan_syntax") from None
    except (ValueError, RecursionError) as error:
        raise Invalid(f"{name}:1: this is not JSON: {str(error)[:200]}", code="plan_syntax") from None


def _toml(raw: bytes, name: str) -> tuple[str, dict[str, Any]]:
    try:
        return toml.load(raw)
    except toml.NotToml as error:
        raise Invalid(f"{name}:{error.line}: {error.message}", code="plan_syntax") from None


def _place(pointer: str | None, document: Any) -> toml.Place:
    """A pointer as a place of TOML: what leads into a list is a number."""
    place: list[str | int] = []
    for part in (pointer or "").split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        step: str | int = int(key) if isinstance(document, list) and key.isdecimal() else key
        place.append(step)
        try:
            document = document[step]
        except (KeyError, IndexError, TypeError):
            document = None
    return tuple(place)
