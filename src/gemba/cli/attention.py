"""`gemba attention`: what the asks of the last days cost, in a few sentences and a table."""

from __future__ import annotations

from typing import Any, NamedTuple, get_args

import click

from gemba.cli.door import open_door
from gemba.cli.show import json_option, print_json, width
from gemba.escalations.escalation import Kind
from gemba.text import cells, fold, one_line

_GAP = "  "
_LONGEST_NAME = 20
_SHORTEST_BAR, _LONGEST_BAR = 4, 16
_EIGHTHS = " ▏▎▍▌▋▊▉"


class _Column(NamedTuple):
    title: str
    values: list[str]
    is_text: bool = False

    @property
    def width(self) -> int:
        return max(map(cells, (self.title, *self.values)))

    def cell(self, value: str) -> str:
        space = " " * (self.width - cells(value))
        return value + space if self.is_text else space + value


@click.command()
@click.option(
    "--days", type=click.IntRange(1, 366), default=7, show_default=True, help="The last N days (UTC), today included."
)
@click.option("--agent-type", metavar="TYPE", help="Only what agents of this type asked.")
@click.option("--kind", type=click.Choice(get_args(Kind)), metavar="KIND", help="Only asks of this kind.")
@json_option
@click.pass_obj
def command(folder: str | None, days: int, agent_type: str | None, kind: str | None, as_json: bool) -> None:
    """Show what agents asked, how soon it was seen and answered, and how long they stood still meanwhile.

    What a minute costs is cost_per_agent_minute under [attention] in .gemba/workspace.toml. An agent that waits for
    two answers at once stands still once.

    \b
    Example:
      gemba attention --days 30 --kind blocker
      gemba attention --json | jq .total.blocked_minutes
    """
    with open_door(folder) as door:
        found = door.get("/api/attention", days=days, agent_type=agent_type, kind=kind)
    if as_json:
        print_json(found)
        return
    for sentence in _sentences(found, days):
        click.echo("\n".join(fold(sentence, width())))
    if found["rows"]:
        click.echo("\n" + "\n".join(_table(found["rows"], width())))


def _sentences(found: dict[str, Any], days: int) -> list[str]:
    total = found["total"]
    when = "today" if days == 1 else f"in the last {days} days"
    if not total["asked"]:
        return [f"Nothing was asked {when}."]
    ends = {"answered": "answered", "by_default": "by default", "expired": "expired", "declined": "declined"}
    told = [f"{total[name]} {words}" for name, words in ends.items() if total[name]]
    rate = total["questions_per_agent_hour"]
    often = "" if rate is None else f" That is {rate:,.1f} per agent hour."
    sentences = [f"{total['asked']} asked {when}{': ' + ', '.join(told) if told else ''}.{often}"]
    for did, name in (("Seen", "to_see"), ("Answered", "to_answer")):
        if total[f"{name}_p50"] is not None:
            half, most = (_span(total[f"{name}_{part}"]) for part in ("p50", "p90"))
            sentences.append(f"{did} after {half} in half of the cases, after {most} in 9 of 10.")
    cost = "" if total["cost"] is None else f", which cost {total['cost']:,.2f} {found['currency']}"
    sentences.append(f"Agents stood still for {_span(total['blocked_minutes'] * 60)}{cost}.")
    if total["by_default"]:
        sentences.append(f"{total['share_by_default']:.0%} of the answers were given by default.")
    return sentences


def _table(rows: list[dict[str, Any]], room: int) -> list[str]:
    """As many of the columns as there is room for, the least important left out first; in what is left, bars."""
    priced = rows[0]["cost"] is not None
    columns = {
        "day": _Column("day", [row["day"] for row in rows], is_text=True),
        "agent": _Column("agent", [one_line(row["agent_type"], _LONGEST_NAME) or "-" for row in rows], is_text=True),
        "kind": _Column("kind", [row["kind"] for row in rows], is_text=True),
        "asked": _Column("asked", [str(row["asked"]) for row in rows]),
        "answered": _Column("answered", [str(row["answered"]) for row in rows]),
        "default": _Column("default", [str(row["by_default"]) for row in rows]),
        "to see": _Column("to see", [_span(row["to_see_p50"]) for row in rows]),
        "to answer": _Column("to answer", [_span(row["to_answer_p50"]) for row in rows]),
        "blocked": _Column("blocked", [_span(row["blocked_minutes"] * 60) for row in rows]),
        **({"cost": _Column("cost", [f"{row['cost']:,.2f}" for row in rows])} if priced else {}),
    }
    for name in ("default", "to see", "cost", "answered", "agent", "to answer", "kind", "blocked"):
        if _width(columns) <= room:
            break
        columns.pop(name, None)
    longest = max(row["blocked_minutes"] for row in rows)
    left = min(room - _width(columns) - len(_GAP), _LONGEST_BAR)
    if longest and left >= _SHORTEST_BAR:
        bars = [_bar(row["blocked_minutes"] / longest * left) for row in rows]
        columns["bar"] = _Column("", bars, is_text=True)
    shown = list(columns.values())
    head = _GAP.join(column.cell(column.title) for column in shown).rstrip()
    body = (_GAP.join(column.cell(column.values[number]) for column in shown) for number in range(len(rows)))
    return [click.style(head, bold=True), *(line.rstrip() for line in body)]


def _width(columns: dict[str, _Column]) -> int:
    return sum(column.width + len(_GAP) for column in columns.values()) - len(_GAP)


def _bar(length: float) -> str:
    """A bar that is so many columns long, to an eighth of one."""
    eighths = round(length * 8)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _span(seconds: float | None) -> str:
    """A time in the largest unit that says something: 12s, 4m, 3.5h, 2.1d."""
    if seconds is None:
        return "-"
    for size, unit in ((86_400, "d"), (3_600, "h")):
        if seconds >= size:
            return f"{seconds / size:.1f}{unit}"
    return f"{seconds / 60:.0f}m" if seconds >= 60 else f"{seconds:.0f}s"
