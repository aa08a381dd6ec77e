"""A model that says what the test wrote: the Messages API on loopback, streamed as an agent's client expects it.

Each conversation has a script, found by a word in its first message. The number of the model's own messages in a
request tells which step comes next, so a request that is sent twice is answered twice alike. A request that no script
foresees is refused, and fails the test, as does one to anywhere else that the client sends through its proxy.
"""

import json
import secrets
import socket
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Block = dict[str, Any]


class Say(NamedTuple):
    """The model writes this, and its turn is over."""

    text: str


class Use(NamedTuple):
    """The model calls a tool."""

    tool: str
    input: dict[str, Any]


class Together(NamedTuple):
    """The model calls several tools at once."""

    calls: tuple[Use, ...]


Step = Say | Use | Together


class Model:
    """The scripts, what was asked of the model, and what went wrong."""

    def __init__(self, listener: socket.socket) -> None:
        self.faults: list[str] = []
        self._scripts: dict[str, Sequence[Step]] = {}
        self._told: dict[str, dict[int, str]] = {}
        self._server = ThreadingHTTPServer(listener.getsockname(), _handler(self), bind_and_activate=False)
        self._server.socket.close()
        self._server.socket = listener
        self._thread = threading.Thread(target=lambda: self._server.serve_forever(0.02), name="model")
        self._thread.start()
        self.url = "http://{}:{}".format(*listener.getsockname())

    def play(self, word: str, *steps: Step) -> None:
        """The script of the conversation whose first message has this word."""
        self._scripts[word] = steps

    def told(self, word: str) -> list[str]:
        """What the client said before each step of a conversation: prompts, outcomes of tools, words of hooks."""
        return [text for _, text in sorted(self._told.get(word, {}).items())]

    def answer(self, messages: list[Block]) -> Step:
        """The step that comes next in a conversation; LookupError when nobody wrote one."""
        first = _text(messages[0])
        word = next((word for word in self._scripts if word in first), "")
        spoken = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
        since = messages[spoken[-1] + 1 :] if spoken else messages
        self._told.setdefault(word, {})[len(spoken)] = "\n".join(map(_text, since))
        return self._scripts[word][len(spoken)]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _text(message: Block) -> str:
    """All that is said in a message, and in the outcomes of tools in it."""
    content = message["content"]
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text") or (_text(part) if "content" in part else "") for part in content)


def _handler(model: Model) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
            try:
                step = model.answer(request["messages"])
            except LookupError as error:
                self.refuse(f"nobody wrote an answer ({error!r}) to {self.path}: {json.dumps(request)[-4000:]}")
                return
            stream = "".join(
                f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in _events(step, request["model"])
            )
            self.reply(200, "text/event-stream", stream.encode())

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


def _events(step: Step, model: str) -> Iterator[dict[str, Any]]:
    """One message as a stream: it begins, holds its blocks one after another, and ends with the reason why."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": _new_id("msg"), "type": "message", "role": "assistant", "model": model, "content": []}
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}}
    for index, part in enumerate(step.calls if isinstance(step, Together) else (step,)):
        block, delta = _block(part)
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    reason = "end_turn" if isinstance(step, Say) else "tool_use"
    yield {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}
    yield {"type": "message_stop"}


def _block(part: Say | Use) -> tuple[Block, Block]:
    """A block as it begins, and all that is in it."""
    if isinstance(part, Say):
        return {"type": "text", "text": ""}, {"type": "text_delta", "text": part.text}
    call = {"type": "tool_use", "id": _new_id("toolu"), "name": part.tool, "input": {}}
    return call, {"type": "input_json_delta", "partial_json": json.dumps(part.input)}


def _new_id(kind: str) -> str:
    """Never the same twice: a client takes messages of one id for parts of one message."""
    return f"{kind}_{secrets.token_hex(8)}"
