"""An action that a line suggests, and the allow-list that says which ones a skill may suggest.

A row of an allow-list is a verb, a path, and what the body may have. A line with any other action is refused when it
arrives, and whoever applies one asks the same list again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple
from urllib.parse import quote, unquote

import msgspec

from gemba.toml import quoted

Verb = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


class SuggestedAction(msgspec.Struct, frozen=True):
    """A request that a person may have made for them: a verb, a path of the API, a body."""

    verb: Verb
    path: str
    body: dict[str, Any]


class Allowed(NamedTuple):
    """One row of an allow-list. `{id}` in the path stands for one id; `own` is the field of the skill's input that
    names the only ids it may be. `fields` are those of the body, or of the object `inside` it; `fixed` ones have one
    value each.
    """

    verb: Verb
    path: str
    fields: tuple[str, ...]
    required: tuple[str, ...] = ()
    inside: str | None = None
    fixed: dict[str, Any] = {}  # noqa: RUF012 - a row of a table; nobody changes it
    own: str | None = None

    def __str__(self) -> str:
        return f"{self.verb} {self.path}"


ITEM = "/api/work-items/{id}"
ITEMS = "/api/work-items"

NEW_MILESTONE = Allowed(
    "POST", ITEMS, ("kind", "title", "description"), ("kind", "title"), inside="item", fixed={"kind": "milestone"}
)
_ITEM_FIELDS = (
    *("title", "description", "acceptance", "priority", "parent", "labels"),
    *("targets", "concepts", "estimated_tokens", "repository"),
)
NEW_ITEM = Allowed("POST", ITEMS, ("kind", "state", *_ITEM_FIELDS), ("title",), inside="item")
CHANGED_ITEM = Allowed("PATCH", ITEM, (*_ITEM_FIELDS, "state", "user_order", "version"))

_ID = re.compile(r"[A-Za-z0-9._~:@%+-]{1,768}\Z")
_NUMBERED = re.compile(r"\s*M\d+\b")


def item_path(id: str) -> str:
    return f"{ITEMS}/{quote(id, safe='-._~:@+')}"


def refusal(action: SuggestedAction, allowed: Iterable[Allowed], given: msgspec.Struct) -> str | None:
    """Why no row lets the action pass; None when one does. `given` is the skill's input."""
    rows = tuple(allowed)
    if not rows:
        return "this skill suggests no actions"
    near = [row for row in rows if row.verb == action.verb and _id_in(row.path, action.path) is not None]
    if not near:
        listed = ", ".join(dict.fromkeys(map(str, rows)))
        return f"{action.verb} {quoted(action.path)} is not among the actions of this skill; allowed: {listed}"
    reasons = [_misfit(row, action, given) for row in near]
    return None if None in reasons else reasons[-1]


def _id_in(pattern: str, path: str) -> str | None:
    """The id that stands in the path, "" where the pattern has none; None when the path is another one."""
    before, placeholder, behind = pattern.partition("{id}")
    if not placeholder:
        return "" if path == pattern else None
    if not (path.startswith(before) and path.endswith(behind)):
        return None
    found = path[len(before) : len(path) - len(behind)]
    return unquote(found) if _ID.match(found) and unquote(found) not in (".", "..") else None


def _misfit(row: Allowed, action: SuggestedAction, given: msgspec.Struct) -> str | None:
    id = _id_in(row.path, action.path)
    if row.own is not None and id not in (own := _ids_of(given, row.own)):
        return f"{row} is allowed for {' or '.join(map(quoted, own[:5]))} alone, not for {quoted(id or '')}"
    body: Any = action.body
    if row.inside is not None:
        if list(body) != [row.inside] or not isinstance(body[row.inside], dict):
            return f"the body of {row} is an object with {row.inside} alone"
        body = body[row.inside]
    if not body:
        return f"the body of {row} is empty"
    for name in body:
        if name not in row.fields:
            return f"{quoted(name)} does not belong into the body of {row}; allowed: {', '.join(row.fields)}"
    for name in row.required:
        if name not in body:
            return f"{name} is missing in the body of {row}"
    for name, value in row.fixed.items():
        if body.get(name) != value:
            return f"{name} in the body of {row} is {value!r} and nothing else"
    if body.get("kind") == "milestone" and _NUMBERED.match(str(body.get("title"))):
        return "the title of a milestone has no number: the server gives it one"
    return None


def _ids_of(given: msgspec.Struct, field: str) -> list[str]:
    value = getattr(given, field)
    return list(value) if isinstance(value, list) else [value]
