"""One server on loopback TCP and a private unix socket, from start to a clean end.

It holds the workspace's lock while it runs, says where it listens in `server.json`, and ends within moments of
SIGINT or SIGTERM, open streams included.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import ipaddress
import os
import signal
import socket
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import msgspec
import uvicorn

import gemba
from gemba import clock
from gemba.api.asgi import make_asgi
from gemba.api.security import read_token
from gemba.app import App
from gemba.config import Workspace
from gemba.errors import Unusable
from gemba.store.hub import Hub

_THREADS = 32
_GRACE_SECONDS = 2


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
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def check(self) -> None:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise Unusable("TLS needs both a certificate and a key", code="tls_incomplete")
        if not self.is_loopback and self.tls_cert is None and not self.allow_plain:
            raise Unusable(
                f"{self.host} can be reached from other machines, and plain HTTP would show them the token: "
                "give --tls-cert and --tls-key, or say --insecure-bind",
                code="bind_refused",
                found=self.host,
                allowed="127.0.0.1, ::1, localhost, or another address with TLS",
            )


class ServerFile(msgspec.Struct, frozen=True):
    """What a running server says of itself, for the commands of the same workspace. Never the token."""

    pid: int
    url: str
    socket: str
    started_at: str
    version: str


class Server(uvicorn.Server):
    """uvicorn without its signal handling, which re-raises what it caught and so ends the process early."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def serve(app: App, bind: Bind, ready: Callable[[ServerFile, str], None]) -> None:
    """Run until a signal ends it. `ready` is called once with where it listens and the token."""
    bind.check()
    workspace = app.workspace
    with lock(workspace), contextlib.ExitStack() as stack:
        token = read_token(workspace.token_file)
        tcp = stack.enter_context(_listen_tcp(bind))
        unix_path = stack.enter_context(_socket_place(workspace))
        unix = stack.enter_context(_listen_unix(unix_path))
        port = tcp.getsockname()[1]
        told = ServerFile(
            pid=os.getpid(),
            url=f"{bind.scheme}://{_in_url(bind.host)}:{port}",
            socket=str(unix_path),
            started_at=clock.rfc3339(clock.now()),
            version=gemba.__version__,
        )
        origins = _origins(bind, port)

        async def main() -> None:
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS, "gemba"))
            async with app.running() as hub:
                await _serve(app, hub, bind, [tcp, unix], token, origins, lambda: _tell(workspace, told, token, ready))

        try:
            asyncio.run(main())
        finally:
            workspace.server_file.unlink(missing_ok=True)


async def _serve(
    app: App,
    hub: Hub,
    bind: Bind,
    sockets: list[socket.socket],
    token: str,
    origins: frozenset[str],
    started: Callable[[], None],
) -> None:
    config = uvicorn.Config(
        make_asgi(app, hub, token=token, origins=origins),
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
    server = Server(config)

    def stop() -> None:
        hub.close()
        server.should_exit = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    loop.call_soon(started)
    await server.serve(sockets=sockets)


@contextmanager
def lock(workspace: Workspace) -> Iterator[None]:
    """One server a workspace; the kernel gives the lock back however the holder ends."""
    try:
        file = os.open(workspace.lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise Unusable(f"{workspace.lock_file}: {error.strerror}", code="workspace_unwritable") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        running = read_server_file(workspace)
        where = f" at {running.url} (process {running.pid})" if running else ""
        raise Unusable(
            f"a server of this workspace runs already{where}; `gemba open` shows it", code="already_running"
        ) from None
    try:
        yield
    finally:
        os.close(file)


def read_server_file(workspace: Workspace) -> ServerFile | None:
    try:
        return msgspec.json.decode(workspace.server_file.read_bytes(), type=ServerFile)
    except (OSError, msgspec.MsgspecError):
        return None


def _tell(workspace: Workspace, told: ServerFile, token: str, ready: Callable[[ServerFile, str], None]) -> None:
    partial = workspace.server_file.with_suffix(".partial")
    partial.write_bytes(msgspec.json.encode(told))
    partial.replace(workspace.server_file)
    ready(told, token)


@contextmanager
def _listen_tcp(bind: Bind) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in bind.host else socket.AF_INET
    with contextlib.closing(socket.socket(family, socket.SOCK_STREAM)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((bind.host, bind.port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE or not bind.port_is_wish:
                raise Unusable(
                    f"cannot listen on {bind.host} port {bind.port}: {os.strerror(error.errno or 0).lower()}; "
                    "choose another with --port (0 takes a free one)",
                    code="port_unusable",
                    found=bind.port,
                ) from None
            listener.bind((bind.host, 0))
        yield listener


@contextmanager
def _socket_place(workspace: Workspace) -> Iterator[Path]:
    """`.gemba/gemba.sock`, or a private temporary folder where that path would be too long for a socket."""
    if workspace.socket_fits:
        yield workspace.folder / "gemba.sock"
    else:
        with tempfile.TemporaryDirectory(prefix="gemba-") as folder:
            yield Path(folder) / "gemba.sock"


@contextmanager
def _listen_unix(path: Path) -> Iterator[socket.socket]:
    """A socket that only its owner can open, from the moment it exists. Whoever holds the lock may replace it."""
    with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as listener:
        path.unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            listener.bind(str(path))
        except OSError as error:
            raise Unusable(f"{path}: {error.strerror}", code="socket_unusable") from None
        finally:
            os.umask(before)
        try:
            yield listener
        finally:
            path.unlink(missing_ok=True)


def _origins(bind: Bind, port: int) -> frozenset[str]:
    names = {bind.host, *bind.hosts}
    if bind.is_loopback:
        names |= {"127.0.0.1", "localhost", "::1"}
    return frozenset(f"{bind.scheme}://{_in_url(name)}:{port}" for name in names)


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
