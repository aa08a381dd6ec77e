"""An escalation: something an agent or the system wants from the operator, and the states it goes through.

Pure: the types, the state table, and the decision what an operator's words mean for which channel.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

import msgspec

from gemba import wire
from gemba.errors import Invalid
from gemba.machine import Machine
from gemba.text import storable


class State(StrEnum):
    OPEN = "open"  # nobody has looked at it yet
    ACKNOWLEDGED = "acknowledged"  # the operator has seen it
    SNOOZED = "snoozed"  # the operator wants to see it later
    RESOLVED = "resolved"  # answered, by the operator, in the pane, or by a policy's default
    DISMISSED = "dismissed"  # the operator declined to answer
    EXPIRED = "expired"  # a policy's time ran out
    WITHDRAWN = "withdrawn"  # the asker no longer wants an answer


class Urgency(StrEnum):
    BLOCKING = "blocking"
    ADVISORY = "advisory"


class Channel(StrEnum):
    """How it came, and so how the reply goes back."""

    TOOL_CALL = "tool_call"
    NOTIFICATION = "notification"
    HANDOFF = "handoff"
    SYSTEM = "system"


class Delivery(StrEnum):
    """Where the reply is. `none`: there is nothing to deliver."""

    NONE = "none"
    PENDING = "pending"
    DELIVERED = "delivered"
    UNDELIVERED = "undelivered"


Kind = Literal[
    "question",
    "blocker",
    "permission_prompt",
    "hitl_approval",
    "approval",
    "needs_input",
    "blocked",
    "gate_failure",
    "purview_violation",
    "budget_warn",
    "budget_stop",
    "stalled",
]
Outcome = Literal["answered", "default", "expired", "declined", "withdrawn"]
Resolver = Literal["operator", "pane", "agent", "session", "policy"]
Decision = Literal["yes", "no", "modify"]

S = State
UNRESOLVED = (S.OPEN, S.ACKNOWLEDGED, S.SNOOZED)
MACHINE = Machine(
    "the escalation",
    {
        **{(state, "acknowledged"): S.ACKNOWLEDGED for state in UNRESOLVED},
        **{(state, "snoozed"): S.SNOOZED for state in UNRESOLVED},
        **{(state, "reopened"): S.OPEN for state in (S.ACKNOWLEDGED, S.SNOOZED, S.RESOLVED)},
        **{(state, "resolved"): S.RESOLVED for state in UNRESOLVED},
        **{(state, "dismissed"): S.DISMISSED for state in UNRESOLVED},
        **{(state, "expired"): S.EXPIRED for state in UNRESOLVED},
        **{(state, "withdrawn"): S.WITHDRAWN for state in UNRESOLVED},
    },
)

# Blocking first.
RANK = {Urgency.BLOCKING: 0, Urgency.ADVISORY: 1}


class Respond(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An answer: a text, or an option by its number; yes / no / modify for a client's own prompt; or an action."""

    text: str | None = None
    option: int | None = None
    decision: Decision | None = None
    action: str | None = None


class Reply(msgspec.Struct, frozen=True):
    """What the operator decided, in full: the words that reach the asker and how they came about."""

    outcome: Outcome
    text: str
    by: Resolver
    option: int | None = None
    decision: Decision | None = None
    action: str | None = None


class Resolution(msgspec.Struct, frozen=True):
    """A stored reply, as the API shows it."""

    outcome: Outcome
    text: str
    option: int | None
    decision: Decision | None
    action: str | None
    by: Resolver
    at: str


class Stale(msgspec.Struct, frozen=True):
    """The code moved since the ask: the commit it was made on, and the one that is checked out now."""

    commit: str
    head: str


class Escalation(msgspec.Struct, frozen=True):
    """An escalation as the API, the page and the command line show it."""

    id: str
    session_id: str
    agent_type: str
    kind: str
    channel: Channel
    urgency: Urgency
    state: State
    delivery: Delivery
    delivery_note: str | None
    role: str | None
    mode: str
    title: str | None
    text: str
    text_cut: bool
    options: list[str]
    bead_id: str | None
    waiting: bool
    opened_at: str
    changed_at: str
    snoozed_until: str | None
    cwd: str | None
    commit: str | None
    branch: str | None
    stale: Stale | None
    resolution: Resolution | None


def judge(channel: Channel, options: list[str], answer: Respond) -> Reply:
    """What an operator's answer means for an escalation of this channel, or why it does not fit."""
    given = [name for name in ("text", "option", "decision", "action") if getattr(answer, name) is not None]
    text = checked_text(answer.text)
    match channel:
        case Channel.NOTIFICATION:
            _only(given, ("decision", "text"), "a client's own prompt is answered with a decision")
            if answer.decision is None:
                raise _missing("decision", ["yes", "no", "modify"])
            if answer.decision == "modify" and not text:
                raise _missing("text", "what to do instead, with decision modify")
            return Reply("answered", text or answer.decision, "operator", decision=answer.decision)
        case Channel.SYSTEM:
            _only(given, ("action", "text"), "this card is answered with one of its actions")
            if answer.action not in options:
                raise Invalid(
                    f"action is {answer.action!r}; this card offers {', '.join(options) or 'none'}",
                    code="invalid_value",
                    pointer="/action",
                    found=answer.action,
                    allowed=options,
                )
            return Reply("answered", text, "operator", action=answer.action)
        case _:
            _only(given, ("text",) if answer.option is None else ("option",), "an answer is a text or an option")
            if answer.option is not None:
                return _chosen(options, answer.option)
            if not text:
                raise _missing("text", "a text that is not empty" + (", or an option's number" if options else ""))
            return Reply("answered", text, "operator")


def _chosen(options: list[str], number: int) -> Reply:
    if not 1 <= number <= len(options):
        allowed = f"1 to {len(options)}" if options else "none: this question has no options, answer with a text"
        raise Invalid(
            f"option is {number}; allowed: {allowed}",
            code="invalid_value",
            pointer="/option",
            found=number,
            allowed=allowed,
        )
    return Reply("answered", options[number - 1], "operator", option=number)


def checked_text(text: str | None) -> str:
    """An operator's words as they are stored, or why there are too many of them."""
    stored = storable(text or "").strip()
    if len(stored) > wire.MAX_TEXT:
        raise Invalid(
            f"text has {len(stored):,} characters; at most {wire.MAX_TEXT:,} are allowed",
            code="too_long",
            pointer="/text",
            found=len(stored),
            allowed=wire.MAX_TEXT,
        )
    return stored


def _only(given: list[str], allowed: tuple[str, ...], why: str) -> None:
    for name in given:
        if name not in allowed:
            raise Invalid(
                f"{name} does not fit here: {why}",
                code="unexpected_field",
                pointer=f"/{name}",
                found=name,
                allowed=list(allowed),
            )


def _missing(name: str, allowed: str | list[str]) -> Invalid:
    words = allowed if isinstance(allowed, str) else ", ".join(allowed)
    return Invalid(f"{name} is missing; allowed: {words}", code="missing_field", pointer=f"/{name}", allowed=allowed)
