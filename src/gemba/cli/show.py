"""How commands show things: JSON for programs, short lines for people. Agents' text never reaches a terminal raw."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click
import msgspec

from gemba import clock
from gemba.text import one_line, showable

SHORT_ID = 6

json_option: Callable[[Any], Any] = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def print_json(document: Any) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(document) + b"\n")
    sys.stdout.buffer.flush()


def age(moment: str) -> str:
    """How long ago, in the largest unit that says something: 12s, 4m, 3h, 2d."""
    then = clock.parse(moment)
    seconds = max(0, (clock.now() - (then or 0)) // clock.SECOND)
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def escalation_lines(item: dict[str, Any], *, whole: bool = False) -> list[str]:
    """One escalation for a terminal: what it is, whose, how old, what it says, how to answer."""
    blocking = item["urgency"] == "blocking"
    mark = click.style("BLOCKING", fg="red", bold=True) if blocking else click.style("advisory", fg="cyan")
    facts = [item["kind"], item["agent_type"], item["session_id"], item["bead_id"], f"{age(item['opened_at'])} ago"]
    shown = " · ".join(one_line(str(fact), 40) for fact in facts if fact)
    lines = [f"{mark}  {click.style(item['id'][-SHORT_ID:], bold=True)}  {shown}{_marks(item)}"]
    if item["title"]:
        lines.append(f"    {click.style(one_line(item['title'], 110), bold=True)}")
    text = showable(item["text"]).splitlines() if whole else [one_line(item["text"], 110)]
    lines += [f"    {line}" for line in text]
    lines += [f"      {number}) {one_line(option, 100)}" for number, option in enumerate(item["options"], 1)]
    return lines


def _marks(item: dict[str, Any]) -> str:
    marks = []
    if item["state"] not in ("open", "acknowledged"):
        marks.append(item["state"])
    if item["waiting"] and item["resolution"] is None:
        marks.append("waiting")
    if item["stale"]:
        marks.append("the code moved since")
    if item["delivery"] == "undelivered":
        marks.append("undelivered")
    return f"  [{', '.join(marks)}]" if marks else ""
