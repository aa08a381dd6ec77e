"""`/api/events`: the event log as server-sent events, resumable with `Last-Event-ID`.

Readers share the hub's ring; a client that does not read is dropped after a while and resumes where it was. Every
stream ends at once when the hub is closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import msgspec
from sse_starlette import EventSourceResponse
from starlette.requests import Request
from starlette.responses import Response

from gemba.api.decode import decode_query
from gemba.app import App
from gemba.errors import Invalid
from gemba.event import Event, Filter
from gemba.store import events
from gemba.store.hub import Hub

_BURST = 50
_HEARTBEAT_SECONDS = 15
_SEND_TIMEOUT_SECONDS = 30
_ENCODED_KEPT = 1024

_encode = msgspec.json.Encoder().encode


class EventQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str | None = None
    session: str | None = None
    ref: str | None = None
    after: str | None = None


class Stream:
    """Makes one response a reader; encodes each event once for all of them."""

    def __init__(self, app: App, hub: Hub) -> None:
        self._app = app
        self._hub = hub
        self._encoded: dict[int, bytes] = {}

    async def respond(self, request: Request) -> Response:
        query = decode_query(request.scope["query_string"], EventQuery)
        names = frozenset(name.strip() for name in (query.name or "").split(",") if name.strip())
        wanted = Filter(names, query.session or None, query.ref or None)
        after = _sequence(request.headers.get("last-event-id") or query.after)
        return EventSourceResponse(
            self._events(wanted, after),
            ping=_HEARTBEAT_SECONDS,
            send_timeout=_SEND_TIMEOUT_SECONDS,
            headers={"Cache-Control": "no-store"},
        )

    async def _events(self, wanted: Filter, after: int | None) -> AsyncIterator[bytes]:
        seen = self._hub.last if after is None else after
        # Said at once, so that a client knows that it is connected before anything happens.
        yield b": connected\n\n"
        if after is not None and not await asyncio.to_thread(self._is_kept, after):
            seen = self._hub.last
            yield b'event: gap\ndata: {"reason": "some of what was asked for is no longer kept"}\n\n'
        while not self._hub.closed:
            await self._hub.beyond(seen)
            found, seen = await self._hub.read(seen, _BURST, wanted)
            if found:
                yield b"".join(map(self._encode, found))
            # Let other readers in between two bursts.
            await asyncio.sleep(0)

    def _is_kept(self, after: int) -> bool:
        """Is every event after this one still there? An id beyond the log is of another log."""
        with self._app.database.read() as connection:
            return events.floor(connection) <= after <= events.last_id(connection)

    def _encode(self, event: Event) -> bytes:
        encoded = self._encoded.get(event.id)
        if encoded is None:
            encoded = b"id: %d\nevent: %s\ndata: %s\n\n" % (event.id, event.name.encode(), _encode(event))
            self._encoded[event.id] = encoded
            if len(self._encoded) > _ENCODED_KEPT:
                del self._encoded[next(iter(self._encoded))]
        return encoded


def _sequence(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 18):
        raise Invalid(
            "Last-Event-ID is not an event's id",
            code="invalid_value",
            pointer="/after",
            found=text[:80],
            allowed="the id of the last event that was seen",
        )
    return int(text)
