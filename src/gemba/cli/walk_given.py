"""What an operator gives for a decision at the terminal: words, a changed request, a time, a persona.

Each returns None when they think better of it. Called by the walk at the terminal.
"""

from __future__ import annotations

import json
import os
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import click
import msgspec

from gemba.cli.approval_found import asked_by
from gemba.cli.door import Door
from gemba.cli.keyboard import Keyboard
from gemba.cli.show import labelled
from gemba.cli.walk_found import is_approval
from gemba.cli.walk_screen import show_keys
from gemba.cli.walk_text import Item
from gemba.errors import Conflict
from gemba.text import showable

_WORK = ("filed", "closed", "item")
_MOST_PERSONAS = 9  # as many as there are keys


class Until(NamedTuple):
    """None: as long as is usual."""

    moment: str | None


def edited_by(keyboard: Keyboard, door: Door, item: Item, action: dict[str, Any]) -> dict[str, Any] | None:
    """As the operator wants it: a reply in words, or the request as JSON."""
    if item["source"]["kind"] == "escalation" and "value" not in action["body"]:
        text = keyboard.line("Answer: ", _words(door, item, action))
        return {"text": text} if text and text.strip() else None
    if os.environ.get("VISUAL") or os.environ.get("EDITOR"):
        with keyboard.resting():
            whole = json.dumps({name: action[name] for name in ("verb", "path", "body")}, indent=2)
            written = click.edit(whole + "\n", extension=".json")
    else:
        body = json.dumps(action["body"])
        line = keyboard.line(f"{showable(action['verb'])} {showable(action['path'])}\nBody: ", body)
        written = None if not line or line == body else f'{{"body": {line}}}'
    return None if written is None else _as_object(written)


def _words(door: Door, item: Item, action: dict[str, Any]) -> str:
    """What the line begins with: the proposed text, or the one command that would run."""
    if is_approval(action):
        asked = asked_by(door, item["source"]["ref"])
        return str(asked[0]["command"]) if len(asked) == 1 else ""
    return str(action["body"].get("text") or "")


def _as_object(text: str) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Conflict(f"this is no JSON: {error}; nothing was decided", code="malformed_json") from None
    if not isinstance(found, dict):
        raise Conflict("this is no JSON object; nothing was decided", code="malformed_json")
    return found


def reason_of(keyboard: Keyboard) -> str | None:
    why = keyboard.line("Why not? ")
    return why if why and why.strip() else None


def until_of(keyboard: Keyboard, item: Item) -> Until | None:
    is_work = item["source"]["kind"] in _WORK
    show_keys(f"until: h in an hour · t tomorrow{' · b the backlog' if is_work else ''} · any other key: not")
    until = {"h": None, "d": None, "t": _tomorrow(), "b": "backlog"}
    key = keyboard.key()
    return None if key not in until or (key == "b" and not is_work) else Until(until[key])


def _tomorrow() -> str:
    """At nine on the operator's own clock."""
    now = datetime.now().astimezone()
    return (now + timedelta(days=1)).replace(hour=9, minute=0, second=0, microsecond=0).isoformat()


def persona_of(keyboard: Keyboard, door: Door) -> str | None:
    """One of those that can propose something, by its number."""
    known = door.get("/api/personas")["personas"]
    able = [one for one in known if {"ask", "perspective"} & set(one["skills"])][:_MOST_PERSONAS]
    for number, one in enumerate(able, 1):
        click.echo("\n".join(labelled(f"{number}", f"{one['name']}, {one['role']}: {one['perspective']['statement']}")))
    show_keys("hand off to: the number · any other key: not")
    key = keyboard.key()
    if not (key.isascii() and key.isdecimal() and 1 <= int(key) <= len(able)):
        return None
    return str(able[int(key) - 1]["id"])
