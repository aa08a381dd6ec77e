"""The keeper's ears: a poll over its files, and the socket on which it takes requests, a line of JSON each.

No client can hold the keeper up: nothing here blocks, a line is bounded, and so is the number of clients. Standard
library only; called by `keeper.py` alone.
"""

import _socket  # what `socket` is made of, without its enumerations
import os
import select
from _collections_abc import Callable  # `collections.abc` is the same, at the price of `collections`

from gemba import wire
from gemba.sessions.keeper.decode import decode_json

TYPE_CHECKING = False  # a type checker takes it for true; loading `typing` takes as long as a bare interpreter's start
if TYPE_CHECKING:
    from typing import Any

    Handle = Callable[[dict[str, Any], "Client"], None]

_LONGEST_REQUEST = 4 * 1024 * 1024
_MOST_CLIENTS = 64
_LONGEST_WAIT = 86_400.0  # what poll takes has an end

IN, OUT = select.POLLIN, select.POLLOUT


class Watch:
    """Calls whoever waits for a file to become ready."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._calls: dict[int, Callable[[], None]] = {}

    def add(self, fd: int, events: int, call: Callable[[], None]) -> None:
        self._poll.register(fd, events)
        self._calls[fd] = call

    def drop(self, fd: int) -> None:
        if self._calls.pop(fd, None):
            self._poll.unregister(fd)

    def wait(self, seconds: float | None) -> None:
        for fd, _ in self._poll.poll(None if seconds is None else int(min(seconds, _LONGEST_WAIT) * 1000) + 1):
            if call := self._calls.get(fd):  # an earlier call may have dropped it
                call()


class Client:
    """One connection: requests come in, each gets an answer."""

    def __init__(self, connection: _socket.socket, watch: Watch, handle: "Handle"):
        self._connection, self._watch, self._handle = connection, watch, handle
        self._heard = b""
        self.is_open = True
        connection.setblocking(False)
        watch.add(connection.fileno(), IN, self._read)

    def answer(self, **answer: object) -> None:
        if self.is_open:
            try:
                self._connection.send(wire.encode_json(answer).encode() + b"\n")
            except OSError:  # gone, or it does not read
                self.close()

    def close(self) -> None:
        if self.is_open:
            self.is_open = False
            self._watch.drop(self._connection.fileno())
            self._connection.close()

    def _read(self) -> None:
        try:
            data = self._connection.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        *lines, self._heard = (self._heard + data).split(b"\n")
        for line in lines:
            self._take(line)
        if not data or len(self._heard) > _LONGEST_REQUEST:
            self.close()

    def _take(self, line: bytes) -> None:
        try:
            request = decode_json(line)
        except ValueError:
            request = None
        if isinstance(request, dict):
            self._handle(request, self)
        else:
            self.answer(ok=False, error="a request is a JSON object on one line")


class Listener:
    """The socket itself, in the working folder, since the path of a socket has to be short."""

    def __init__(self, path: str, watch: Watch) -> None:
        self._path, self._watch = path, watch
        self._clients: list[Client] = []
        self._socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        self._socket.setblocking(False)
        self._socket.bind(path)
        self._socket.listen(_MOST_CLIENTS)

    def serve(self, handle: "Handle") -> None:
        self._watch.add(self._socket.fileno(), IN, lambda: self._accept(handle))

    def close(self) -> None:
        self._watch.drop(self._socket.fileno())
        self._socket.close()
        os.unlink(self._path)
        for client in self._clients:
            client.close()

    def _accept(self, handle: "Handle") -> None:
        try:
            fd, _ = self._socket._accept()  # type: ignore[attr-defined]  # what `socket.accept` calls
        except OSError:
            return
        connection = _socket.socket(fileno=fd)
        self._clients = [client for client in self._clients if client.is_open]
        client = Client(connection, self._watch, handle)
        if len(self._clients) < _MOST_CLIENTS:
            self._clients.append(client)
        else:
            client.answer(ok=False, error=f"more than {_MOST_CLIENTS} clients at once")
            client.close()
