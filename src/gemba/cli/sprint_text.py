"""Sprints for a terminal: one in a list, one whole, and how a command finds the one that is meant."""

from __future__ import annotations

import re
from typing import Any

import click

from gemba.cli.door import Door
from gemba.cli.show import age, body_lines, headline, labelled, local_time
from gemba.errors import Invalid, NotFound
from gemba.text import one_line

_TOKENS = re.compile(r"(\d{1,12}|\d{1,3}(?:[,_]\d{3}){1,4})(?:\.(\d{1,6}))?([kKmM]?)")
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}
_COLOURS = {"planned": "bright_black", "running": "cyan", "closed": "green"}
_BAR = 30


class _Tokens(click.ParamType[int]):
    """A number of tokens as people write it."""

    name = "tokens"

    def convert(self, value: Any, parameter: click.Parameter | None, ctx: click.Context | None) -> int:
        found = _TOKENS.fullmatch(str(value).strip())
        whole, fraction, unit = found.groups() if found is not None else ("0", "", "")
        tokens = float(f"{re.sub('[,_]', '', whole)}.{fraction or 0}") * _UNITS[unit.lower()]
        if tokens >= 1 and tokens == int(tokens):
            return int(tokens)
        return self.fail(
            f"{str(value)[:40]!r} is no number of tokens; allowed: such as 2000000, 1.5M or 500k", parameter, ctx
        )


TOKENS = _Tokens()


def find_sprint(door: Door, given: str | None) -> str:
    """The id of a sprint, by its id or its number; without one, the sprint that runs."""
    if given is None:
        found = door.get("/api/sprints", state="running", limit=1)["sprints"]
        if not found:
            raise NotFound("no sprint runs; give the ID of one", code="not_found")
        return str(found[0]["id"])
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,128}", given):
        raise Invalid(f"{given!r} is not an id", code="invalid_id", found=given)
    return f"sprint-{given}" if given.isdecimal() else given


def lines_of(sprint: dict[str, Any]) -> list[str]:
    facts = [
        f"{sprint['finished_count']} of {items_of(sprint)} finished",
        f"{share(sprint)} of {sprint['token_budget']:,} tokens",
        "held: nothing new is begun" if sprint["held"] else None,
        f"{age(sprint['updated_at'])} ago",
    ]
    lines = headline(sprint["state"], _COLOURS[sprint["state"]], sprint["id"], facts)
    return lines + body_lines(one_line(sprint["title"], 200))


def details_of(sprint: dict[str, Any]) -> list[str]:
    thresholds = sprint["burn_thresholds"]
    told = ", ".join(f"{name} {thresholds[name]:.0%}" for name in ("inform", "warn", "stop"))
    lines = labelled("budget:", f"{bar(sprint)} {sprint['tokens_used']:,} of {sprint['token_budget']:,} tokens; {told}")
    if sprint["goal"]:
        lines += labelled("goal:", sprint["goal"])
    for name, label in (("started_at", "started:"), ("ends_at", "ends:"), ("closed_at", "closed:")):
        if sprint[name]:
            lines += labelled(label, local_time(sprint[name]))
    if sprint["close_reason"]:
        lines += labelled("because:", sprint["close_reason"])
    for item in sprint["items"]:
        parts = "" if item["parts"] < 2 else f", {item['parts_finished']} of {item['parts']} parts"
        took = f", {item['tokens']:,} tokens" if item["tokens"] else ""
        about = f"{item['state']}{parts}{took}"
        lines += labelled(f"{item['id']}:", f"{one_line(item['title'], 80)} ({about})")
    for day in sprint["burn_down"]["days"][-14:]:
        told = (
            f"{day['items_left']} of {day['items']} items left, {day['tokens']:,} tokens, {day['tokens_left']:,} left"
        )
        lines += labelled(f"{day['day']}:", told)
    return lines


def items_of(sprint: dict[str, Any]) -> str:
    many = sprint["item_count"]
    return "1 item" if many == 1 else f"{many} items"


def share(sprint: dict[str, Any]) -> str:
    return f"{sprint['tokens_used'] * 100 // sprint['token_budget']} %"


def bar(sprint: dict[str, Any]) -> str:
    full = min(_BAR, sprint["tokens_used"] * _BAR // sprint["token_budget"])
    return f"[{'#' * full}{'.' * (_BAR - full)}]"
