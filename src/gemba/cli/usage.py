"""`gemba usage`: what turns took, by session, task, epic, sprint, persona or day."""

from __future__ import annotations

from typing import Any

import click

from gemba.cli.door import open_door
from gemba.cli.show import json_option, print_json, print_table
from gemba.text import one_line

_BY = ("session", "task", "epic", "sprint", "persona", "day")


@click.command()
@click.option("--by", type=click.Choice(_BY), default="day", show_default=True, help="What is summed up.")
@click.option("--limit", type=click.IntRange(1, 500), default=20, show_default=True, help="At most this many.")
@click.option("--cursor", help="Go on where the page before ended (its next_cursor).")
@json_option
@click.pass_obj
def command(folder: str | None, by: str, limit: int, cursor: str | None, as_json: bool) -> None:
    """Show what the turns of agents took: the largest first; days, the newest.

    A turn counts once, for all that it belongs to. A cost is told as far as agents' clients tell one.

    \b
    Example:
      gemba usage
      gemba usage --by epic --limit 5
      gemba usage --by session --json | jq '.rows[0].tokens'
    """
    with open_door(folder) as door:
        page = door.get("/api/usage", by=by, limit=limit, cursor=cursor)
    if as_json:
        print_json(page)
        return
    if not page["rows"]:
        click.echo("No turn has told what it took yet.")
        return
    rows: list[tuple[str, ...]] = [
        (
            one_line(row["key"], 40),
            one_line(row["title"] or "", 40),
            f"{row['turns']:,}",
            f"{row['tokens_in']:,}",
            f"{row['tokens_out']:,}",
            _cost(row),
        )
        for row in page["rows"]
    ]
    head: tuple[str, ...] = (by.upper(), "TITLE", "TURNS", "IN", "OUT", "COST")
    if not any(row[1] for row in rows):
        head, rows = (head[0], *head[2:]), [(row[0], *row[2:]) for row in rows]
    print_table(head, rows)
    shown, total = len(page["rows"]), page["total"]
    some = f"; {total} in all, {shown} shown" if shown < total else ""
    click.echo(f"\nSince {page['since']} (UTC){some}.")


def _cost(row: dict[str, Any]) -> str:
    cost = row["cost_usd_micros"]
    return "-" if cost is None else f"{'>' if row['unpriced'] else ''}${cost / 1_000_000:.2f}"
