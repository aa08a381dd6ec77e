"""A pipe on loopback for clients that cannot be given headers: what comes in goes to a server, with headers added.

A request that names the pipe as its Host or Origin names the server behind it; any other name goes through as it is,
and is the server's to judge. Each request has a connection of its own.
"""

import http.client
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from tests.clients.island import Island

_OF_THE_CONNECTION = {"connection", "transfer-encoding", "keep-alive"}


class TokenPipe:
    """Open until it is closed; `url` is the server's as its clients see it."""

    def __init__(self, island: Island, url: str, added: dict[str, str]) -> None:
        listener = island.do(lambda: socket.create_server(("127.0.0.1", 0)))
        self.address = "{}:{}".format(*listener.getsockname())
        self.url = f"http://{self.address}"
        self._island = island
        self._server_address = urlsplit(url).netloc
        self._added = added
        self._server = ThreadingHTTPServer(listener.getsockname(), _handler(self), bind_and_activate=False)
        self._server.socket.close()
        self._server.socket = listener
        self._server.daemon_threads = True  # a stream that a client left open ends with its server
        self._thread = threading.Thread(target=lambda: self._server.serve_forever(0.02), name="token pipe")
        self._thread.start()

    def connect(self) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection(self._server_address)
        self._island.do(connection.connect)
        return connection

    def headers(self, given: list[tuple[str, str]]) -> dict[str, str]:
        kept = {name: value for name, value in given if name.lower() not in _OF_THE_CONNECTION}
        return {name: value.replace(self.address, self._server_address) for name, value in kept.items()} | self._added

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(pipe: TokenPipe) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            connection = pipe.connect()
            connection.request(self.command, self.path, body or None, pipe.headers(self.headers.items()))
            response = connection.getresponse()
            self.send_response_only(response.status)
            for name, value in response.headers.items():
                if name.lower() not in _OF_THE_CONNECTION:
                    self.send_header(name, value)
            self.end_headers()
            try:
                while data := response.read1(1 << 16):
                    self.wfile.write(data)
            except OSError:  # the client has gone
                pass
            finally:
                connection.close()

        do_GET = do_POST = do_DELETE = _pass_on  # noqa: N815  the names that the library looks for

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler
