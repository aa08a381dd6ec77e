"""What a demo agent hears from the server itself: decisions in its own dialog, where its dispatch stands, and
what of its work is ready.

A server that is gone comes back, or it has ended and this agent is about to: all of these wait for it.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from gemba import wire

_ENDS = ",".join(f"escalation.{end}" for end in ("resolved", "dismissed", "expired", "withdrawn"))
_RETRY_SECONDS = 1.0

Document = dict[str, Any]


class Server:
    """The server of a workspace, over its private socket."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace

    def wait_for_decision(self, event_id: str) -> Document:
        """The resolution of an escalation, as soon as there is one; given before or after we came to ask."""
        payload = self._event(lambda payload: True, ref=event_id, name=_ENDS)
        resolution: Document = payload["resolution"]
        return resolution

    def wait_for_handoff(self, dispatch_id: str, turn: int) -> Document:
        """What became of the handoff in which a turn of a dispatch ended."""
        ours = (dispatch_id, turn)
        return self._event(
            lambda payload: (payload["dispatch_id"], payload["turn"]) == ours, name="handoff.accepted,handoff.refused"
        )

    def dispatch(self, id: str) -> Document:
        return self._exchange("GET", f"/api/dispatches/{id}")

    def start_turn(self, dispatch_id: str, reason: str) -> int:
        """Start the next turn of a dispatch, as a runtime does; its number."""
        started: int = self._exchange("POST", f"/api/dispatches/{dispatch_id}/turn", {"reason": reason})["turn"]
        return started

    def open_requests(self, requester: str) -> set[str]:
        """The commands that somebody has asked for, and that are not decided or may run now."""
        found = self._exchange("GET", "/api/approvals?limit=100")["approvals"]
        return {
            one["command"]
            for one in found
            if one["requester"] == requester and (one["state"] == "pending" or one["grant_state"] == "unused")
        }

    def is_ready(self, item: str) -> bool:
        return bool(self._exchange("GET", f"/api/work-items/{item}")["ready"])

    def begin_item(self, item: str) -> None:
        """Say that a work item is worked on, as a runtime does."""
        self._exchange("PATCH", f"/api/work-items/{item}", {"state": "in_progress"})

    def _event(self, fits: Callable[[Document], bool], **query: str) -> Document:
        """The payload of the first event that fits, of all that there have ever been."""

        def read(connection: _UnixConnection) -> Document:
            connection.request("GET", f"/api/events?{urlencode({'after': 0, **query})}")
            for line in connection.getresponse():
                if line.startswith(b"data: ") and fits(payload := json.loads(line[6:])["payload"]):
                    return dict(payload)
            raise http.client.IncompleteRead(b"")

        return self._ask(read)

    def _exchange(self, method: str, path: str, body: Document | None = None) -> Document:
        headers = {"Content-Type": "application/json", "X-GEMBA-Confirm": wire.new_event_id()}

        def read(connection: _UnixConnection) -> Document:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            answer = json.loads(response.read())
            if response.status >= 400:
                raise RuntimeError(f"{method} {path}: {answer.get('detail')}")
            return dict(answer)

        return self._ask(read)

    def _ask(self, read: Callable[[_UnixConnection], Document]) -> Document:
        while True:
            with contextlib.suppress(OSError, http.client.HTTPException):
                told = json.loads((self._workspace / ".gemba" / "server.json").read_bytes())
                with closing(_UnixConnection(told["socket"])) as connection:
                    return read(connection)
            time.sleep(_RETRY_SECONDS)


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self._path)
