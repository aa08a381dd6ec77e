"""What an agent's client says to a hook, and the session that it says it for: kept in the log word for word.

Any bytes are taken. JSON goes into the frame as it was written; what is not JSON goes there as text. Nothing of the
environment is ever written but the ids that name the session. Standard library only: a client waits for every hook.

Called by `gemba.cli.bridge`.
"""

import json
import os
import sys

from gemba import wire
from gemba.wire import Refused

Payload = dict[str, object]

MAX_INPUT = 128 * 1024 * 1024  # bytes; a text of 64 MiB, which the gate still reads, has escapes in it
DEFAULT_AGENT_TYPE = "claude"

_DEEPEST = 128  # levels of JSON that every reader of the log can take
_LONGEST_STRING = 16_000  # characters that are left of each text, in a payload that is too long for a frame
_LARGEST = {"Infinity": sys.float_info.max, "-Infinity": -sys.float_info.max}
_EMPTY_PAYLOAD = b"{}}\n"  # the end of a frame that has none
# Inside JSON these can only be white space between its parts, or stand in a string, where an escape says the same.
_UNPRINTED = {ord("\n"): " ", ord("\r"): " ", ord("\t"): " "}
_UNPRINTED |= {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029)}


class HookInput:
    """The client's words: `payload` is the object they are, None when they are none; `text` is what was sent."""

    def __init__(self, data: bytes) -> None:
        self.text = data.decode("utf-8", "replace").strip(" \t\n\r\ufeff")
        self.payload = parse_object(self.text)

    def word(self, name: str) -> str:
        """A text of the payload, "" when there is none."""
        value = (self.payload or {}).get(name)
        return value if isinstance(value, str) else ""


def read_stdin() -> HookInput:
    if sys.stdin is None:
        return HookInput(b"")
    data = sys.stdin.buffer.read(MAX_INPUT + 1)
    if len(data) > MAX_INPUT:
        raise Refused(f"the client sent more than {MAX_INPUT} bytes")
    return HookInput(data)


def parse_object(text: str) -> Payload | None:
    """The JSON object in a text, None when it holds anything else or one that is nested beyond all use."""
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    return value if text.count("{") + text.count("[") <= _DEEPEST or not wire.is_deeper(value, _DEEPEST) else None


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


class HookSession:
    """The session that a hook runs in: Gemba's own id for it, else the client's."""

    def __init__(self, given: HookInput) -> None:
        self.home = wire.home()
        self.id = _session_id(given)
        self.agent_type = os.environ.get("GEMBA_AGENT_TYPE") or DEFAULT_AGENT_TYPE
        self.dispatch_id = wire.dispatch_of(self.home, self.id, os.environ.get("GEMBA_DISPATCH_ID", "").strip())
        try:
            self.cwd = os.getcwd()  # noqa: PTH109  pathlib is slow
        except OSError:  # the folder was deleted under the agent
            self.cwd = given.word("cwd")
        self.workspace = wire.find_workspace(self.cwd) or _workspace_of(given)

    def keep(self, event: str, given: HookInput) -> None:
        """Append the frame of an event, with the client's own JSON in it as it was written."""
        if given.payload is None:
            self._append(event, b"{}", given.text[: wire.MAX_TEXT])
            return
        try:
            self._append(event, _on_one_line(given.text))
        except Refused:
            self.append(event, _shortened(given.payload))

    def append(self, hook: str, payload: Payload, event_id: str | None = None) -> None:
        """Append a frame; Refused when it is too long for one. What is told under an id again counts once."""
        try:
            self._append(hook, json.dumps(payload, allow_nan=False).encode(), event_id=event_id)
        except ValueError:  # a number too large for a float is JSON, and stays a number
            finite = json.loads(json.dumps(payload), parse_constant=_LARGEST.get)
            self._append(hook, json.dumps(finite).encode())

    def _append(self, hook: str, payload: bytes, payload_raw: str | None = None, event_id: str | None = None) -> None:
        line = wire.encode_frame(
            hook,
            {},
            session_id=self.id,
            workspace=self.workspace,
            agent_type=self.agent_type,
            event_id=event_id,
            payload_raw=payload_raw or None,
        )
        if not payload_raw:
            line = line.removesuffix(_EMPTY_PAYLOAD) + payload + b"}\n"
        if len(line) > wire.MAX_LINE:
            raise Refused(f"the frame would take {len(line)} bytes; at most {wire.MAX_LINE} are taken")
        wire.append_frame(self.home, self.id, line)


def _workspace_of(given: HookInput) -> str:
    try:
        return wire.find_workspace(given.word("cwd"))
    except ValueError:  # a text that no path can be
        return ""


def _session_id(given: HookInput) -> str:
    for found in (os.environ.get("GEMBA_SESSION_ID", ""), given.word("session_id")):
        if found.strip():
            return wire.valid_unicode(found[: wire.MAX_SESSION_ID]).replace("\0", "\ufffd")
    raise Refused("the session has no name: neither GEMBA_SESSION_ID nor the client's session_id says it")


def _on_one_line(text: str) -> bytes:
    if not text.isascii() or any(char in text for char in "\n\r\t\x7f"):
        text = text.translate(_UNPRINTED)
    return text.encode()


def _shortened(payload: Payload) -> Payload:
    """The payload with its long texts cut; if that is still too much, its short texts alone."""
    short = _cut(payload)
    if isinstance(short, dict) and len(json.dumps(short)) < wire.MAX_LINE // 2:
        return short
    few = {key: value for key, value in payload.items() if isinstance(value, str) and len(key) + len(value) < 1000}
    return dict(list(few.items())[:100])


def _cut(value: object) -> object:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_STRING else value[:_LONGEST_STRING] + "…"
    if isinstance(value, list):
        return [_cut(item) for item in value]
    if isinstance(value, dict):
        return {key: _cut(item) for key, item in value.items()}
    return value
