"""`gemba refine`: the backlog as a dense table, and a persona's proposals for items of it."""

from __future__ import annotations

from typing import Any

import click

from gemba.cli.door import Door, item_path, open_door
from gemba.cli.item_text import PLURAL, find_item, item_ids
from gemba.cli.show import age, json_option, print_json, print_table, tell
from gemba.text import one_line

_STATES = ("backlog", "unstarted", "staged", "deferred")
_SKILL = "refine"
_PAGE = 500
_MOST = 1_000  # items of one consult


@click.command()
@click.argument("items", nargs=-1, metavar="ITEM...", shell_complete=item_ids(state=",".join(_STATES)))
@click.option("--all", "whole", is_flag=True, help="Have everything in the table refined.")
@click.option("--state", metavar="STATES", help=f"Other states in the table, as a comma list. [{', '.join(_STATES)}]")
@click.option("--label", help="Only with this label in the table.")
@click.option("--persona", default="project-manager", show_default=True, help="Whom to ask; see `gemba persona`.")
@click.option("--guidance", metavar="WORDS", help="What it should mind.")
@click.option("--agent", metavar="TYPE", help="Which type of agent answers; see `gemba agents`.")
@click.option("--dry-run", is_flag=True, help="Make the prompt, and nothing else; it costs nothing.")
@json_option
@click.pass_obj
def command(
    folder: str | None,
    /,
    items: tuple[str, ...],
    whole: bool,
    state: str | None,
    label: str | None,
    dry_run: bool,
    persona: str,
    guidance: str | None,
    agent: str | None,
    as_json: bool,
) -> None:
    """Show the backlog: what nobody has begun, by priority and age. With ITEM..., have a persona go through these.

    It proposes priorities, parents, states, labels and milestones, with reasons. Nothing is changed by that: apply the
    lines that you agree with. It needs a model.

    \b
    Example:
      gemba refine
      gemba refine 4k2m 9x0p --agent claude
      gemba refine --all --guidance "what can be dropped?" --dry-run
    """
    with open_door(folder) as door:
        if items:
            ids = list(dict.fromkeys(find_item(door, each) for each in items))
        else:
            page = _backlog(door, state or ",".join(_STATES), label)
            if not whole:
                _show(page, as_json)
                return
            ids = [item["id"] for item in page["items"]][:_MOST]
            if not ids:
                raise click.UsageError("There is nothing to refine: the table is empty.")
        body = {
            "persona_id": persona,
            "skill_id": _SKILL,
            "raw_input": {"item_ids": ids},
            "spawn": not dry_run,
            "guidance": guidance,
            "agent_type": agent,
        }
        made = door.post("/api/consults", {name: value for name, value in body.items() if value is not None})
        if not as_json:
            made = door.get(item_path("consults", made["id"]))
    many = f"{len(ids)} item{'s' if len(ids) != 1 else ''}"
    shown = "gemba consult show --prompt" if dry_run else "gemba consult show"
    tell(made, as_json, f"{made['status']} {made['id']} on {many}: {shown} {made['id']}")


def _backlog(door: Door, states: str, label: str | None) -> dict[str, Any]:
    """All of it, however many pages that takes, what matters most first."""
    page = door.get(f"/api/{PLURAL}", state=states, label=label, limit=_PAGE)
    found, cursor = list(page["items"]), page["next_cursor"]
    while cursor is not None:
        following = door.get(f"/api/{PLURAL}", state=states, label=label, limit=_PAGE, cursor=cursor)
        found, cursor = [*found, *following["items"]], following["next_cursor"]
    found.sort(key=lambda item: (item["priority"], item["created_at"], item["id"]))
    return {"items": found, "total": len(found)}


def _show(page: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(page)
        return
    if page["items"]:
        head = ("id", "P", "kind", "state", "in", "tokens", "age", "labels", "title")
        print_table(head, [_row(item) for item in page["items"]])
        click.echo(f"\n{page['total']} in all. Have some refined with: gemba refine ITEM...")
    else:
        click.echo('Nothing is in the backlog. Put something there: gemba item add "TITLE" --state backlog')


def _row(item: dict[str, Any]) -> tuple[Any, ...]:
    tokens = item["estimated_tokens"]
    return (
        item["id"],
        item["priority"],
        item["kind"],
        item["state"],
        item["parent"] or "",
        "" if tokens is None else f"{tokens:,}",
        age(item["created_at"]),
        one_line(",".join(item["labels"]), 24),
        item["title"],
    )
