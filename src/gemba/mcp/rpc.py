"""JSON-RPC as MCP speaks it over stdio: one message a line, read and written here. Pure, standard library only.

Of what a client may say before it calls tools, `answer` knows everything; a call of a tool, and the end of one, it
leaves to whoever runs them. Only a message that is no JSON-RPC, or asks for what is not there, gets a protocol error.
"""

from _json import make_scanner  # what `json` is made of, without the regular expressions that it loads

from gemba import __version__, wire
from gemba.mcp.tools import INSTRUCTIONS, TOOLS

TYPE_CHECKING = False  # a type checker takes it for true; `typing` would have to be loaded for it
if TYPE_CHECKING:
    from gemba.mcp.tool import Answer, Document

# The versions that begin with `initialize`, newest first. A client that knows a later one asks `server/discover` first
# and takes the refusal for what it is.
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602

Id = str | int | None


class Fault(Exception):
    """A message that gets a protocol error."""

    def __init__(self, code: int, message: str, id: Id = None) -> None:
        super().__init__(message)
        self.code = code
        self.id = id


class Message:
    """A request, or a notification where `id` is None."""

    def __init__(self, id: Id, method: str, params: "Document") -> None:
        self.id = id
        self.method = method
        self.params = params

    @property
    def progress_token(self) -> str | int | None:
        meta = self.params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        return token if isinstance(token, str | int) and not isinstance(token, bool) else None


def read(line: bytes) -> Message | None:
    """What a line says; None for an answer, since nothing is ever asked of a client. Raises Fault."""
    said = _decode(line)
    if not isinstance(said, dict):
        raise Fault(INVALID_REQUEST, "a message is one JSON object; of a batch each is sent as a line of its own")
    id = said.get("id")
    if isinstance(id, bool) or not isinstance(id, str | int | None) or ("id" in said and id is None):
        raise Fault(INVALID_REQUEST, "an id is a text or a whole number")
    method, params = said.get("method"), said.get("params", {})
    if method is None and ("result" in said or "error" in said):
        return None
    if said.get("jsonrpc") != "2.0" or not isinstance(method, str):
        raise Fault(INVALID_REQUEST, 'a message has "jsonrpc": "2.0" and a method', id)
    if not isinstance(params, dict):
        if id is None:
            return None  # a notification is not answered, whatever is wrong with it
        raise Fault(INVALID_PARAMS, "params is an object", id)
    return Message(id, method, params)


class _Json:
    """How the scanner of the standard library shall read."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float = float
    parse_int = int
    memo: "Document" = {}  # noqa: RUF012 - the scanner clears it after each use

    @staticmethod
    def parse_constant(name: str) -> None:
        raise ValueError(f"{name} is no JSON")


_scan = make_scanner(_Json())  # type: ignore[arg-type]  # typeshed wants a scanner here


def _decode(line: bytes) -> object:
    """What the scanner does not take is decoded once more by `json`, which can say what is wrong with it."""
    try:
        text = line.decode().strip(" \t\r")
        said, end = _scan(text, 0)
        if end == len(text):
            return said
    except (
        StopIteration,
        ValueError,
        RecursionError,
        SystemError,
    ):  # SystemError: it wants to raise an error of `json`
        pass
    import json

    try:
        return json.loads(line, parse_constant=_Json.parse_constant)
    except (ValueError, RecursionError) as error:
        raise Fault(PARSE_ERROR, f"this is not JSON: {str(error)[:200]}") from None


def answer(request: Message) -> bytes:
    """The answer to anything but a call of a tool. Raises Fault."""
    if request.method == "initialize":
        return result(request.id, _greeting(request.params.get("protocolVersion")))
    if request.method == "ping":
        return result(request.id, {})
    if request.method == "tools/list":
        return result(request.id, {"tools": [tool.listed() for tool in TOOLS]})
    raise Fault(METHOD_NOT_FOUND, f"there is no method {request.method[:200]}", request.id)


def _greeting(wished: object) -> "Document":
    return {
        "protocolVersion": wished if wished in VERSIONS else VERSIONS[0],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "gemba", "title": "Gemba", "version": __version__},
        "instructions": INSTRUCTIONS,
    }


def called(id: Id, answer: "Answer") -> bytes:
    """The result of a tool's call."""
    said: Document = {"content": [{"type": "text", "text": answer.text}], "isError": answer.is_error}
    return result(id, said if answer.facts is None else {**said, "structuredContent": answer.facts})


def result(id: Id, said: "Document") -> bytes:
    return _line({"jsonrpc": "2.0", "id": id, "result": said})


def fault(error: Fault) -> bytes:
    return _line({"jsonrpc": "2.0", "id": error.id, "error": {"code": error.code, "message": str(error)}})


def progress(token: str | int, seconds: float, message: str) -> bytes:
    params = {"progressToken": token, "progress": round(seconds, 3), "message": message}
    return _line({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})


def _line(message: "Document") -> bytes:
    return wire.encode_json(message).encode() + b"\n"
