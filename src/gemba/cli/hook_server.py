"""The workspace's server, as a client's hook talks to it: over the private socket, with the standard library alone.

Every call says clearly that nobody answered (`Unanswered`) or that the server said no (`Declined`); what that means is
the caller's to decide. Nothing is waited for any longer than the hook has time, nor once its client is gone.

Called by the hooks that ask for approvals, and by the gate at the end of a turn.
"""

import json
import select
import time
from _collections_abc import Callable  # `collections.abc` is the same, at the price of `collections`

from gemba import wire
from gemba.cli.hook_input import Payload
from gemba.wire import Refused

TYPE_CHECKING = False  # a type checker takes it for true; `typing` would have to be loaded for it
if TYPE_CHECKING:
    import http.client
    import socket

_EXCHANGE_SECONDS = 30.0
_PAUSE_SECONDS = 0.5  # between two attempts to reach a server that is gone, as one is that starts anew
_LARGEST_ANSWER = 4 * 1024 * 1024
_SERVER_FILE_BYTES = 65_536
_STDOUT = 1


class Unanswered(Exception):
    """There is no server, or it does not answer; `remedy` is what a person can do."""

    def __init__(self, what: str, remedy: str = "start gemba serve") -> None:
        super().__init__(what)
        self.remedy = remedy


class Declined(Exception):
    """The server answered that it will not; the message is its reason."""


class HookServer:
    """The server of a workspace, for as long as a hook may wait. All that knows of HTTP."""

    def __init__(self, workspace: str, until: float) -> None:
        self._workspace = workspace
        self._until = until

    def get(self, target: str) -> Payload:
        return self._exchange("GET", target)

    def post(self, target: str, body: Payload) -> Payload:
        return self._exchange("POST", target, body)

    def wait(self, id: str, names: str, look: Callable[[], Payload | None]) -> Payload | None:
        """What `look` finds, asked at once and after each event of these names about `id`; None if nothing in time.

        A server may go and come back meanwhile.
        """
        while self._left() > 0:
            require_client()
            try:
                if found := self._follow(f"/api/events?ref={segment(id)}&name={names}", look):
                    return found
            except (OSError, ValueError, Unanswered, Declined):  # it is gone, or not yet there
                time.sleep(max(0.0, min(_PAUSE_SECONDS, self._left())))
        return None

    def _follow(self, target: str, look: Callable[[], Payload | None]) -> Payload | None:
        import http.client

        connection = self._connect(self._left())
        try:
            socket = connection.sock  # kept: a server that closes behind its answer takes it from the connection
            connection.request("GET", target)
            response = connection.getresponse()
            if response.status >= 400:
                raise Declined(_detail(response.read(_LARGEST_ANSWER)))
            line = b": open"
            while line:
                # Looked at whatever the line says: more may have come with it, and lie in a buffer.
                if found := look():
                    return found
                _listen(socket, self._left())
                line = response.readline(_LARGEST_ANSWER)
        except http.client.HTTPException as error:
            raise OSError(str(error)) from None
        finally:
            connection.close()
        return None

    def _exchange(self, method: str, target: str, body: Payload | None = None) -> Payload:
        import http.client

        headers = {}
        if body is not None:
            headers = {"Content-Type": "application/json", "X-GEMBA-Confirm": wire.new_event_id()}
        try:
            connection = self._connect(min(self._left(), _EXCHANGE_SECONDS))
            try:
                data = None if body is None else wire.encode_json(body).encode()
                connection.request(method, target, data, headers)
                response = connection.getresponse()
                data = response.read(_LARGEST_ANSWER)
            finally:
                connection.close()
        except (OSError, http.client.HTTPException) as error:
            raise Unanswered(f"the server does not answer ({error})") from None
        if response.status >= 400:
            raise Declined(_detail(data))
        found = json.loads(data)
        if not isinstance(found, dict):
            raise Declined("the server's answer is not understood")
        return found

    def _connect(self, seconds: float) -> "http.client.HTTPConnection":
        """A connection to the server that runs now: one that starts anew may have another socket."""
        import http.client
        import socket

        if not self._workspace:
            raise Unanswered("there is no workspace here", "make one with gemba init")
        try:
            told = json.loads(wire.read_file(f"{self._workspace}/.gemba/server.json", _SERVER_FILE_BYTES))
            path = told["socket"]
        except (OSError, ValueError, TypeError, KeyError):
            raise Unanswered(f"no server runs for {self._workspace}") from None
        connection = http.client.HTTPConnection("localhost", timeout=seconds)
        connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.sock.settimeout(max(0.01, seconds))
            connection.sock.connect(path)
        except BaseException:
            connection.close()
            raise
        return connection

    def _left(self) -> float:
        return self._until - time.monotonic()


def segment(id: object) -> str:
    """An id in a path, as the server gave it; what is none is not sent."""
    if not isinstance(id, str) or not wire.valid_event_id(id):
        raise Declined("the server's answer names nothing that can be asked for")
    return id


def require_client() -> None:
    """Refused once nobody reads what we would say: a client that was killed leaves its hooks behind."""
    waiting = select.poll()
    waiting.register(_STDOUT, 0)  # told without being asked for: that the other end is closed
    if waiting.poll(0):
        raise Refused("the client is gone, so nobody would hear the answer")


def _listen(server: "socket.socket", seconds: float) -> None:
    """Until the server says more; TimeoutError when it does not in time."""
    waiting = select.poll()
    waiting.register(server, select.POLLIN)
    waiting.register(_STDOUT, 0)
    if not waiting.poll(max(0.0, seconds * 1000)):
        raise TimeoutError("the server said nothing")
    require_client()


def _detail(data: bytes) -> str:
    try:
        return f"the server refused it: {json.loads(data)['detail']}"
    except (ValueError, TypeError, KeyError):
        return "the server refused it and gave no reason"
