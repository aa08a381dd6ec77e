"""Our hooks in the text of a Claude Code settings file: put in, brought up to date, taken out. Pure.

The text is edited, not written anew: every byte that is not ours stays where it is, so nothing is lost of the order,
spacing, numbers or escapes of others. Putting in twice changes nothing, and taking out gives back the very text that
was there before. No record is kept for that; white space is the record: a list or object that we had to make ends in
white space before its bracket and goes away with what is ours, one that was there and empty ends right behind what is
ours and stays.

Called by `gemba install-bridge`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from gemba.cli.json_text import (
    Container,
    Malformed,
    Part,
    after_space,
    decode,
    kind_of,
    read_container,
    root_of,
    without,
)
from gemba.sessions.agents.claude_hooks import EVENTS, Hook, is_ours


def put_in(text: str | None, wanted: Mapping[str, Hook]) -> str:
    """The settings with exactly these hooks of ours; None stands for a file that is not there."""
    if text is None:
        (event, hook), *_ = wanted.items()
        style = _Style("\n", "  ", inline=False, tight=False)
        text = _wrapped("{", _hooks_member(event, hook, style), "}", style, "") + "\n"
    else:
        _check(text)
    for event in [event for event in _events(text) if event not in wanted]:
        text = _without_ours(text, event) or "{}"
    for event, hook in wanted.items():
        text = _with_hook(text, event, hook)
    return text


def take_out(text: str | None) -> str | None:
    """The settings without hooks of ours; None when there was nothing else, in a file that we had made."""
    if text is None:
        return None
    _check(text)
    left: str | None = text
    for event in _events(text):
        if left is not None:
            left = _without_ours(left, event)
    return left


def our_events(text: str | None) -> list[str]:
    """The events at which these settings run a hook of ours."""
    if text is None:
        return []
    _check(text)
    return [event for event in _events(text) if _places(text, event)]


def are_switched_off(text: str | None) -> bool:
    """Whether these settings let no hook run at all."""
    return text is not None and decode(text).get("disableAllHooks") is True


# -- reading -----------------------------------------------------------------------------------------------------------


def _check(text: str) -> None:
    document = decode(text)
    if not isinstance(document, dict):
        raise Malformed(text, after_space(text, 0), f"settings are an object, found {kind_of(document)}")
    root = root_of(text)
    number = root.last("hooks")
    if number is None:
        return
    hooks = root.parts[number]
    if not isinstance(hooks.value, dict):
        raise Malformed(text, hooks.value_start, f"hooks must be an object, found {kind_of(hooks.value)}")
    for part in read_container(text, hooks.value_start).parts:
        if part.key in EVENTS and not isinstance(part.value, list):
            raise Malformed(text, part.value_start, f"hooks.{part.key} must be a list, found {kind_of(part.value)}")


def _hooks(text: str) -> Container | None:
    root = root_of(text)
    number = root.last("hooks")
    return None if number is None else read_container(text, root.parts[number].value_start)


def _groups(text: str, event: str) -> Container | None:
    """The list of an event: each of its elements is a matcher with its hooks."""
    hooks = _hooks(text)
    number = None if hooks is None else hooks.last(event)
    if hooks is None or number is None or not isinstance(hooks.parts[number].value, list):
        return None
    return read_container(text, hooks.parts[number].value_start)


def _inner(text: str, group: Part) -> Container | None:
    """The hooks of one matcher."""
    if not isinstance(group.value, dict) or not isinstance(group.value.get("hooks"), list):
        return None
    members = read_container(text, group.value_start)
    number = members.last("hooks")
    return None if number is None else read_container(text, members.parts[number].value_start)


def _events(text: str) -> list[str]:
    hooks = _hooks(text)
    return [] if hooks is None else list(dict.fromkeys(part.key for part in hooks.parts))


def _places(text: str, event: str) -> list[tuple[Container, int, Container, int]]:
    """Each hook of ours at an event: its matcher's list and number there, its own list and number there."""
    groups = _groups(text, event)
    found = []
    for number, group in enumerate(groups.parts if groups else ()):
        inner = _inner(text, group)
        for place, hook in enumerate(inner.parts if inner else ()):
            if groups and inner and is_ours(hook.value):
                found.append((groups, number, inner, place))
    return found


# -- writing -----------------------------------------------------------------------------------------------------------


class _Style(NamedTuple):
    """How the file is written: on one line, or with this line end and so much more indentation a level."""

    newline: str
    unit: str
    inline: bool
    tight: bool


# Makes the text of something at an indentation, or on one line where that is None.
_Render = Callable[[str | None], str]


def _style(text: str) -> _Style:
    root = root_of(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    if not root.parts:
        return _Style(newline, "  ", inline=False, tight=False)
    first = root.parts[0]
    lead = text[root.open + 1 : first.start]
    tight = "\n" not in lead and text[first.value_start - 1] == ":"
    return _Style(newline, lead.rpartition("\n")[2] or "  ", inline="\n" not in lead, tight=tight)


def _with_hook(text: str, event: str, hook: Hook) -> str:
    places = _places(text, event)
    while len(places) > 1:
        text = _dropped(text, event, places[-1]) or text
        places = _places(text, event)
    if places:
        *_, inner, place = places[0]
        return _updated(text, inner.parts[place], hook)
    style = _style(text)
    groups, hooks = _groups(text, event), _hooks(text)
    if groups is not None:
        return _appended(text, groups, _group(hook, style), style)
    if hooks is not None:
        return _appended(text, hooks, _event_member(event, hook, style), style)
    return _appended(text, root_of(text), _hooks_member(event, hook, style), style)


def _updated(text: str, part: Part, hook: Hook) -> str:
    """The hook with this command and timeout, and whatever else its owner has written into it."""
    wanted: dict[str, Any] = {"type": "command", **hook._asdict()}
    if any(key not in part.value for key in wanted):
        return text[: part.start] + json.dumps({**part.value, **wanted}, ensure_ascii=False) + text[part.end :]
    members = read_container(text, part.value_start)
    for member in reversed(members.parts):
        if member.key in wanted and member.value != wanted[member.key]:
            value = json.dumps(wanted[member.key], ensure_ascii=False)
            text = text[: member.value_start] + value + text[member.end :]
    return text


def _appended(text: str, container: Container, render: _Render, style: _Style) -> str:
    if not container.parts:
        indent = None if style.inline else _line_indent(text, container.open) + style.unit
        return text[: container.close] + render(indent) + text[container.close :]
    first, last = container.parts[0], container.parts[-1]
    _, newline, indent = text[container.open + 1 : first.start].rpartition("\n")
    gap = "," + (style.newline + indent if newline else "" if style.tight else " ")
    return text[: last.end] + gap + render(indent if newline else None) + text[last.end :]


def _line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _wrapped(opening: str, render: _Render, closing: str, style: _Style, indent: str | None) -> str:
    """A container that we make: it has white space before its end, by which it is known again."""
    if indent is None:
        return f"{opening}{render(None)} {closing}"
    inner = indent + style.unit
    return f"{opening}{style.newline}{inner}{render(inner)}{style.newline}{indent}{closing}"


def _group(hook: Hook, style: _Style) -> _Render:
    document = {"hooks": [{"type": "command", **hook._asdict()}]}

    def render(indent: str | None) -> str:
        if indent is None:
            return json.dumps(document, ensure_ascii=False, separators=(",", ":") if style.tight else None)
        lines = json.dumps(document, ensure_ascii=False, indent=style.unit)
        return lines.replace("\n", style.newline + indent)

    return render


def _event_member(event: str, hook: Hook, style: _Style) -> _Render:
    return lambda indent: _key(event, style) + _wrapped("[", _group(hook, style), "]", style, indent)


def _hooks_member(event: str, hook: Hook, style: _Style) -> _Render:
    return lambda indent: _key("hooks", style) + _wrapped("{", _event_member(event, hook, style), "}", style, indent)


def _key(name: str, style: _Style) -> str:
    return f'"{name}":' if style.tight else f'"{name}": '


# -- removing ----------------------------------------------------------------------------------------------------------


def _without_ours(text: str, event: str) -> str | None:
    while places := _places(text, event):
        left = _dropped(text, event, places[-1])
        if left is None:
            return None
        text = left
    return text


def _dropped(text: str, event: str, place: tuple[Container, int, Container, int]) -> str | None:
    """Less one hook, and less whatever was made to hold it; None when that is everything."""
    groups, number, inner, hook = place
    if len(inner.parts) > 1:
        return without(text, inner, hook)
    left = without(text, groups, number)
    if left is not None:
        return left
    hooks, root = _hooks(text), root_of(text)
    for container, key in ((hooks, event), (root, "hooks")):
        held = container.last(key) if container else None
        if container is not None and held is not None:
            left = without(text, container, held)
            if left is not None:
                return left
    return None
