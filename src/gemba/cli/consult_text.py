"""Consults for a terminal: one in a list, and one whole with its lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from gemba.cli.show import age, body_lines, headline, labelled, local_time
from gemba.text import one_line, showable

_COLOURS = {
    "prepared": "bright_black",
    "running": "cyan",
    "completed": "green",
    "failed": "red",
    "timed_out": "red",
    "cancelled": "bright_black",
    "closed": "bright_black",
}


def lines_of_list(item: dict[str, Any], id: str) -> list[str]:
    errors = f"{item['line_error_count']} refused" if item["line_error_count"] else None
    facts = [item["skill_id"], item["persona_id"], f"{item['line_count']} lines", errors, item["model"], _cost(item)]
    lines = headline(item["status"], _COLOURS[item["status"]], id, [*facts, f"{age(item['started_at'])} ago"])
    if item["error"]:
        lines += body_lines(item["error"], 2)
    return lines


def lines_of_one(item: dict[str, Any], with_prompt: bool) -> list[str]:
    lines = headline(
        item["status"], _COLOURS[item["status"]], item["id"], [item["skill_id"], item["persona_id"], item["model"]]
    )
    took = "" if item["latency_ms"] is None else f", {item['latency_ms'] / 1_000:,.1f} s"
    tokens = f"{item['tokens']['input']:,} tokens in, {item['tokens']['output']:,} out"
    lines += labelled("began:", f"{local_time(item['started_at'])}{took}; {tokens}; {_cost(item) or 'cost unknown'}")
    if item["error"]:
        lines += labelled("note:", item["error"])
    if with_prompt:
        for layer in item["composed"]["layers"]:
            dropped = f"; dropped: {'; '.join(layer['dropped'])}" if layer["dropped"] else ""
            lines += labelled(f"{layer['name']}:", f"{layer['tokens']:,} tokens{dropped}")
        lines += ["", *body_lines(item["composed"]["text"]), ""]
    titles, said = _titles(item), dict[str, int]()
    for place, line in enumerate(item["validated_lines"]):
        lines += _line(place, line, place in item["applied_idx"], titles, said)
    for error in item["line_errors"]:
        lines += labelled(
            click.style("refused:", fg="red"), f"line {error['index']}, {error['rule']}: {error['reason']}"
        )
    for error in item["order_errors"]:
        lines += labelled(click.style("missing:", fg="red"), error["reason"])
    return lines


def _titles(item: dict[str, Any]) -> dict[str, str]:
    """Of the epics that it was asked about."""
    given = item["raw_request"].get("raw_input")
    epics = given.get("candidate_epics") if isinstance(given, dict) else None
    rows = [each for each in epics if isinstance(each, dict)] if isinstance(epics, list) else []
    return {str(each.get("epic_id")): str(each["title"]) for each in rows if each.get("title")}


def _line(
    place: int, line: dict[str, Any], is_applied: bool, titles: dict[str, str], said: dict[str, int]
) -> Iterator[str]:
    """`said` has the reasons of the lines before: one that comes again is said once."""
    mark = click.style("applied", fg="green") if is_applied else "apply" if line.get("suggested_action") else ""
    yield f"{place:>4}  {click.style(showable(line['type']), bold=True)}  {_words(line, titles)}  {mark}".rstrip()
    long = line.get("rationale") or line.get("detail") or line.get("reasoning") or line.get("notes")
    if long and "rationale" in line and said.setdefault(long, place) != place:
        long = f"The same as of {said[long]}."
    if long:
        yield from ("      " + text.strip() for text in body_lines(long))


def _words(line: dict[str, Any], titles: dict[str, str]) -> str:
    """What a line is about, in a few words."""
    rank = f"{line['rank']}. " if "rank" in line else ""
    named = [line[key] for key in ("id", "owner", "name", "prefix", "goal") if key in line]
    epic = line.get("epic_id")
    about = f"{epic} {titles.get(epic, '')}".rstrip() if epic else line.get("title")
    about = about or line.get("text") or line.get("kind") or " ".join(named)
    sure = f" ({line['confidence']:.2f})" if "confidence" in line else ""
    why = f": {line['reason']}" if "reason" in line else ""
    after = f" (after {', '.join(line['blocked_by'])})" if line.get("blocked_by") else ""
    return one_line(f"{rank}{about}{sure}{why}{after}", 200)


def _cost(item: dict[str, Any]) -> str | None:
    return None if item["dollars"] is None else f"${item['dollars']:.2f}"
