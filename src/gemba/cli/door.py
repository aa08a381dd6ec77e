"""The operator's way in: the same reads and actions, through the running server or, without one, on the store itself.

Commands name a path and get a document back; which door it was makes no difference to them.
"""

from __future__ import annotations

import http.client
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote, urlencode

import msgspec

from gemba import wire
from gemba.config import Workspace, home, open_workspace, read_settings
from gemba.errors import Conflict, GembaError, Invalid, NotFound, Refused, Unusable

_KINDS: dict[int, type[GembaError]] = {404: NotFound, 409: Conflict, 403: Refused, 422: Invalid, 503: Unusable}
_TIMEOUT_SECONDS = 30.0


class Door(Protocol):
    is_server: bool

    def get(self, path: str, **query: str | int | None) -> Any:
        """Read a document."""

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Carry out one action, once."""

    def follow(self, after: int, names: str, handle: Callable[[dict[str, Any]], None]) -> None:
        """Hand over what happens after an event, as it happens, until interrupted."""


@contextmanager
def open_door(folder: str | None) -> Iterator[Door]:
    """The running server of the workspace, or the workspace itself."""
    workspace = open_workspace(None if folder is None else Path(folder))
    path = server_socket(workspace)
    if path is not None:
        yield ServerDoor(path)
        return
    from gemba.cli.local import open_local  # loads the store, which a running server makes unnecessary

    with open_local(workspace, read_settings(workspace), home()) as door:
        yield door


def server_socket(workspace: Workspace) -> Path | None:
    """The socket of the server that runs for this workspace, if one answers."""
    try:
        told = msgspec.json.decode(workspace.server_file.read_bytes())
        path = Path(told["socket"])
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(_TIMEOUT_SECONDS)
            probe.connect(str(path))
        return path
    except (OSError, msgspec.MsgspecError, KeyError, TypeError):
        return None


class ServerDoor:
    """HTTP over the server's private socket, whose file mode is all the credential there is."""

    is_server = True

    def __init__(self, path: Path) -> None:
        self._path = path

    def get(self, path: str, **query: str | int | None) -> Any:
        given = {name: value for name, value in query.items() if value is not None}
        return self._exchange("GET", f"{path}?{urlencode(given)}" if given else path)

    def post(self, path: str, body: dict[str, Any]) -> Any:
        headers = {"Content-Type": "application/json", "X-GEMBA-Confirm": wire.new_event_id()}
        return self._exchange("POST", path, msgspec.json.encode(body), headers)

    def follow(self, after: int, names: str, handle: Callable[[dict[str, Any]], None]) -> None:
        with closing(_UnixConnection(self._path, timeout=None)) as connection:
            connection.request("GET", f"/api/events?{urlencode({'after': after, 'name': names})}")
            for line in connection.getresponse():
                if line.startswith(b"data: "):
                    handle(msgspec.json.decode(line[6:]))
        raise Unusable("the server ended", code="server_unreachable")

    def _exchange(self, method: str, target: str, body: bytes | None = None, headers: Any = None) -> Any:
        connection = _UnixConnection(self._path, timeout=_TIMEOUT_SECONDS)
        try:
            connection.request(method, target, body, headers or {})
            response = connection.getresponse()
            document = msgspec.json.decode(response.read())
        except (OSError, http.client.HTTPException, msgspec.MsgspecError) as error:
            raise Unusable(f"the server did not answer: {error}", code="server_unreachable") from None
        finally:
            connection.close()
        if response.status >= 400:
            known = {key: document.get(key) for key in ("pointer", "found", "allowed")}
            kind = _KINDS.get(response.status, Unusable)
            raise kind(document["detail"], code=document["code"], **known)
        return document


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path, timeout: float | None) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def find_id(door: Door, noun: str, given: str, **query: str | int) -> str:
    """The one id that is, begins or ends with what was given; an escalation's short name is the end of its id."""
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,128}", given):
        raise Invalid(f"{given!r} is not an id", code="invalid_id", found=given)
    plural = f"{noun}s"
    page = door.get(f"/api/{plural}", limit=500, **query)
    ids = [row["id"] for row in page[plural]]
    if given in ids:
        return given
    matching = [id for id in ids if id.endswith(given) or id.startswith(given)]
    if len(matching) > 1:
        raise Invalid(f"{given} fits {len(matching)} {plural}: give more of the id", code="ambiguous_id", found=given)
    return matching[0] if matching else given


def item_path(plural: str, id: str, verb: str = "") -> str:
    return f"/api/{plural}/{quote(id, safe='')}" + (f"/{verb}" if verb else "")
