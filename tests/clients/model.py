"""A model that says what the test wrote: on loopback, in the dialect of whichever client asks (`dialects`).

Each conversation has a script, found by a word in what was said before the model first spoke. How often it has spoken
since tells which step comes next, so a request that is sent twice is answered twice alike. A request that no script
foresees is refused, and fails the test, as does one to anywhere else that the client sends through its proxy.
"""

import json
import socket
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import groupby
from typing import Any

from tests.clients.dialects import Dialect, Turn, chat, generate, messages, responses
from tests.clients.script import Step, Told

DIALECTS: tuple[Dialect, ...] = (messages, responses, generate, chat)


class Model:
    """The scripts, what was asked of the model, and what went wrong."""

    def __init__(self, listener: socket.socket) -> None:
        self.faults: list[str] = []
        self._scripts: dict[str, Sequence[Step | Told]] = {}
        self._told: dict[str, dict[int, str]] = {}
        self._server = ThreadingHTTPServer(listener.getsockname(), _handler(self), bind_and_activate=False)
        self._server.socket.close()
        self._server.socket = listener
        self._thread = threading.Thread(target=lambda: self._server.serve_forever(0.02), name="model")
        self._thread.start()
        self.url = "http://{}:{}".format(*listener.getsockname())

    def play(self, word: str, *steps: Step | Told) -> None:
        """The script of the conversation that begins with this word in it; of two such words the first one counts."""
        self._scripts[word] = steps

    def told(self, word: str) -> list[str]:
        """What the client said before each step of a conversation: prompts, outcomes of tools, words of hooks."""
        return [text for _, text in sorted(self._told.get(word, {}).items())]

    def next_step(self, turns: Sequence[Turn]) -> Step:
        """The step that comes next in a conversation; LookupError when nobody wrote one."""
        runs = [
            Turn(by_model, "\n".join(turn.text for turn in run))
            for by_model, run in groupby(turns, key=lambda turn: turn.by_model)
        ]
        word = next((word for word in self._scripts if word in runs[0].text), "")
        spoken = sum(run.by_model for run in runs)
        self._told.setdefault(word, {})[spoken] = "" if runs[-1].by_model else runs[-1].text
        step = self._scripts[word][spoken]
        return step("\n".join(run.text for run in runs if not run.by_model)) if callable(step) else step

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _dialect_of(address: str) -> Dialect:
    """The dialect of a path on this host; one elsewhere, as a proxy is asked for it, begins with its scheme."""
    path = address.partition("?")[0]
    for dialect in DIALECTS:
        if path.startswith("/") and path.endswith(dialect.ADDRESS):
            return dialect
    raise LookupError("no dialect has this address")


def _handler(model: Model) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
            try:
                dialect = _dialect_of(self.path)
                step = model.next_step(dialect.turns(request))
            except LookupError as error:
                self.refuse(f"nobody wrote an answer ({error!r}) to {self.path}: {json.dumps(request)[-4000:]}")
                return
            self.reply(200, "text/event-stream", dialect.answer(step, request).encode())

        def do_HEAD(self) -> None:  # is the model there?
            self.reply(200, "text/plain", b"")

        def refuse(self, fault: str) -> None:
            model.faults.append(fault)
            error = {"type": "error", "error": {"type": "invalid_request_error", "message": "not in the script"}}
            self.reply(400, "application/json", json.dumps(error).encode())

        def do_GET(self) -> None:
            self.refuse(f"GET {self.path}")

        def do_CONNECT(self) -> None:
            self.refuse(f"CONNECT {self.path}")

        def reply(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing: what matters is kept."""

    return Handler
