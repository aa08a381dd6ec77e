"""One GET as a row, and what rows have in common: limits, cursors, comma lists of states. Used by the read tables."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec
from sqlalchemy import Connection

from gemba import typed
from gemba.errors import Invalid
from gemba.store import events

BIGGEST = 2**63 - 1

Limit = Annotated[int, msgspec.Meta(ge=1, le=500)]


class Read(NamedTuple):
    """One GET: its path, its handler, the types of its query and its answer.

    What is `cached` depends on the database alone, and changes with an event; on the world beside it at most in ways
    that may be told a second late. The handler of a `personal` one is also told the `operator` who asks.
    """

    path: str
    handler: Callable[..., msgspec.Struct]
    query: type[msgspec.Struct]
    result: type[msgspec.Struct]
    summary: str
    public: bool = False
    cached: bool = False
    personal: bool = False
    media_type: str = "application/json"


def last_event(connection: Connection) -> int:
    """Read before the rest: what happens in between is told again rather than missed."""
    return events.last_id(connection)


C = TypeVar("C")


def open_cursor(text: str | None, kind: type[C]) -> C | None:
    if text is None:
        return None
    try:
        place: Any = typed.decode(base64.b64decode(text.encode(), altchars=b"-_", validate=True), kind)
        if all(abs(part) <= BIGGEST for part in place if isinstance(part, int)) and "\0" not in place[-1]:
            return place  # type: ignore[no-any-return]
    except (binascii.Error, msgspec.MsgspecError, UnicodeEncodeError):
        pass
    raise Invalid(
        "cursor is not one that this list gave out",
        code="invalid_value",
        pointer="/cursor",
        found=text[:80],
        allowed="next_cursor of the page before",
    )


def seal_cursor(place: tuple[Any, ...] | None) -> str | None:
    return None if place is None else base64.b64encode(msgspec.json.encode(place), altchars=b"-_").decode()


def states_in(text: str | None, known: type[StrEnum], name: str = "state") -> list[str]:
    """The states of a comma list, or other words of a known few; none at all stands for every one."""
    states = [state.strip() for state in text.split(",")] if text else []
    for state in states:
        if state not in list(known):
            allowed = ", ".join(known)
            raise Invalid(
                f"{name} is {state[:80]!r}; allowed: {allowed}",
                code="invalid_value",
                pointer=f"/{name}",
                found=state[:80],
                allowed=list(known),
            )
    return states
