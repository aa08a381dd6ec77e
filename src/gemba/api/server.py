"""One server on loopback TCP and a private unix socket, from start to a clean end.

It holds the workspace's lock while it runs, says where it listens in `server.json`, and ends within moments of
SIGINT, SIGTERM or the end of its terminal, open streams included.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import os
import resource
import signal
import socket
import ssl
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import uvicorn
from h11._writers import ChunkedWriter
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

import gemba
from gemba import clock
from gemba.api.asgi import make_asgi
from gemba.api.security import SHORT_WAY
from gemba.api.server_file import ServerFile, announced
from gemba.app import App
from gemba.config import Workspace
from gemba.errors import Unusable
from gemba.operators import read_token
from gemba.store.hub import Hub
from gemba.threads import THREADS

_MOST_FILES = 65_536
_GRACE_SECONDS = 2
_LONGEST_TEMPORARY = 64  # bytes of a folder's path that leave room for a socket's name in it
_STALLED_SECONDS = 30.0
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_DEFAULT_PORTS = {"http": 80, "https": 443}


class Bind(msgspec.Struct, frozen=True):
    """Where to listen. Beyond loopback it takes TLS files, or the word that plain HTTP is meant."""

    host: str
    port: int
    port_is_wish: bool = False
    tls_cert: Path | None = None
    tls_key: Path | None = None
    allow_plain: bool = False
    hosts: tuple[str, ...] = ()

    @property
    def scheme(self) -> str:
        return "https" if self.tls_cert else "http"

    @property
    def is_loopback(self) -> bool:
        return self.host == "localhost" or (self._address is not None and self._address.is_loopback)

    @property
    def is_any(self) -> bool:
        """Every address of this machine, loopback included."""
        return self._address is not None and self._address.is_unspecified

    @property
    def _address(self) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
        try:
            return ipaddress.ip_address(self.host)
        except ValueError:
            return None

    def url(self, port: int) -> str:
        """Where a browser on this machine finds the page."""
        host = (*self.hosts, _LOOPBACK[0])[0] if self.is_any else self.host
        return f"{self.scheme}://{_in_url(host)}:{port}"

    def origins(self, port: int) -> frozenset[str]:
        """The origins that are our own page's; their hosts are those we answer for."""
        names = {self.host, *self.hosts, *(_LOOPBACK if self.is_loopback or self.is_any else ())}
        # Browsers leave the scheme's own port out.
        ports = [f":{port}", *([""] if port == _DEFAULT_PORTS[self.scheme] else [])]
        return frozenset(f"{self.scheme}://{_in_url(name)}{port}" for name in names for port in ports)

    def check(self) -> None:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise Unusable("TLS needs both a certificate and a key", code="tls_incomplete")
        if self.tls_cert is not None:
            try:
                # A key with a passphrase is refused here, where it would otherwise be asked for on the terminal.
                ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.tls_cert, self.tls_key, lambda: "")
            except OSError as error:
                raise Unusable(f"the TLS files cannot be used: {error}", code="tls_unusable") from None
        if not self.is_loopback and self.tls_cert is None and not self.allow_plain:
            raise Unusable(
                f"{self.host} can be reached from other machines, and plain HTTP would show them the token: "
                "give --tls-cert and --tls-key, or say --insecure-bind",
                code="bind_refused",
                found=self.host,
                allowed="127.0.0.1, ::1, localhost, or another address with TLS",
            )


class Protocol(H11Protocol):
    """One connection. A client that has stopped reading is cut off; otherwise it would be waited for for ever."""

    stalled_seconds = _STALLED_SECONDS
    _cut_off: asyncio.TimerHandle | None = None

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        whole_way = self.app

        async def app(scope: Any, receive: Any, send: Any) -> None:
            await whole_way({**scope, SHORT_WAY: self.write_part}, receive, send)

        self.app = app

    async def write_part(self, part: bytes) -> None:
        """The next part of a body whose length nobody knows, as the protocol frames it."""
        cycle: RequestResponseCycle = self.cycle
        if self.flow.write_paused and not cycle.disconnected:
            await self.flow.drain()
        if not cycle.disconnected:
            in_chunks = type(self.conn._writer) is ChunkedWriter  # else an HTTP/1.0 client, which reads to the end
            self.transport.write(b"%x\r\n%b\r\n" % (len(part), part) if in_chunks else part)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._cut_off = self.loop.call_later(self.stalled_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        self._spare()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._spare()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """At the server's end neither an answer that is not read nor a request that is not whole is waited for."""
        cycle: RequestResponseCycle | None = self.cycle
        if self.flow.write_paused or (cycle and cycle.more_body and not cycle.response_complete):
            self.transport.abort()
        else:
            super().shutdown()

    def _spare(self) -> None:
        if self._cut_off is not None:
            self._cut_off.cancel()
            self._cut_off = None


class Server(uvicorn.Server):
    """uvicorn on TCP and on a unix socket, which has no TLS. It waits for `stop` instead of looking for signals.

    Its own handling of signals raises again what it caught, and so ends the process before it has cleaned up.
    """

    def __init__(self, config: uvicorn.Config, unix: socket.socket, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._unix = unix
        self._started = started
        self._stop = asyncio.Event()

    def stop(self) -> None:
        self.should_exit = True
        self._stop.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        loop = asyncio.get_running_loop()
        self.servers.append(await loop.create_unix_server(self._connected, sock=self._unix))
        self._started()

    async def main_loop(self) -> None:
        await self._stop.wait()

    def _connected(self) -> Protocol:
        return Protocol(self.config, self.server_state, self.lifespan.state)


def serve(app: App, bind: Bind, ready: Callable[[ServerFile, str], None]) -> None:
    """Run until a signal ends it. `ready` is called once with where it listens and the token.

    Whoever calls it holds the workspace's lock since before it opened the App: a program that is newer than the server
    that runs must not migrate its database.
    """
    bind.check()
    workspace = app.workspace
    with contextlib.ExitStack() as stack:
        token = read_token(workspace.token_file)
        tcp = stack.enter_context(_listen_tcp(bind, workspace))
        unix_path = stack.enter_context(_socket_place(workspace))
        unix = stack.enter_context(_listen_unix(unix_path))
        port = tcp.getsockname()[1]
        told = ServerFile(
            pid=os.getpid(),
            url=bind.url(port),
            socket=str(unix_path),
            started_at=clock.rfc3339(clock.now()),
            version=gemba.__version__,
        )

        _allow_many_files()

        async def main() -> None:
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, "gemba"))
            with contextlib.ExitStack() as to_the_end:
                async with app.running(alone=True) as hub:
                    asgi = make_asgi(app, hub, token=token, origins=bind.origins(port))
                    server = Server(configure(asgi, bind), unix, lambda: ready(told, token))
                    to_the_end.enter_context(_stopped_by_signals(server, hub))
                    await server.serve(sockets=[tcp])

        with announced(workspace, told):
            asyncio.run(main())


def _allow_many_files() -> None:
    """A stream is an open file. The usual limit of 1,024 is there for programs that call select(), which we do not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def configure(asgi: ASGIApp, bind: Bind) -> uvicorn.Config:
    return uvicorn.Config(
        asgi,
        http=Protocol,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        ws="none",
        timeout_graceful_shutdown=_GRACE_SECONDS,
        ssl_certfile=bind.tls_cert,
        ssl_keyfile=bind.tls_key,
    )


@contextmanager
def _stopped_by_signals(server: Server, hub: Hub) -> Iterator[None]:
    """Until the block ends; then the signals go again to whoever had them before, without a moment in between."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        hub.close()
        server.stop()

    # A terminal that was closed ends it too, unless nohup has said that it shall not.
    hang_up = () if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else (signal.SIGHUP,)
    # Not by the loop's own handlers: they leave the default behind, which ends the process where it stands.
    before = {
        number: signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop))
        for number in (signal.SIGINT, signal.SIGTERM, *hang_up)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _listen_tcp(bind: Bind, workspace: Workspace) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in bind.host else socket.AF_INET
    # Only of a socket that says it is TCP does asyncio take the delay off: without it an answer waits for the client's
    # delayed acknowledgement of its own headers.
    with contextlib.closing(socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        wishes = [*last_port(workspace), bind.port, 0] if bind.port_is_wish else [bind.port]
        for port in wishes:
            try:
                listener.bind((bind.host, port))
                break
            except OSError as error:
                if error.errno != errno.EADDRINUSE or port == wishes[-1]:
                    raise Unusable(
                        f"cannot listen on {bind.host} port {port}: {os.strerror(error.errno or 0).lower()}; "
                        "choose another with --port (0 takes a free one)",
                        code="port_unusable",
                        found=port,
                    ) from None
        if bind.port_is_wish:
            workspace.port_file.write_text(f"{listener.getsockname()[1]}\n")
        listener.listen()
        yield listener


def last_port(workspace: Workspace) -> list[int]:
    """The one that the last server got, if it is known."""
    try:
        port = int(workspace.port_file.read_text())
    except (OSError, ValueError):
        return []
    return [port] if 0 < port < 65536 else []


@contextmanager
def _socket_place(workspace: Workspace) -> Iterator[Path]:
    """`.gemba/gemba.sock`, or a private temporary folder where that path would be too long for a socket."""
    if workspace.socket_fits:
        yield workspace.folder / "gemba.sock"
    else:
        usual = tempfile.gettempdir()
        short = usual if len(os.fsencode(usual)) <= _LONGEST_TEMPORARY else "/tmp"  # noqa: S108 - below it is private
        with tempfile.TemporaryDirectory(prefix="gemba-", dir=short) as folder:
            yield Path(folder) / "gemba.sock"


@contextmanager
def _listen_unix(path: Path) -> Iterator[socket.socket]:
    """A socket that only its owner can open, from the moment it exists. Whoever holds the lock may replace it."""
    with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as listener:
        path.unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            listener.bind(str(path))
            listener.listen()
        except OSError as error:
            raise Unusable(f"{path}: {error.strerror or error}", code="socket_unusable") from None
        finally:
            os.umask(before)
        try:
            yield listener
        finally:
            path.unlink(missing_ok=True)


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
