"""What the inbox costs a page that asks for it again: a GET of 50 of 10,000 escalations against a bare Starlette route.

The bare route returns the same bytes from memory, in a process of its own under the same uvicorn settings, without
database, token or headers: what it does per second is what the web layer can do at most. Both are asked in turn over
the same number of kept connections, by a client that is cheaper than either, and the ratio of medians is judged.
`after a change` is what the first request after an event costs, which has to read the database.

Exits 1 below the limit. Run as `python -m benchmarks.inbox_get [ROUNDS]`.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import socket
import statistics
import sys
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import NamedTuple
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from benchmarks._floor import DATABASES, ask_frame, running_server, session_id, taken_in, write_logs
from gemba import wire
from gemba.api.server import Bind, configure
from gemba.testing import retry_until
from tests.fixtures.servers import RunningServer

ROUNDS = 7
ROUND_SECONDS = 1.0
ESCALATIONS = 10_000
SESSIONS = 100
CONNECTIONS = 8
LIMIT = 0.3
INBOX = "/api/escalations?state=unresolved&limit=50"
_CHANGES = 20


class Target(NamedTuple):
    """Whom to ask, and the request, byte for byte."""

    port: int
    request: bytes


def main(rounds: int) -> int:
    print(f"50 of {ESCALATIONS:,} escalations, {CONNECTIONS} connections, {rounds} rounds of {ROUND_SECONDS:.0f} s")
    print(f"{'database':<12}{'bare /s':>10}{'inbox /s':>10}{'ratio':>8}{'limit':>8}{'after a change':>17}  verdict")
    verdicts = []
    for database in DATABASES:
        with running_server(database) as server:
            write_logs(server.home, server.workspace, SESSIONS, ESCALATIONS)
            taken_in(server, ESCALATIONS)
            body = server.request("GET", INBOX).body
            with bare_route(body) as port:
                verdicts.append(compare(server, database, port, body, rounds))
    return 0 if all(verdicts) else 1


def compare(server: RunningServer, database: str, bare_port: int, body: bytes, rounds: int) -> bool:
    """Print one line of the table; is it within the limit?"""
    targets = {
        "bare": Target(bare_port, request_for(f"http://127.0.0.1:{bare_port}", "")),
        "inbox": Target(urlsplit(server.url).port or 0, request_for(server.url, server.token)),
    }
    done: dict[str, list[float]] = {name: [] for name in targets}
    for _ in range(rounds):
        for name, target in targets.items():
            done[name].append(asyncio.run(ask_for_a_while(target, body)))
    bare, inbox = (statistics.median(done[name]) for name in ("bare", "inbox"))
    ratio = inbox / bare
    print(
        f"{database:<12}{bare:>10,.0f}{inbox:>10,.0f}{ratio:>8.2f}{LIMIT:>8.2f}{after_a_change(server):>14.1f} ms"
        f"  {'within' if ratio >= LIMIT else 'TOO SLOW'}",
        flush=True,
    )
    return ratio >= LIMIT


def request_for(url: str, token: str) -> bytes:
    authorization = f"Authorization: Bearer {token}\r\n" if token else ""
    return f"GET {INBOX} HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\n{authorization}\r\n".encode()


def after_a_change(server: RunningServer) -> float:
    """The median time, in milliseconds, of a request that follows an event."""
    times = []
    stream = server.events("?name=escalation_opened")
    for _ in range(_CHANGES):
        wire.append_frame(str(server.home), session_id(0), ask_frame(server.workspace, session_id(0)))
        ref = stream.next()["data"]["ref"]
        begun = time.perf_counter()
        listed = server.get(INBOX + "&order=recent")
        times.append(time.perf_counter() - begun)
        assert listed["escalations"][0]["id"] == ref, "an event was told before the list had it"
    return statistics.median(times) * 1000


class Client(asyncio.Protocol):
    """Asks again as soon as it has its answer, until the time is up; counts the answers."""

    def __init__(self, request: bytes, body: bytes, until: float) -> None:
        self._request = request
        self._body = body
        self._until = until
        self._received = bytearray()
        self._transport: asyncio.Transport | None = None
        self.ended = asyncio.get_running_loop().create_future()
        self.answers = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        assert self._transport is not None
        self._received += data
        if not self._received.endswith(self._body[-64:]):
            return
        head, _, body = self._received.partition(b"\r\n\r\n")
        if len(body) < len(self._body):
            return
        self.answers += 1
        if self.answers == 1 and (not head.startswith(b"HTTP/1.1 200 ") or body != self._body):
            self.ended.set_exception(AssertionError(f"another answer: {bytes(head)!r}"))
        self._received.clear()
        if time.perf_counter() < self._until and not self.ended.done():
            self._transport.write(self._request)
        else:
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_result(self.answers)


async def ask_for_a_while(target: Target, body: bytes) -> float:
    """Answers per second."""
    loop = asyncio.get_running_loop()
    begun = time.perf_counter()
    made = [
        await loop.create_connection(
            lambda: Client(target.request, body, begun + ROUND_SECONDS), "127.0.0.1", target.port
        )
        for _ in range(CONNECTIONS)
    ]
    answers: int = sum(await asyncio.gather(*(client.ended for _, client in made)))
    return answers / (time.perf_counter() - begun)


@contextlib.contextmanager
def bare_route(body: bytes) -> Iterator[int]:
    """The same bytes from the barest route, served by another process; its port."""
    context = multiprocessing.get_context("spawn")
    pipe, end = context.Pipe()
    process = context.Process(target=serve_bare, args=(body, end), daemon=True)
    process.start()
    port: int = pipe.recv()
    retry_until(lambda: is_listening(port))
    try:
        yield port
    finally:
        process.terminate()
        process.join()


def serve_bare(body: bytes, pipe: Connection) -> None:
    async def inbox(_request: Request) -> Response:
        return Response(body, media_type="application/json")

    app = Starlette(routes=[Route("/api/escalations", inbox)])
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # as ours: sent without delay
    listener.bind(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    pipe.send(port)
    uvicorn.Server(configure(app, Bind("127.0.0.1", port))).run(sockets=[listener])


def is_listening(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))
