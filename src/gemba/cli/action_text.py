"""A suggested request in words: what it does to what, for a line of a consult and for a card of a walk.

What there are no words for is shown as the request that it is.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

import msgspec

from gemba.text import one_line

Action = dict[str, Any]

_ITEM = re.compile(r"/api/work-items/([^/]+)")
_TASK = re.compile(r"/api/teams/([^/]+)/tasks/([^/]+)/(retry|accept|skip)")
_TASKS = {
    "retry": "{} is done once more",
    "accept": "{} is taken as it is",
    "skip": "{} is left out",
}
_MEMORY = re.compile(r"/api/memories/[^/]+/(accept|reject)")
_TITLE = 80


def effect_of(action: Action) -> str:
    """What it will do."""
    found = _ITEM.fullmatch(action["path"])
    if action["verb"] == "PATCH" and found is not None and (said := _fields(action["body"])):
        return f"{unquote(found[1])} becomes {', '.join(said)}"
    return _made(action) or request_of(action)


def done_by(action: Action, title: str | None = None) -> str:
    """What it did; `title` is that of the item that it changed, where that is known."""
    found = _ITEM.fullmatch(action["path"])
    named = f" ({one_line(title, _TITLE)})" if title else ""
    if action["verb"] == "PATCH" and found is not None and (said := _fields(action["body"])):
        return f"{unquote(found[1])}{named} is now {', '.join(said)}"
    return _made(action) or request_of(action)


def request_of(action: Action) -> str:
    body = msgspec.json.encode(action["body"]).decode() if action["body"] else ""
    return f"{action['verb']} {action['path']} {body}".rstrip()


def _fields(body: Action) -> list[str]:
    """What an item becomes, each behind "is"; nothing where a field has no words."""
    said: list[str] = []
    for name, value in body.items():
        words = _field(name, value)
        if words is None:
            return []
        said += [words] if words else []
    return said


def _field(name: str, value: Any) -> str | None:
    match name, value:
        case "version", _:
            return ""
        case "user_order", int():
            return f"number {value} of your order"
        case "user_order", None:
            return "without a place in your order"
        case "ratified", bool():
            return "agreed to" if value else "not agreed to"
        case "priority", int():
            return f"priority {value}"
        case "state", str():
            return value.replace("_", " ") if value != "backlog" else "backlog, to be taken up some day"
        case "close_reason", str():
            return f"closed with “{one_line(value, _TITLE)}”"
        case "retro", "done":
            return "looked back at"
        case "estimated_tokens", int():
            return f"estimated at {value:,} tokens"
        case "parent", str():
            return f"a part of {value}"
        case "title", str():
            return f"called “{one_line(value, _TITLE)}”"
    return None


def _made(action: Action) -> str | None:
    path, body = action["path"], action["body"]
    if action["verb"] != "POST":
        return None
    if path == "/api/work-items" and isinstance(item := body.get("item"), dict):
        return f"a new {item.get('kind') or 'task'}: {one_line(str(item.get('title', '')), _TITLE)}"
    if path == "/api/teams" and isinstance(plan := body.get("plan"), dict):
        tasks, roles = len(plan.get("tasks") or ()), len(plan.get("roles") or ())
        return f"a team run is planned: {tasks} tasks, {roles} roles; nothing begins yet"
    if path == "/api/sessions" and body.get("agent"):
        return f"a new session of {body['agent']}: {one_line(str(body.get('title') or body.get('task') or ''), _TITLE)}"
    if found := _TASK.fullmatch(path):
        return _TASKS[found[3]].format(unquote(found[2]))
    if found := _MEMORY.fullmatch(path):
        if found[1] == "reject":
            return "agents are not told of it"
        return "agents are told of it in every turn" if body.get("class") == "anchor" else "agents are told of it"
    return None
