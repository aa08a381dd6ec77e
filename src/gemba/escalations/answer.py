"""What an operator's answer means for an escalation of its channel, options and schema, or why it does not fit."""

from __future__ import annotations

from typing import Any

from gemba import wire
from gemba.errors import Invalid
from gemba.escalations.escalation import Channel, Reply, Respond
from gemba.text import storable


def judge(channel: Channel, options: list[str], schema: dict[str, Any] | None, answer: Respond) -> Reply:
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
