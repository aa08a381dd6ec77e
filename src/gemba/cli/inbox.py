"""`gemba inbox`: what waits for the operator, once or live."""

from __future__ import annotations

import contextlib
from typing import Any

import click

from gemba.cli.door import Door, item_path, open_door
from gemba.cli.show import escalation_lines, json_option, print_json

_CHANGES = ",".join(
    (
        "escalation_opened",
        *(f"escalation.{change}" for change in ("reopened", "resolved", "dismissed", "expired", "withdrawn")),
        "escalation.undelivered",
    )
)


@click.command()
@click.option("--watch", is_flag=True, help="Stay, and show what comes and what is settled.")
@click.option("--all", "everything", is_flag=True, help="Also what is settled.")
@click.option("--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="At most this many.")
@json_option
@click.pass_obj
def command(folder: str | None, watch: bool, everything: bool, limit: int, as_json: bool) -> None:
    """Show what waits for you: blocking first, oldest first within.

    With --json one object as /api/escalations answers; with --watch one escalation a line.

    \b
    Example:
      gemba inbox
      gemba inbox --watch --json | jq .text
    """
    with open_door(folder) as door:
        page = door.get("/api/escalations", state=None if everything else "unresolved", limit=limit)
        if as_json and not watch:
            print_json(page)
            return
        for item in page["escalations"]:
            _show(item, as_json)
        if not as_json:
            click.echo(_summary(page, watch))
        if watch:
            with contextlib.suppress(KeyboardInterrupt):
                _follow(door, page["as_of"], as_json)


def _follow(door: Door, after: int, as_json: bool) -> None:
    def show(event: dict[str, Any]) -> None:
        if event.get("ref"):
            _show(door.get(item_path("escalations", event["ref"])), as_json)

    door.follow(after, _CHANGES, show)


def _show(item: dict[str, object], as_json: bool) -> None:
    if as_json:
        print_json(item)
    else:
        click.echo("\n".join(escalation_lines(item)) + "\n")


def _summary(page: dict[str, object], watch: bool) -> str:
    shown, total = len(page["escalations"]), page["total"]  # type: ignore[arg-type]
    if not total:
        return "Nobody waits for you." + (" Watching." if watch else "")
    rest = f" ({shown} shown)" if shown != total else ""
    return f"{total} in all{rest}. Answer with: gemba answer ID TEXT, or --option N"
