"""A sealed request: what exactly an agent wants to run, where and as whom, and a hash that covers all of it.

Nothing is folded. A command that differs in case, a flag, a redirection, quotes or white space, or that would run
elsewhere, is another command and needs an approval of its own. Pure; the approvals keep seals and compare calls with
them, `chain` hashes its entries in the same way.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

# Told in one line each: what breaks a line or reorders it could pass for another line of what the operator reads.
_IN_ONE_LINE = ("cwd", "environment", "requester", "tool")
_UNLINED = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_UNKEPT = re.compile("[\x00\ud800-\udfff]")  # what no database keeps as it is


class Sealed(msgspec.Struct, frozen=True, kw_only=True):
    """A request for one command. Times are microseconds, as everywhere inside; `environment` holds names, no values."""

    id: str
    command: str
    cwd: str
    environment: tuple[str, ...] = ()
    requester: str
    tool: str
    risk: str
    rollback: Any = None
    verification: Any = None
    created_at: int
    expires_at: int
    set_id: str | None = None
    position: int | None = None  # in its set, from 1

    def is_expired(self, now: int) -> bool:
        return now >= self.expires_at


def seal_hash(sealed: Sealed) -> str:
    """Another one for any other value of any field."""
    return digest("seal", {name: getattr(sealed, name) for name in Sealed.__struct_fields__})


def matches(sealed: Sealed, command: str, cwd: str, requester: str, tool: str) -> bool:
    """Whether a call is the one that was sealed, character by character."""
    return not differences(sealed, command, cwd, requester, tool)


def differences(sealed: Sealed, command: str, cwd: str, requester: str, tool: str) -> list[str]:
    """The fields in which a call is not the one that was sealed, for the sentence that says why it needs its own."""
    called = {"command": command, "cwd": cwd, "requester": requester, "tool": tool}
    return [name for name, value in called.items() if getattr(sealed, name) != value]


def fault_of(sealed: Sealed) -> str | None:
    """Why a request cannot be sealed: it could not be kept to the letter, or nobody could use its grant."""
    if not sealed.command.strip():
        return "command is empty; allowed: what is to run"
    if not sealed.cwd.startswith("/"):
        return f"cwd is {sealed.cwd[:200]!a}; allowed: an absolute path"
    if sealed.expires_at <= sealed.created_at:
        return "expires_at is not after created_at; allowed: a later time"
    if (sealed.set_id is None) != (sealed.position is None):
        return "set_id and position go together; one of them is missing"
    for name in Sealed.__struct_fields__:
        for text in _texts(getattr(sealed, name)):
            if found := _UNKEPT.search(text):
                return f"{name} holds U+{ord(found[0]):04X}, which cannot be kept; allowed: text without it"
            if name in _IN_ONE_LINE and (found := _UNLINED.search(text)):
                return f"{name} holds U+{ord(found[0]):04X}, which is no part of a line; allowed: text without it"
    return None


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value, keys too."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str(text):
                yield text
            case dict(items):
                waiting += [*items, *items.values()]
            case list(items) | tuple(items):
                waiting += items


def digest(kind: str, fields: Mapping[str, Any]) -> str:
    """SHA-256 over named JSON values, the same whatever order an object's keys are in, and never the same for others.

    Surrogates are hashed as they are: two of them and the character that they could mean are different texts.
    """
    return hashlib.sha256(_canonical([f"gemba {kind} 1", fields]).encode("utf-8", "surrogatepass")).hexdigest()


def _canonical(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
