"""A line of a session log, read as a frame. Any bytes in; a frame or the reason why not out, never an exception."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec

from gemba import typed, wire
from gemba.text import storable


class Frame(msgspec.Struct, frozen=True):
    """One JSON object a line, as every writer of the wire format makes it. Unknown fields are left alone."""

    session_id: str
    hook: str
    event_id: str
    ts: str = ""
    workspace: str | None = None
    agent_type: str | None = None
    payload: dict[str, Any] | None = None
    payload_raw: str | None = None


class Unreadable(msgspec.Struct, frozen=True):
    """A line that is no frame, and why."""

    reason: str


_decoder = typed.decoder(Frame)


def read_frame(line: bytes) -> Frame | Unreadable:
    try:
        frame = _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # Clients cut text inside a surrogate pair and write numbers out of range; the fast decoder takes neither.
        return _read_leniently(line)
    return _check(frame)


def _read_leniently(line: bytes) -> Frame | Unreadable:
    try:
        document = _storable(json.loads(line.decode("utf-8", "replace")))
        return _check(typed.convert(document, Frame))
    except RecursionError:
        return Unreadable("nested too deeply")
    except (ValueError, msgspec.ValidationError) as error:
        return Unreadable(str(error))


def _check(frame: Frame) -> Frame | Unreadable:
    if not wire.valid_event_id(frame.event_id):
        return Unreadable("event_id must be 1 to 128 letters, digits, '.', '_' or '-'")
    for name in ("session_id", "hook"):
        value = getattr(frame, name)
        if not value.strip() or len(value) > wire.MAX_SESSION_ID or value != storable(value):
            return Unreadable(f"{name} must be a text of 1 to {wire.MAX_SESSION_ID} characters")
    return frame


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [_storable(item) for item in value]
    if isinstance(value, dict):
        return {storable(key): _storable(item) for key, item in value.items()}
    return value
