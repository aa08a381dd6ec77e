"""Work items for a terminal, and how a command finds the one that is meant."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from gemba.cli.door import Door, item_path, open_door
from gemba.cli.show import age, body_lines, headline, labelled, local_time
from gemba.errors import Invalid, NotFound
from gemba.text import letters_in_line, one_line

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

PLURAL = "work-items"
_COLOURS = {"in_progress": "cyan", "review": "yellow", "done": "green", "cancelled": "bright_black"}
_LABELS = 3  # in a list
_FEWEST = 3  # characters of an id that name an item


def find_item(door: Door, given: str) -> str:
    """The id of the item that has, or whose id begins or ends with, what was given."""
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,128}", given):
        raise Invalid(f"{given!r} is not an id", code="invalid_id", found=given)
    found: list[str] = [row["id"] for row in door.get(f"/api/{PLURAL}", id=given, limit=500)["items"]]
    if given in found:
        return given
    if not found:
        raise NotFound(f"no work item has an id that begins or ends with {given}", code="not_found", found=given)
    if len(given) < _FEWEST:  # a slip of the finger must not name the only one that there is
        raise Invalid(
            f"{given} is too little of an id; allowed: at least {_FEWEST} characters of it", code="invalid_id"
        )
    if len(found) > 1:
        raise Invalid(f"{given} fits {len(found)} work items: give more of the id", code="ambiguous_id", found=given)
    return found[0]


def post(folder: str | None, given: str, verb: str, body: dict[str, Any]) -> dict[str, Any]:
    """Do one thing to one item: what it is afterwards."""
    with open_door(folder) as door:
        done: dict[str, Any] = door.post(item_path(PLURAL, find_item(door, given), verb), body)
    return done


def patch(folder: str | None, given: str, changes: dict[str, Any]) -> dict[str, Any]:
    with open_door(folder) as door:
        done: dict[str, Any] = door.patch(item_path(PLURAL, find_item(door, given)), changes)
    return done


def item_ids(**query: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Completes a parameter with whole ids. Never an error."""

    def complete(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        try:
            with open_door(ctx.find_root().params.get("workspace")) as door:
                rows = door.get(f"/api/{PLURAL}", limit=50, id=incomplete or None, **query)["items"]
        except Exception:  # noqa: BLE001 - whatever is wrong, a shell's prompt is no place to say it
            return []
        return [CompletionItem(row["id"], help=letters_in_line(row["title"], 60)) for row in rows]

    return complete


def lines_of(item: dict[str, Any]) -> list[str]:
    """One item in a list."""
    facts = [
        item["state"],
        item["kind"],
        f"P{item['priority']}",
        None if item["user_order"] is None else f"#{item['user_order']}",
        item["assignee"],
        item["parent"] and f"in {item['parent']}",
        *item["labels"][:_LABELS],
        _waits(item),
        item["claim"] and f"claimed by {item['claim']['owner']}",
        f"{age(item['created_at'])} old",
    ]
    mark = "ready" if item["ready"] else ""
    name = headline(mark, "green" if mark else _COLOURS.get(item["state"]), item["id"], facts)
    return [*name, *(click.style(line, bold=True) for line in body_lines(item["title"], 1))]


def _waits(item: dict[str, Any]) -> str | None:
    if item["blockers"]:
        return f"blocked by {item['blockers']}"
    return "held above" if item["held"] else None


def details_of(item: dict[str, Any]) -> list[str]:
    """What a list leaves out."""
    lines = body_lines(item["description"])
    if item["acceptance"]:
        lines += labelled("accepted when:", item["acceptance"])
    for name in ("targets", "concepts", "labels"):
        if item[name] and (name != "labels" or len(item[name]) > _LABELS):  # the list has the first ones
            lines += labelled(f"{name}:", ", ".join(item[name]))
    for name in ("estimated_tokens", "repository"):
        if item[name] is not None:
            lines += labelled(f"{name.replace('_', ' ')}:", str(item[name]))
    for relation in item["relations"]:
        lines += labelled(_said(relation, item["id"]), f"{relation['title']} ({relation['state']})", whole=False)
    lines += labelled("made:", f"{local_time(item['created_at'])} by {item['created_by']}")
    lines += labelled(
        "changed:", f"{local_time(item['updated_at'])} by {item['updated_by']}, version {item['version']}"
    )
    if item["closed_at"]:
        why = f": {item['close_reason']}" if item["close_reason"] else ""
        lines += labelled("closed:", f"{local_time(item['closed_at'])} by {item['closed_by']}{why}")
    if item["ratified"]:
        lines += labelled("ratified:", f"{local_time(item['ratified']['at'])} by {item['ratified']['by']}")
    if item["extras"]:
        lines += labelled("extras:", ", ".join(item["extras"]))
    return lines


_PASSIVE = {
    "blocks": "blocked by",
    "parent-child": "part of",
    "relates-to": "relates to",
    "duplicates": "duplicated by",
    "supersedes": "superseded by",
    "discovered-from": "led to",
}
_ACTIVE = {"parent-child": "has the part", "relates-to": "relates to", "discovered-from": "discovered from"}


def _said(relation: dict[str, Any], id: str) -> str:
    if relation["source"] == id:
        return f"{_ACTIVE.get(relation['kind'], relation['kind'])} {relation['target']}:"
    return f"{_PASSIVE[relation['kind']]} {relation['source']}:"


def change_lines(change: dict[str, Any]) -> list[str]:
    """One entry of a history."""
    cause = "" if change["cause"]["kind"] == "person" else f"{change['cause']['kind']} {change['cause']['id']}"
    facts = [
        change["actor"],
        cause,
        change["of"] and f"made at {change['of']}",
        "undone since" if change["undone"] else None,
        local_time(change["at"]),
    ]
    lines = headline(change["kind"], None, f"#{change['number']}", facts)
    for name in dict.fromkeys([*change["before"], *change["after"]]):
        before, after = (_shown(change[side].get(name)) for side in ("before", "after"))
        lines += labelled(f"{name}:", f"{before} → {after}")
    return lines


def _shown(value: Any) -> str:
    if value is None or value in ("", []):
        return "nothing"
    if isinstance(value, dict):
        return one_line(" ".join(str(each) for each in value.values()), 120)
    return one_line(", ".join(map(str, value)) if isinstance(value, list) else str(value), 120)


def offers_of(item: dict[str, Any]) -> list[str]:
    """What may be done next."""
    return [
        f"every part of {offer['item_id']} ({one_line(offer['title'], 60)}) is finished: gemba item close "
        f"{offer['item_id']}"
        for offer in item["offers"]
    ]
