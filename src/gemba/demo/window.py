"""The way into a demo agent's own dialog: the server tells it what was decided, as keys in a terminal would."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import time
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

_ENDS = ",".join(f"escalation.{end}" for end in ("resolved", "dismissed", "expired", "withdrawn"))
_RETRY_SECONDS = 1.0


def wait_for_decision(workspace: Path, event_id: str) -> dict[str, Any]:
    """The resolution of an escalation, as soon as there is one; given before or after we came to ask."""
    while True:
        # A server that is gone comes back, or it has ended and this agent is about to.
        with contextlib.suppress(OSError, http.client.HTTPException):
            told = json.loads((workspace / ".gemba" / "server.json").read_bytes())
            with closing(_UnixConnection(told["socket"])) as connection:
                connection.request("GET", f"/api/events?{urlencode({'after': 0, 'ref': event_id, 'name': _ENDS})}")
                for line in connection.getresponse():
                    if line.startswith(b"data: "):
                        resolution: dict[str, Any] = json.loads(line[6:])["payload"]["resolution"]
                        return resolution
        time.sleep(_RETRY_SECONDS)


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self._path)
