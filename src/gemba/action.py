"""An action: one way to change something, as a row (method, path pattern, verb, types).

Slices register theirs; the API mounts them. A verb takes an open transaction, a checked body and the ids of the path,
and returns what is shown; whoever runs it decides when to commit. What an action has to see of the world, or to do to
it in a way that can be repeated, `prepare` does before there is a transaction, so that nobody waits for the database
meanwhile; the verb gets what it returns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple

import msgspec

# A name that is looked for: whatever it is, a database takes it.
Id = Annotated[str, msgspec.Meta(min_length=1, max_length=500, pattern=r"^[^\x00]+$")]


class Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A body without fields."""


class Action(NamedTuple):
    path: str
    verb: Callable[..., Any]
    body: type[msgspec.Struct]
    result: type[msgspec.Struct]
    summary: str
    method: str = "POST"
    prepare: Callable[..., Any] | None = None
    status: int = 200  # of the answer, when it is done

    def prepared(self, surroundings: Mapping[str, Any], body: Any, **ids: str) -> Any:
        return body if self.prepare is None else self.prepare(surroundings, body, **ids)
