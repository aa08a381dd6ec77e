"""What an event is: something that happened, with a name, a payload and whom it concerns. Types only."""

from __future__ import annotations

from typing import Any

import msgspec


class Draft(msgspec.Struct, frozen=True):
    """An event before it has a place in the log."""

    name: str
    payload: dict[str, Any]
    session_id: str | None = None
    ref: str | None = None


class Event(msgspec.Struct, frozen=True):
    """An event as it is stored and as it goes over the wire."""

    id: int
    at: str
    name: str
    session_id: str | None
    ref: str | None
    payload: msgspec.Raw


class Filter(msgspec.Struct, frozen=True):
    """Which events a reader wants; an empty part wants all."""

    names: frozenset[str] = frozenset()
    session_id: str | None = None
    ref: str | None = None

    def wants(self, event: Event) -> bool:
        return (
            (not self.names or event.name in self.names)
            and (self.session_id is None or event.session_id == self.session_id)
            and (self.ref is None or event.ref == self.ref)
        )


ALL = Filter()
