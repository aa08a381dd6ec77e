"""`/api/events`: the event log as server-sent events, resumable with `Last-Event-ID`.

Readers share the hub's ring and have no queue of their own: a reader that is slow is served from the log, one that
does not read at all is cut off by the server and resumes where it was. Every stream ends at once when the hub is
closed. What can no longer be told because retention has removed it is told as a `gap`.

A crowd of readers is paced: between two writes of one stream passes a time that grows with the number of streams, so
each write carries more. The first event after a silence is never held back. Readers at the same place with the same
filter are written the same bytes, made once.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import msgspec
import structlog
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from gemba.api.decode import decode_query
from gemba.api.security import SHORT_WAY
from gemba.app import App
from gemba.errors import Invalid
from gemba.event import Event, Filter
from gemba.store import events
from gemba.store.database import REFUSALS, reason_of
from gemba.store.hub import Hub

HEARTBEAT_SECONDS = 15.0

_MEDIA_TYPE = "text/event-stream"
_BURST = 50
_CHUNK_BYTES = 64 * 1024
_PACE_SECONDS = 0.0001  # between two writes of a stream, for each stream that is open
_LONGEST_PACE = 0.2
_SHARED_READINGS = 64
_CONNECTED = b": connected\n\n"
_HEARTBEAT = b": still here\n\n"
_GAP = b'event: gap\ndata: {"reason": "some of what was asked for is no longer kept"}\n\n'

_encode = msgspec.json.Encoder().encode

log = structlog.get_logger("gemba.stream")


class EventQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str | None = None
    session: str | None = None
    ref: str | None = None
    after: str | None = None


Reading = tuple[list[bytes], int]  # what to send, and the id up to which everything has been seen then


class EventStream(StreamingResponse):
    """What a crowd is written all the time goes past the layers that only the beginning of a response concerns."""

    _write: Callable[[bytes], Awaitable[None]] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._write = scope.get(SHORT_WAY)
        await super().__call__(scope, receive, send)

    async def stream_response(self, send: Send) -> None:
        if self._write is None:
            await super().stream_response(send)
            return
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for part in self.body_iterator:
            await self._write(bytes(part))  # type: ignore[arg-type]
        await send({"type": "http.response.body", "body": b""})


class Stream:
    """Makes one response a reader."""

    def __init__(self, app: App, hub: Hub, heartbeat: float = HEARTBEAT_SECONDS) -> None:
        self._app = app
        self._hub = hub
        self._heartbeat = heartbeat
        self._open = 0
        self._turn = asyncio.Event()
        self._turn.set()
        # By place, filter and the last event there was; small ones only, so that they take no more than a few MB.
        self._shared: OrderedDict[tuple[int, Filter, int], Reading] = OrderedDict()

    @property
    def open(self) -> int:
        """How many there are."""
        return self._open

    async def respond(self, request: Request) -> Response:
        query = decode_query(request.scope["query_string"], EventQuery)
        names = frozenset(name.strip() for name in (query.name or "").split(",") if name.strip())
        wanted = Filter(names, query.session or None, query.ref or None)
        after = _sequence(request.headers.get("last-event-id") or query.after)
        if request.method == "HEAD":
            return Response(media_type=_MEDIA_TYPE)
        beginning = _CONNECTED
        # Whoever comes again after a moment needs nothing that is not in the ring.
        if after is None or after > self._hub.last or not self._hub.holds(after):
            floor, last = await asyncio.to_thread(self._kept)
            # An id beyond the log is of another log.
            if after is not None and not floor <= after <= last:
                after, beginning = None, _CONNECTED + _GAP
            after = last if after is None else after
        # The proxies that hold back what they pass on know this header.
        headers = {"X-Accel-Buffering": "no"}
        return EventStream(self._events(beginning, after, wanted), headers=headers, media_type=_MEDIA_TYPE)

    async def _events(self, beginning: bytes, seen: int, wanted: Filter) -> AsyncIterator[bytes]:
        self._open += 1
        try:
            # Said at once, so that a client knows that it is connected before anything happens.
            yield beginning
            now = asyncio.get_running_loop().time
            quiet_until = now() + self._heartbeat
            while not self._hub.closed:
                if self._hub.last <= seen:
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout_at(quiet_until):
                            await self._hub.beyond(seen)
                try:
                    chunks, seen = await self._read(seen, wanted)
                except REFUSALS as error:
                    # Only one that fell behind reads the database. It comes again, with the last id it saw.
                    log.warning("a stream ends: the event log is unreadable", reason=reason_of(error))
                    return
                if not chunks and now() >= quiet_until:
                    chunks = [_HEARTBEAT]
                for chunk in chunks:
                    yield chunk
                    quiet_until = now() + self._heartbeat
                # Let other readers in between two bursts; one that has caught up can wait for more than one event.
                await (asyncio.sleep(0) if seen < self._hub.last else self._next_turn())
        finally:
            self._open -= 1

    async def _next_turn(self) -> None:
        """All who have caught up go on together: one timer, however many they are."""
        if self._turn.is_set():
            self._turn = asyncio.Event()
            pause = min(self._open * _PACE_SECONDS, _LONGEST_PACE)
            asyncio.get_running_loop().call_later(pause, self._turn.set)
        await self._turn.wait()

    async def _read(self, after: int, wanted: Filter) -> Reading:
        """What to send next, made once for all who stand at the same place."""
        place = (after, wanted, self._hub.last)
        known = self._shared.get(place)
        if known is None:
            known = await self._make(after, wanted)
            if sum(map(len, known[0])) <= _CHUNK_BYTES:
                self._shared[place] = known
                while len(self._shared) > _SHARED_READINGS:
                    self._shared.popitem(last=False)
        return known

    async def _make(self, after: int, wanted: Filter) -> Reading:
        found, seen = await self._hub.read(after, _BURST, wanted)
        if seen > after and not self._hub.holds(after):
            # Asked after the reading: what was removed meanwhile is noticed.
            floor, last = await asyncio.to_thread(self._kept)
            if after < floor:
                return [_GAP], last
        return list(_chunks(found)), seen

    def _kept(self) -> tuple[int, int]:
        """The last event that is gone, and the last there is."""
        with self._app.database.read() as connection:
            return events.floor(connection), events.last_id(connection)


def _chunks(found: list[Event]) -> Iterator[bytes]:
    """The events as they go over the wire, several at once as long as they are small."""
    chunk = bytearray()
    for event in found:
        chunk += b"id: %d\nevent: %s\ndata: %s\n\n" % (event.id, event.name.encode(), _encode(event))
        if len(chunk) >= _CHUNK_BYTES:
            yield bytes(chunk)
            chunk.clear()
    if chunk:
        yield bytes(chunk)


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
