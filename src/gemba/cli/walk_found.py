"""Which walk and which item of it is meant, and what became of a consult that was asked for.

A walk is the operator's own that is open, unless an id says otherwise. An item is known by its number in the agenda, by
enough of its id, or as the one on the table. Called by the commands of walks and by the walk at the terminal.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any

import click

from gemba.cli.approval_found import asked_by
from gemba.cli.approval_text import asked_lines as approval_lines
from gemba.cli.door import Door, find_id, item_path
from gemba.cli.show import body_lines
from gemba.cli.walk_text import Item, Walk, active_item
from gemba.errors import GembaError, Invalid, NotFound

NOW = "now"  # the item on the table
_PATIENCE_SECONDS = 5.0  # for the next of several consults to end; what takes longer is looked at later
_FEWEST = 4
_LONGEST_ASK = 40  # lines


def own_walk(door: Door) -> str:
    """The id of this operator's walk that is not over."""
    found: str | None = door.get("/api/walks", limit=1)["hint"]["open_walk"]
    if found is None:
        raise click.ClickException("you have no walk that is open; gemba walk start begins one")
    return found


def read_walk(door: Door, id: str) -> Walk:
    found: Walk = door.get(item_path("walks", id))
    return found


def shown_walk(door: Door, given: str | None) -> Walk:
    """The one of that id; without one the operator's own, or else the newest."""
    if given is not None:
        return read_walk(door, find_id(door, "walk", given))
    page = door.get("/api/walks", limit=1)
    id = page["hint"]["open_walk"] or next((walk["id"] for walk in page["walks"]), None)
    if id is None:
        raise click.ClickException("there was no walk yet; gemba walk start begins one")
    return read_walk(door, id)


def walk_path(id: str, *steps: str) -> str:
    return "/".join([item_path("walks", id), *steps])


def find_item(walk: Walk, given: str) -> Item:
    """By its number, its id or enough of that, or as the one on the table."""
    agenda: list[Item] = walk["agenda"]
    if given == NOW:
        on_table = active_item(walk)
        if on_table is None:
            raise NotFound("nothing is on the table; gemba walk next takes something up", code="not_found")
        return on_table
    if given.isascii() and given.isdecimal() and len(given) < _FEWEST:
        if 1 <= int(given) <= len(agenda):
            return agenda[int(given) - 1]
        allowed = f"1 to {len(agenda)}" if agenda else "none: the agenda is empty"
        raise NotFound(f"the agenda has no number {given}; allowed: {allowed}", code="not_found", found=given)
    found = [item for item in agenda if item["id"].startswith(given) or item["id"].endswith(given)]
    if len(given) < _FEWEST or len(found) != 1:
        words = "fits none of the agenda" if not found else f"fits {len(found)} of the agenda: give more of the id"
        raise Invalid(f"{given} {words}; allowed: a number, an id, {NOW}", code="invalid_id", found=given)
    return found[0]


def last_decided(walk: Walk) -> Item | None:
    """The item that was decided last, here or at another surface."""
    made = [item for item in walk["agenda"] if item["decision"] is not None and item["status"] != "dismissed"]
    return max(made, key=lambda item: str(item["decision"]["at"]), default=None)


def finished(door: Door, ids: Iterable[str], seen: int) -> list[dict[str, Any]]:
    """The consults, once all of them are over; those that take longer as they are. Without a server they are over
    already, unless a model answers."""
    waiting = {id for id in ids if _consult(door, id)["status"] == "running"}
    if waiting and door.is_server:
        with contextlib.closing(door.events(seen, "consult.finished", _PATIENCE_SECONDS)) as events:
            for event in events:
                waiting.discard(str(event.get("ref")))
                if not waiting:
                    break
    return [_consult(door, id) for id in ids]


def _consult(door: Door, id: str) -> dict[str, Any]:
    found: dict[str, Any] = door.get(item_path("consults", id))
    return found


def perspectives_on(door: Door, ref: str, consults: Iterable[str]) -> list[dict[str, Any]]:
    """What these consults said of a thing, in their order."""
    said = {one["consult_id"]: one for one in door.get("/api/perspectives", ref=ref, limit=100)["perspectives"]}
    return [said[id] for id in consults if id in said]


def asked_in_full(door: Door, item: Item) -> list[str] | None:
    """What an escalation asks, where the summary is not the whole of it: a command that waits for approval to the
    letter, since what is approved is what runs, and a long question with all its words."""
    framing = item["framing"]
    if item["source"]["kind"] != "escalation" or framing is None:
        return None
    ref = item["source"]["ref"]
    if any(is_approval(action) for action in framing["actions"]):
        asked = asked_by(door, ref)
        return approval_lines(asked) if asked else None
    if not any(framing[name].rstrip().endswith("…") for name in ("sentence", "summary")):
        return None
    return body_lines(door.get(item_path("escalations", ref))["text"], _LONGEST_ASK)


def is_approval(action: dict[str, Any]) -> bool:
    return str(action["path"]).startswith("/api/approvals/")


def last_event(door: Door) -> int:
    seen: int = door.get("/api/walks", limit=1)["as_of"]
    return seen


def is_over(error: GembaError) -> bool:
    """Whether a decision came too late: here or elsewhere somebody was quicker."""
    return error.code in ("settled_elsewhere", "already_decided")
