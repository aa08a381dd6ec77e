"""Which request for approval an id means: its own, or that of the escalation that asks about it in the inbox.

Guarantees that an id which means several steps of a plan changes none of them alone. Called by `gemba approval` and,
for whoever answers such an escalation in words, by `gemba answer`.
"""

from __future__ import annotations

from typing import Any

from gemba.cli.door import Door, find_id, item_path, read_all
from gemba.cli.show import short_length
from gemba.errors import Invalid, NotFound

_REPLACED = "superseded"  # an edited request; what runs in its place has the same escalation


def find_request(door: Door, given: str, *, one_step: bool = False) -> dict[str, Any]:
    """The request of this id, or what the escalation of this id asks about. One request of a plan stands for all of it,
    unless one step alone is meant."""
    try:
        found: dict[str, Any] = door.get(item_path("approvals", find_id(door, "approval", given, state="pending")))
        return found
    except NotFound:
        asked = _asked_in_inbox(door, given)
        if not asked:
            raise
    if one_step and len(asked) > 1:
        ids = _short(asked)
        message = f"{given} asks about a plan of {len(asked)}; allowed: the id of one of its steps, {', '.join(ids)}"
        raise Invalid(message, code="ambiguous_id", found=given, allowed=ids)
    return asked[0]


def commands_that_decide(door: Door, escalation_id: str) -> str | None:
    """What to type instead of an answer; None for an escalation that asks for no approval, or no longer does."""
    waiting = [one for one in asked_by(door, escalation_id) if one["state"] == "pending"]
    if not waiting:
        return None
    ids = _short(waiting)
    plan = f" of a plan of {len(ids)}" if len(ids) > 1 else ""
    return (
        f"it asks for approval{plan}, decided with `gemba approval approve {ids[0]}`, "
        f"`gemba approval edit {'|'.join(ids)} COMMAND` or `gemba approval refuse {ids[0]} REASON`"
    )


def asked_by(door: Door, escalation_id: str) -> list[dict[str, Any]]:
    """What an escalation asks about, in the order in which it would run."""
    found = [one for one in read_all(door, "approvals", escalation=escalation_id) if one["state"] != _REPLACED]
    return sorted(found, key=lambda one: one["position"] or 0)


def _asked_in_inbox(door: Door, given: str) -> list[dict[str, Any]]:
    try:
        return asked_by(door, find_id(door, "escalation", given, state="unresolved"))
    except NotFound:
        return []


def _short(requests: list[dict[str, Any]]) -> list[str]:
    """As much of the end of each id as tells them apart."""
    length = short_length(one["id"] for one in requests)
    return [one["id"][-length:] for one in requests]
