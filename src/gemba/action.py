"""An action: one way to change something, as a row (method, path pattern, verb, types).

Slices register theirs; the API mounts them. A verb takes an open transaction, a checked body and the ids of the path,
and returns what is shown; whoever runs it decides when to commit. What an action has to see of the world, or to do to
it in a way that can be repeated, `prepare` does before there is a transaction, so that nobody waits for the database
meanwhile; the verb gets what it returns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, NamedTuple
from urllib.parse import unquote

import msgspec

# A name that is looked for: whatever it is, a database takes it.
Id = Annotated[str, msgspec.Meta(min_length=1, max_length=500, pattern=r"^[^\x00]+$")]


class Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A body without fields."""


class Action(NamedTuple):
    """One row. The fields of `in_query` are fields of the body, too: what the query gives goes before that."""

    path: str
    verb: Callable[..., Any]
    body: type[msgspec.Struct]
    result: type[msgspec.Struct]
    summary: str
    method: str = "POST"
    prepare: Callable[..., Any] | None = None
    status: int = 200  # of the answer, when it is done
    in_query: type[msgspec.Struct] = Nothing

    def prepared(self, surroundings: Mapping[str, Any], body: Any, **ids: str) -> Any:
        return body if self.prepare is None else self.prepare(surroundings, body, **ids)

    def ids_in(self, path: str) -> dict[str, str] | None:
        """The ids that stand in a path of this action; None where it is another one's."""
        return ids_in(self.path, path)


def ids_in(pattern: str, path: str) -> dict[str, str] | None:
    """What stands in a path for the names of a pattern; None where they do not fit."""
    found = _compiled(pattern).fullmatch(path)
    return None if found is None else {name: unquote(value) for name, value in found.groupdict().items()}


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", pattern))
