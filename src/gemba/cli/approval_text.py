"""Requests for approval at a terminal: what is known of one, then the command to the letter in a frame of its own.

Guarantees that no text of a command can pass for a fact about it, and that a part which is not shown is told of. Called
by `gemba approval` and, for the card that asks, by `gemba inbox`.
"""

from __future__ import annotations

from typing import Any

from gemba.cli.show import age, command_lines, headline, labelled, local_time
from gemba.text import letters_in_line

_COLOURS = {"pending": "yellow", "approved": "green", "refused": "red"}


def request_lines(item: dict[str, Any], id: str, *, details: bool = False, most: int | None = None) -> list[str]:
    """One request by the name that it has here; with its details everything that its seal covers."""
    grant = None if item["grant_state"] in (None, "unused") else item["grant_state"]
    facts = [item["risk"], item["tool"], item["session_id"], _place(item), f"{age(item['created_at'])} ago", grant]
    lines = headline(item["state"], _COLOURS.get(item["state"], "bright_black"), id, facts)
    return lines + _facts(item) + (_details(item) if details else []) + _command(item, most)


def asked_lines(asked: list[dict[str, Any]], most: int | None = None) -> list[str]:
    """What a card of the inbox asks about: one command, or a plan of them."""
    if len(asked) == 1 and asked[0]["position"] is None:
        return labelled("tool:", asked[0]["tool"]) + _facts(asked[0]) + _command(asked[0], most)
    return [line for step in asked for line in _step(step, most)]


def _step(item: dict[str, Any], most: int | None) -> list[str]:
    named = labelled(f"{item['position']}.", f"{item['tool']} · {item['state']} · {item['id']}")
    return named + _facts(item) + _command(item, most)


def _place(item: dict[str, Any]) -> str | None:
    return None if item["position"] is None else f"number {item['position']} of a plan"


def _facts(item: dict[str, Any]) -> list[str]:
    lines = labelled("in:", letters_in_line(item["cwd"]))
    lines += labelled("risk:", item["risk"] + (f": {letters_in_line(item['reason'])}" if item["reason"] else ""))
    return lines + labelled("requester:", letters_in_line(item["requester"]))


def _command(item: dict[str, Any], most: int | None) -> list[str]:
    return labelled("command:", "") + command_lines(item["command"], most, f"gemba approval show {item['id'][-12:]}")


def _details(item: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    if item["environment"]:
        lines += labelled("environment:", ", ".join(item["environment"]))
    for name in ("rollback", "verification"):
        if item[name] is not None:
            told = item[name] if isinstance(item[name], str) else str(item[name])
            lines += labelled(f"{name}:", "") + command_lines(told)
    lines += labelled("expires:", local_time(item["expires_at"])) + labelled("seal:", item["hash"])
    if item["decided_at"] is not None:
        why = f": {item['decision_reason']}" if item["decision_reason"] else ""
        second = f" and {item['confirmed_by']}" if item["confirmed_by"] else ""
        lines += labelled("decided:", f"by {item['decided_by']}{second} at {local_time(item['decided_at'])}{why}")
    if item["superseded_by"]:
        lines += labelled("edited:", f"see {item['superseded_by']}")
    if item["outcome_at"] is not None:
        lines += labelled("ended:", f"{item['grant_state']} {item['outcome'] or ''}".strip())
    return lines
