"""Sections, their revisions and changes as lines for a terminal. What agents wrote is shown, never obeyed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from gemba.cli.show import age, body_lines, headline, labelled, width
from gemba.text import one_line

_MARKS = {"added": "+", "removed": "-"}  # any other change: ~
_SHORTEST = 20  # columns of a value


def section_lines(section: dict[str, Any], most: int | None = None) -> list[str]:
    """A section with its value; of a long value the first lines."""
    facts = [f"revision {section['revision']}" if section["revision"] else "nothing known yet"]
    if section["revision"]:
        facts += [f"by {section['changed_by']}", f"{age(section['changed_at'])} ago"]
        facts += _handoff(section["source"])
    facts += ["strict"] if section["strict"] else []
    facts += [] if section["declared"] else ["no longer declared in .gemba/context.toml"]
    lines = headline("", None, section["name"], facts)
    for label in ("paths", "writers"):
        if section[label]:
            lines += labelled(f"{label}:", ", ".join(section[label]))
    lines += warning_lines(section["warnings"])
    if section["value"]:
        value = value_lines(section["value"])
        lines += value[:most]
        if most is not None and len(value) > most:
            lines += body_lines(f"… {len(value) - most} more lines: gemba context show {section['name']}")
    if section["value"] is None:
        lines += body_lines(f"{section['length']:,} characters: gemba context show {section['name']}")
    return lines


def value_lines(value: Any) -> list[str]:
    return body_lines(json.dumps(value, ensure_ascii=False, indent=2)) if value != {} else body_lines("{}")


def revision_lines(revision: dict[str, Any]) -> list[str]:
    facts = [f"{age(revision['at'])} ago", f"by {revision['by']}"]
    facts += _handoff(revision["source"])
    facts += [f"undoes revision {revision['undoes']}"] if revision["undoes"] is not None else []
    lines = headline("revision", "cyan", str(revision["revision"]), facts)
    return [*lines, *change_lines(revision), *warning_lines(revision["warnings"])]


def change_lines(told: dict[str, Any]) -> list[str]:
    """A line for each change: + what is new, - what is gone, ~ what was there in another way."""
    lines = [line for change in told["changes"] for line in labelled(_place(change), _what(change), whole=False)]
    return lines + (body_lines(f"… and {told['unlisted']:,} more changes") if told["unlisted"] else [])


def warning_lines(warnings: Iterable[dict[str, Any]]) -> list[str]:
    return [line for one in warnings for line in labelled("!", f"{one['code']} {one['pointer']}: {one['message']}")]


def _handoff(source: str) -> list[str]:
    """Which handoff it came with, by the end of its id, as `gemba handoff show` takes it."""
    return [] if source == "operator" else [f"from handoff {source[-8:]}"]


def _place(change: dict[str, Any]) -> str:
    return f"{_MARKS.get(change['kind'], '~')} {one_line(change['pointer'] or '/', 60)}"


def _what(change: dict[str, Any]) -> str:
    if change.get("shortened") and "before" not in change and "after" not in change:
        return "too long to be listed"
    room = max(_SHORTEST, (width() - len(_place(change)) - 10) // 2)
    before: Any = change.get("before")
    after: Any = change.get("after")
    match change["kind"]:
        case "added":
            return _short(after, 2 * room)
        case "removed":
            return _short(before, 2 * room)
        case "united":
            gone, come = _without(before, after), _without(after, before)
            sides = [f"{mark} {_short(items, room)}" for mark, items in (("-", gone), ("+", come)) if items]
            if sides:
                return " ".join(sides)
    return f"{_short(before, room)} → {_short(after, room)}"


def _without(items: list[Any], others: list[Any]) -> list[Any]:
    """The items of one list that the other has not."""
    known = {json.dumps(item) for item in others}
    return [item for item in items if json.dumps(item) not in known]


def _short(value: Any, room: int) -> str:
    return one_line(json.dumps(value, ensure_ascii=False), room)
