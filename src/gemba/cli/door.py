"""The operator's way in: the same reads and actions, through the running server or, without one, on the store itself.

Commands name a path and get a document back; which door it was makes no difference to them.
"""

from __future__ import annotations

import http.client
import os
import re
import socket
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote, urlencode

import msgspec

from gemba import wire
from gemba.config import Workspace, home, open_workspace
from gemba.errors import Conflict, GembaError, Invalid, NotFound, Unusable
from gemba.operators import OPERATOR, token_of
from gemba.text import storable

_KINDS: dict[int, type[GembaError]] = {
    400: Invalid,
    403: Invalid,
    404: NotFound,
    409: Conflict,
    422: Invalid,
    424: Conflict,
    503: Unusable,
}
_TIMEOUT_SECONDS = 30.0
_PAGE = 500


class Door(Protocol):
    is_server: bool

    def get(self, path: str, **query: str | int | None) -> Any:
        """Read a document."""

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Carry out one action, once."""

    def patch(self, path: str, body: dict[str, Any]) -> Any:
        """Change what is named of a thing, once."""

    def events(self, after: int, names: str, patience: float | None = None) -> Generator[dict[str, Any], None, None]:
        """What happens after an event, as it happens; ends when the door is gone, or nothing came for so many seconds.
        Whoever reads it closes it."""


@contextmanager
def open_door(folder: str | None) -> Iterator[Door]:
    """The running server of the workspace, or the workspace itself."""
    workspace = open_workspace(None if folder is None else Path(folder))
    name, token = acting_operator(workspace)
    path = server_socket(workspace)
    if path is not None:
        yield ServerDoor(path, token)
        return
    # They load the store, which a running server makes unnecessary.
    from gemba.cli.local import open_local
    from gemba.escalations.policy_check import checked_settings

    with open_local(workspace, checked_settings(workspace), home(), name) as door:
        yield door


def acting_operator(workspace: Workspace) -> tuple[str, str | None]:
    """As whom commands act: GEMBA_OPERATOR with the token, or the operator that needs none here."""
    name = os.environ.get("GEMBA_OPERATOR") or OPERATOR
    return name, None if name == OPERATOR else token_of(workspace.operators_folder, name)


def server_socket(workspace: Workspace) -> Path | None:
    """The socket of the server that runs for this workspace, if one answers."""
    try:
        told = msgspec.json.decode(workspace.server_file.read_bytes())
        path = Path(told["socket"])
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(_TIMEOUT_SECONDS)
            probe.connect(str(path))
        return path
    except (OSError, ValueError, KeyError, TypeError):
        return None


class ServerDoor:
    """HTTP over the server's private socket, whose file mode is all the credential there is; a token says who it is."""

    is_server = True

    def __init__(self, path: Path, token: str | None = None) -> None:
        self._path = path
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    def get(self, path: str, **query: str | int | None) -> Any:
        given = query_string(query)
        return self._exchange("GET", f"{path}?{given}" if given else path)

    def post(self, path: str, body: dict[str, Any]) -> Any:
        return self._send("POST", path, body)

    def patch(self, path: str, body: dict[str, Any]) -> Any:
        return self._send("PATCH", path, body)

    def events(self, after: int, names: str, patience: float | None = None) -> Generator[dict[str, Any], None, None]:
        connection = _UnixConnection(self._path, timeout=patience)
        try:
            target = f"/api/events?{urlencode({'after': after, 'name': names})}"
            connection.request("GET", target, headers=self._headers)
            response = connection.getresponse()
            if response.status >= 400:
                _raise(response.status, msgspec.json.decode(response.read()))
            for line in response:
                if line.startswith(b"data: "):
                    yield msgspec.json.decode(line[6:])
        except (OSError, http.client.HTTPException):
            return
        finally:
            connection.close()

    def _send(self, method: str, path: str, body: dict[str, Any]) -> Any:
        headers = {"Content-Type": "application/json", "X-GEMBA-Confirm": wire.new_event_id()}
        return self._exchange(method, path, encode_body(body), headers)

    def _exchange(self, method: str, target: str, body: bytes | None = None, headers: Any = None) -> Any:
        connection = _UnixConnection(self._path, timeout=_TIMEOUT_SECONDS)
        try:
            connection.request(method, target, body, {**self._headers, **(headers or {})})
            response = connection.getresponse()
            document = msgspec.json.decode(response.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Unusable(f"the server did not answer: {error}", code="server_unreachable") from None
        finally:
            connection.close()
        if response.status >= 400:
            _raise(response.status, document)
        return document


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path, timeout: float | None) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def _raise(status: int, document: dict[str, Any]) -> None:
    """The server's problem as the error that it was there."""
    known = {key: document.get(key) for key in ("pointer", "found", "allowed")}
    raise _KINDS.get(status, Unusable)(document["detail"], code=document["code"], **known)


def query_string(query: Mapping[str, str | int | None]) -> str:
    return urlencode({name: storable(str(value)) for name, value in query.items() if value is not None})


def encode_body(body: dict[str, Any]) -> bytes:
    """A body of what the command line gave, which need not be Unicode."""
    return msgspec.json.encode(_storable(body))


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {key: _storable(each) for key, each in value.items()}
    return [_storable(each) for each in value] if isinstance(value, list) else value


_FEWEST = 4  # characters of an id that name one


def find_id(door: Door, noun: str, given: str, **query: str) -> str:
    """The one id that is, begins or ends with what was given; an escalation's short name is the end of its id.

    Those that the query wants go first: only if none of them fits, all others may.
    """
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,128}", given):
        raise Invalid(f"{given!r} is not an id", code="invalid_id", found=given)
    if len(given) == len(wire.new_event_id()):  # a whole one
        return given
    plural = plural_of(noun)
    for wanted in (query, {}) if query else (query,):
        found = _only([row["id"] for row in read_all(door, plural, **wanted)], plural, given)
        if found is not None:
            return found
    raise _no_such(noun, given)


def find_named(door: Door, noun: str, given: str) -> str:
    """The same for ids that may hold anything, of a list that can be asked for a name."""
    plural = plural_of(noun)
    try:
        whole: str = door.get(item_path(plural, given))["id"]
    except NotFound:
        whole = ""
    named = whole or _only([row["id"] for row in door.get(f"/api/{plural}", named=given)[plural]], plural, given)
    if named is None:
        raise _no_such(noun, given)
    return named


def _only(ids: list[str], plural: str, given: str) -> str | None:
    """The one of these that is meant; None where none is."""
    if given in ids:
        return given
    matching = [id for id in ids if id.endswith(given) or id.startswith(given)]
    if matching and len(given) < _FEWEST:  # a slip of the finger must not name the only one that there is
        message = f"{given} is too little of an id; allowed: at least {_FEWEST} characters of it"
        raise Invalid(message, code="invalid_id", found=given)
    if len(matching) > 1:
        raise Invalid(f"{given} fits {len(matching)} {plural}: give more of the id", code="ambiguous_id", found=given)
    return matching[0] if matching else None


def _no_such(noun: str, given: str) -> NotFound:
    return NotFound(f"no {noun} has an id that begins or ends with {given}", code="not_found", found=given)


def act(folder: str | None, noun: str, given: str, verb: str, body: dict[str, Any], **query: str) -> dict[str, Any]:
    """Do one thing to one item, found by the end of its id: what it is afterwards."""
    with open_door(folder) as door:
        id = find_id(door, noun, given, **query)
        done: dict[str, Any] = door.post(item_path(plural_of(noun), id, verb), body)
    return done


def plural_of(noun: str) -> str:
    """A noun as its list is called."""
    if noun.endswith("ch"):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def read_all(door: Door, plural: str, **query: str) -> Iterator[dict[str, Any]]:
    """Every row of a list, page after page."""
    cursor: str | None = None
    while True:
        page = door.get(f"/api/{plural}", limit=_PAGE, cursor=cursor, **query)
        yield from page[plural]
        cursor = page["next_cursor"]
        if cursor is None:
            return


def item_path(plural: str, id: str, verb: str = "") -> str:
    return f"/api/{plural}/{quote(id, safe='')}" + (f"/{verb}" if verb else "")
