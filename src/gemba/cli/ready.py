"""`gemba ready`: what can be worked on now, and why the rest cannot."""

from __future__ import annotations

from typing import Any

import click

from gemba.cli.door import item_path, open_door
from gemba.cli.item_text import PLURAL, find_item, item_ids, lines_of
from gemba.cli.show import headline, json_option, labelled, print_json


@click.command()
@click.argument("id", required=False, shell_complete=item_ids(state="unstarted,staged"))
@click.option("--explain", is_flag=True, help="Say why an item is not ready: ID, or all that are not.")
@click.option("--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="At most this many.")
@click.option("--cursor", help="Go on where the page before ended (its next_cursor).")
@json_option
@click.pass_obj
def command(folder: str | None, id: str | None, explain: bool, limit: int, cursor: str | None, as_json: bool) -> None:
    """Show the work items that are ready, what you ordered first, then by priority and age.

    Ready is what is unstarted or staged, is not claimed, and is not blocked by anything unfinished, nor is what it is
    part of. With --explain it says what keeps ID from being so.

    \b
    Example:
      gemba ready
      gemba ready --explain
      gemba ready --explain 4k2m
    """
    if id is not None and not explain:
        raise click.UsageError("ID goes with --explain.")
    with open_door(folder) as door:
        if id is not None:
            found = door.get(item_path(PLURAL, find_item(door, id), "explain"))
        else:
            told = {"explain": "true"} if explain else {}
            found = door.get(f"/api/{PLURAL}/ready", limit=limit, cursor=cursor, **told)
    if as_json:
        print_json(found)
    elif id is not None:
        click.echo("\n".join(_explained(found)))
    else:
        _print(found)


def _print(page: dict[str, Any]) -> None:
    for item in page["items"]:
        click.echo("\n".join(lines_of(item)) + "\n")
    for one in page["unready"] or ():
        click.echo("\n".join(_explained(one)) + "\n")
    total, shown = page["total"], len(page["items"])
    rest = f", the first {shown} shown" if shown < total else ""
    click.echo(f"{'more than ' if page['more'] else ''}{total} ready{rest}." if total else "Nothing is ready.")


def _explained(one: dict[str, Any]) -> list[str]:
    lines = headline("ready" if one["ready"] else "not ready", "green" if one["ready"] else None, one["id"], [])
    lines += labelled("title:", one["title"], whole=False)
    for reason in one["reasons"]:
        lines += labelled("-", reason["text"])
    return lines
