"""`/api/events`: live, filtered, resumable; nothing missed, nothing doubled, nobody kept waiting."""

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.requests import Request
from starlette.responses import StreamingResponse

from gemba.api import stream as sse
from gemba.api.server import Protocol
from gemba.app import App
from gemba.event import Draft
from gemba.store import events, hub
from gemba.store.hub import Hub
from gemba.testing import retry_until
from tests.fixtures.api import Api, served
from tests.fixtures.cluster import Cluster
from tests.fixtures.servers import RunningServer, Stream

StartServer = Callable[..., RunningServer]


def emit(api: Api, *names: str, session: str | None = None, ref: str | None = None, **payload: Any) -> None:
    with api.app.database.transaction() as tx:
        for name in names:
            tx.emit(Draft(name, payload, session, ref))


@asynccontextmanager
async def streaming(app: App) -> AsyncIterator[tuple[sse.Stream, Hub]]:
    """The endpoint, over a hub that moves events."""
    made = Hub(app.database)
    await made.start()
    app.database.on_commit.append(made.tell)
    moving = asyncio.create_task(made.run())
    try:
        yield sse.Stream(app, made), made
    finally:
        app.database.on_commit.remove(made.tell)
        moving.cancel()


async def reader(of: sse.Stream, query: bytes = b"after=0") -> AsyncIterator[Any]:
    """One who is connected, and takes what comes when asked to."""
    place = {"type": "http", "method": "GET", "path": "/api/events", "query_string": query, "headers": []}
    response = await of.respond(Request(place))
    assert isinstance(response, StreamingResponse)
    told = aiter(response.body_iterator)
    assert await anext(told) == b": connected\n\n"
    return told


def tell(app: App, *names: str) -> None:
    with app.database.transaction() as tx:
        for name in names:
            tx.emit(Draft(name, {}))


def take(stream: Stream, many: int) -> list[dict[str, Any]]:
    return [stream.next() for _ in range(many)]


def names_of(found: list[dict[str, Any]]) -> list[str]:
    return [event["event"] for event in found]


def ids_of(found: list[dict[str, Any]]) -> list[int]:
    return [int(event["id"]) for event in found]


# ---- what is told ----------------------------------------------------------------------------------------------------


def test_an_event_has_its_sequence_its_name_and_one_line_of_json(api: Api) -> None:
    stream = api.events()
    words = "one\ntwo\r\nthree\u2028four: data: five\0"
    emit(api, "thing.happened", session="s-1", ref="r-1", words=words)

    told = stream.next()

    assert (told["id"], told["event"]) == ("1", "thing.happened")
    assert told["data"].pop("at").endswith("Z")
    assert told["data"] == {
        "id": 1,
        "name": "thing.happened",
        "session_id": "s-1",
        "ref": "r-1",
        "payload": {"words": words},
    }


def test_a_new_reader_begins_with_what_happens_next(api: Api) -> None:
    emit(api, "before")
    stream = api.events()
    emit(api, "after")

    assert stream.next()["event"] == "after"


def test_every_reader_gets_every_event_in_order(api: Api) -> None:
    streams = [api.events() for _ in range(3)]
    for n in range(120):
        emit(api, f"n{n}")

    for stream in streams:
        found = take(stream, 120)
        assert ids_of(found) == list(range(1, 121))
        assert names_of(found) == [f"n{n}" for n in range(120)]


def test_filters_choose_by_name_session_and_ref(api: Api) -> None:
    by_name = api.events("?name=a,%20c")
    by_session = api.events("?session=s-2")
    by_ref = api.events("?ref=r-1&name=b")
    emit(api, "a", "b", session="s-1", ref="r-1")
    emit(api, "b", "c", session="s-2", ref="r-2")
    emit(api, "a", "b", "c", session="s-2", ref="r-1")

    assert ids_of(take(by_name, 4)) == [1, 4, 5, 7]
    assert ids_of(take(by_session, 5)) == [3, 4, 5, 6, 7]
    assert ids_of(take(by_ref, 2)) == [2, 6]


def test_a_list_and_the_stream_after_it_have_no_gap_between_them(api: Api) -> None:
    first = api.ask()
    listed = api.get("/api/escalations")
    second = api.ask()

    stream = api.events(f"?after={listed['as_of']}&name=escalation_opened")

    assert [row["id"] for row in listed["escalations"]] == [first]
    assert stream.next()["data"]["ref"] == second


def test_what_is_no_place_is_refused(api: Api) -> None:
    for after in ("x", "-1", "1.5", "9" * 19, "%20"):
        refused = api.request("GET", f"/api/events?after={after}")
        assert (refused.status, refused.json["pointer"]) == (422, "/after")
    assert api.request("GET", "/api/events", Last_Event_ID="nonsense").status == 422
    assert api.request("GET", "/api/events?unknown=1").json["code"] == "unknown_field"


# ---- resuming --------------------------------------------------------------------------------------------------------


def test_a_reader_resumes_after_the_last_event_it_saw(api: Api) -> None:
    emit(api, *(f"n{n}" for n in range(200)))

    assert ids_of(take(api.events(after=150), 50)) == list(range(151, 201))
    assert ids_of(take(api.events("?after=199"), 1)) == [200]
    assert ids_of(take(api.events("?after=10&name=n3,n150"), 1)) == [151]
    # A browser that reconnects sends the header, to the address it began with.
    assert ids_of(take(api.events("?after=3", after=198), 2)) == [199, 200]


def test_nothing_is_missed_or_doubled_over_a_restart(server: RunningServer) -> None:
    asks = {"kind": "question", "role": "coach", "text": "?"}
    stream = server.events("?name=escalation_opened")
    sent = [server.append("GembaAsk", asks) for _ in range(3)]
    seen = take(stream, 3)
    stream.close()
    sent += [server.append("GembaAsk", asks) for _ in range(3)]
    server.kill()
    sent += [server.append("GembaAsk", asks) for _ in range(3)]
    server.start()
    sent += [server.append("GembaAsk", asks) for _ in range(3)]

    seen += take(server.events("?name=escalation_opened", after=int(seen[-1]["id"])), 9)

    assert [event["data"]["ref"] for event in seen] == sent
    assert ids_of(seen) == list(range(1, 13))


def test_a_place_that_is_no_longer_kept_is_told_as_a_gap(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "_RING_EVENTS", 2)
    emit(api, *(f"n{n}" for n in range(10)))
    with api.app.database.transaction() as tx:
        assert events.prune(tx.connection, older_than=0, keep_at_most=4) == 6

    gap = api.events(after=5)
    told = gap.next()
    assert (told["event"], "id" in told) == ("gap", False)
    # What happens from now on follows; the rest the reader fetches anew.
    emit(api, "next")
    assert gap.next()["event"] == "next"
    assert names_of(take(api.events(after=6), 5)) == ["n6", "n7", "n8", "n9", "next"]


def test_a_place_beyond_the_log_is_told_as_a_gap(api: Api) -> None:
    emit(api, "a")

    stream = api.events(after=1000)

    assert stream.next()["event"] == "gap"
    emit(api, "b")
    assert (told := stream.next())["event"] == "b"
    assert told["id"] == "2"


@pytest.mark.anyio
async def test_a_reader_that_retention_overtakes_is_told_of_the_gap(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "_RING_EVENTS", 2)
    async with streaming(app) as (stream, moving):
        told = await reader(stream)
        # While nobody takes what comes next, the ring moves on, and then retention does.
        tell(app, *(f"n{n}" for n in range(9)))
        await moving.beyond(8)
        with app.database.transaction() as tx:
            events.prune(tx.connection, older_than=0, keep_at_most=1)

        assert (await anext(told)).startswith(b"event: gap")
        tell(app, "next")
        assert b"event: next" in await anext(told)


# ---- crowds ----------------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_readers_at_the_same_place_are_sent_the_same_bytes(app: App) -> None:
    async with streaming(app) as (stream, _):
        one, two = await reader(stream), await reader(stream)
        other = await reader(stream, b"after=0&name=b")
        tell(app, "a", "b")

        first, second, filtered = await anext(one), await anext(two), await anext(other)

    assert first is second
    assert b"event: a" in first
    assert b"event: a" not in filtered
    assert b"event: b" in filtered


@pytest.mark.anyio
async def test_in_a_crowd_the_first_event_is_told_at_once_and_the_next_ones_together(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "_PACE_SECONDS", 2.0)
    monkeypatch.setattr(sse, "_LONGEST_PACE", 2.0)
    now = asyncio.get_running_loop().time
    async with streaming(app) as (stream, _):
        told = await reader(stream)
        tell(app, "a")
        begun = now()
        assert b"event: a" in await anext(told)
        at_once = now() - begun

        following = asyncio.ensure_future(anext(told))
        for name in "bcd":
            await asyncio.to_thread(tell, app, name)
        together = await following

    assert at_once < 2.0 <= now() - begun
    assert [name in together for name in (b"event: b", b"event: c", b"event: d")] == [True] * 3


@pytest.mark.anyio
async def test_one_that_is_behind_is_not_paced(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "_PACE_SECONDS", 3600.0)
    monkeypatch.setattr(sse, "_LONGEST_PACE", 3600.0)
    tell(app, *(f"n{n}" for n in range(500)))
    async with streaming(app) as (stream, _):
        told = await reader(stream)
        found = b""
        async with asyncio.timeout(30):
            while b"event: n499\n" not in found:
                found += await anext(told)

    assert found.count(b"\nevent: n") == 500


# ---- heartbeats, slow readers, the end -------------------------------------------------------------------------------


def test_a_quiet_stream_says_now_and_then_that_it_lives(api: Api) -> None:
    with served(api.app, heartbeat=0.02) as lively:
        stream = lively.events()
        assert [stream.line() for _ in range(5)] == ["", ": still here", "", ": still here", ""]
        emit(lively, "a")
        assert stream.next()["event"] == "a"


def test_a_stream_is_quiet_when_what_happens_is_not_for_it(api: Api) -> None:
    with served(api.app, heartbeat=0.05) as lively:
        stream = lively.events("?name=never")
        heard = threading.Event()

        def listen() -> None:
            while stream.line() != ": still here":
                pass
            heard.set()

        listener = threading.Thread(target=listen)
        listener.start()
        while not heard.wait(0.005):
            emit(lively, "other")
        listener.join()


def test_a_reader_that_does_not_read_is_cut_off_and_holds_up_nobody(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Protocol, "stalled_seconds", 0.2)
    address = urlsplit(api.url)
    big, many = "x" * 100_000, 300
    with closing(socket.socket()) as stuck:
        stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stuck.connect((address.hostname, address.port))
        stuck.sendall(
            f"GET /api/events HTTP/1.1\r\nHost: {address.netloc}\r\nAuthorization: Bearer {api.token}\r\n\r\n".encode()
        )
        assert stuck.recv(9) == b"HTTP/1.1 "
        reader = api.events()
        received: list[int] = []
        reading = threading.Thread(target=lambda: received.extend(ids_of(take(reader, many))))
        reading.start()
        for _ in range(many):
            emit(api, "filler", text=big)
        reading.join()
        assert received == list(range(1, many + 1))

        # What it gets is what lay in buffers when it was cut off, not all of the 30 MB.
        stuck.settimeout(30)
        size = 0
        try:
            while chunk := stuck.recv(1 << 20):
                size += len(chunk)
        except ConnectionResetError:
            pass
        assert size < many * len(big) / 2


@pytest.mark.parametrize(("version", "framed"), [("1.0", False), ("1.1", True)])
def test_a_stream_is_framed_as_its_protocol_says(api: Api, version: str, framed: bool) -> None:
    address = urlsplit(api.url)
    request = f"GET /api/events HTTP/{version}\r\nHost: {address.netloc}\r\nAuthorization: Bearer {api.token}\r\n\r\n"
    with closing(socket.create_connection((address.hostname, address.port), timeout=30)) as reader:
        reader.sendall(request.encode())
        read = b""
        while b": connected\n\n" not in read:
            read += reader.recv(1 << 16)
        emit(api, "filler")
        body = b""
        while b"\n\n" not in body:
            body += reader.recv(1 << 16)

    before, _, event = body.partition(b"id: 1\nevent: filler\ndata: {")
    assert event
    assert (b"transfer-encoding: chunked" in read.lower()) is framed
    assert bool(re.search(rb"[0-9a-f]+\r\n$", before)) is framed


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_server_ends_at_once_with_open_streams(sqlite_server: RunningServer, number: signal.Signals) -> None:
    streams = [sqlite_server.events(query) for query in ("", "?name=never", "?after=0")]
    address = urlsplit(sqlite_server.url)
    with closing(socket.create_connection((address.hostname, address.port))) as half_a_request:
        half_a_request.sendall(
            f"POST /api/escalations/1/ack HTTP/1.1\r\nHost: {address.netloc}\r\nX-GEMBA-Confirm: a\r\n"
            f"Authorization: Bearer {sqlite_server.token}\r\nContent-Length: 10\r\n\r\n{{".encode()
        )
        sqlite_server.get("/api/health")
        sqlite_server.process.send_signal(number)

        for stream in streams:
            with pytest.raises(EOFError):
                stream.next()
        _, errors = sqlite_server.process.communicate(timeout=30)

    # Nothing had to be waited for until its time was up: that would have been told here.
    assert (sqlite_server.process.returncode, errors) == (0, b"")


def test_the_server_ends_at_once_with_a_reader_that_does_not_read(sqlite_server: RunningServer) -> None:
    address = urlsplit(sqlite_server.url)
    with closing(socket.socket()) as stuck:
        stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stuck.connect((address.hostname, address.port))
        request = f"GET /api/events?name=unknown_hook HTTP/1.1\r\nHost: {address.netloc}\r\n"
        stuck.sendall(f"{request}Authorization: Bearer {sqlite_server.token}\r\n\r\n".encode())
        assert stuck.recv(9) == b"HTTP/1.1 "
        reader = sqlite_server.events("?name=unknown_hook")
        payload = {f"key-{n}": "x" * 15_000 for n in range(60)}
        for _ in range(12):
            sqlite_server.append("Strange", payload)
        take(reader, 12)

        code, errors = sqlite_server.stop()

    assert (code, errors) == (0, "")


# ---- other processes -------------------------------------------------------------------------------------------------

OTHER_PROCESS = """
import sys
from pathlib import Path
from gemba.cli.local import open_local
from gemba.config import Workspace, home, read_settings

workspace = Workspace(Path(sys.argv[1]))
with open_local(workspace, read_settings(workspace), home()) as door:
    door.post(f"/api/escalations/{sys.argv[2]}/respond", {"text": "from elsewhere"})
"""


def test_what_another_process_commits_reaches_an_open_stream(server: RunningServer) -> None:
    stream = server.events()
    server.append("GembaAsk", {"kind": "question", "role": "coach", "text": "?"})
    ref = stream.until("escalation_opened")["data"]["ref"]

    subprocess.run(
        [sys.executable, "-c", OTHER_PROCESS, server.workspace, ref],
        env=server.environment,
        check=True,
        timeout=60,
    )

    resolved = stream.until("escalation.resolved")
    assert (resolved["data"]["ref"], resolved["data"]["payload"]["resolution"]["text"]) == (ref, "from elsewhere")


@pytest.mark.chaos
def test_a_restart_of_postgresql_loses_nothing_and_ends_no_stream(
    durable_postgres: Cluster, start_server: StartServer
) -> None:
    server = start_server(durable_postgres.url())
    stream = server.events("?name=escalation_opened")
    asks = {"kind": "question", "role": "coach", "text": "?"}
    sent = [server.append("GembaAsk", asks)]
    seen = take(stream, 1)

    durable_postgres.stop("immediate")
    sent += [server.append("GembaAsk", asks) for _ in range(3)]
    assert server.request("GET", "/api/escalations").json["code"] == "database"
    assert server.request("GET", "/api/health").status == 200
    durable_postgres.start()
    sent.append(server.append("GembaAsk", asks))
    seen += take(stream, 4)

    assert [event["data"]["ref"] for event in seen] == sent
    answered = server.post(f"/api/escalations/{sent[-1]}/respond", {"text": "yes"})
    assert answered["state"] == "resolved"
    # And LISTEN is there again: what another process commits is heard.
    opened = server.events("?name=escalation.resolved")
    subprocess.run(
        [sys.executable, "-c", OTHER_PROCESS, server.workspace, sent[0]], env=server.environment, check=True, timeout=60
    )
    assert opened.next()["data"]["ref"] == sent[0]


def test_a_signal_file_that_is_gone_delays_and_loses_nothing(sqlite_server: RunningServer, home: Path) -> None:
    """Agents' own frames need no signal at all; replies reach their files."""
    stream = sqlite_server.events()
    for file in (sqlite_server.workspace / ".gemba" / "signal").iterdir():
        file.unlink()
    sqlite_server.append("GembaAsk", {"kind": "question", "role": "coach", "text": "?"})
    ref = stream.until("escalation_opened")["data"]["ref"]
    sqlite_server.post(f"/api/escalations/{ref}/respond", {"text": "yes"})

    reply = retry_until(lambda: (home / "replies" / f"{ref}.json").exists() and (home / "replies" / f"{ref}.json"))
    assert isinstance(reply, Path)
    assert json.loads(reply.read_bytes())["text"] == "yes"
