"""`gemba sprint`: sprints: planned, given items and a budget, started, closed."""

from __future__ import annotations

from typing import Any

import click

from gemba.cli.answer import standard_input
from gemba.cli.door import item_path, open_door
from gemba.cli.item_text import find_item, item_ids
from gemba.cli.show import json_option, labelled, local_time, or_else, print_json, tell
from gemba.cli.sprint_text import TOKENS, details_of, find_sprint, items_of, lines_of, share
from gemba.text import one_line, showable

_STATES = ("planned", "running", "closed")
_USUAL = {"inform": 0.5, "warn": 0.8, "stop": 1.0}
_SHARE = click.FloatRange(0, 10, min_open=True)


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Plan sprints: work items and a budget of tokens for them. Without a command it is `list`.

    An ID may be the number of a sprint; where none is given, the sprint that runs is meant. At the threshold `stop` of
    its budget nothing new is begun, until the budget is raised or the sprint is closed.

    \b
    Example:
      gemba sprint create "Search that finds" --budget 2M --item shop-4k2m
      gemba sprint start 1
      gemba sprint edit --budget 3M
    """
    or_else(ctx, show_list, as_json)


@command.command("list", short_help="Show sprints.")
@click.option("--state", type=click.Choice(_STATES), help="Only in this state.")
@click.option("--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="At most this many.")
@click.option("--cursor", help="Go on where the page before ended (its next_cursor).")
@json_option
@click.pass_obj
def show_list(
    folder: str | None, /, as_json: bool = False, limit: int = 50, state: str | None = None, cursor: str | None = None
) -> None:
    """Show sprints, newest first, and what holds new work back.

    \b
    Example:
      gemba sprint list --state running
    """
    with open_door(folder) as door:
        page = door.get("/api/sprints", limit=limit, state=state, cursor=cursor)
        holds = door.get("/api/holds")["holds"]
    if as_json:
        print_json({**page, "holds": holds})
        return
    for sprint in page["sprints"]:
        click.echo("\n".join(lines_of(sprint)) + "\n")
    for hold in holds:
        click.echo("\n".join(labelled("held:", f"{hold['reason']}; {hold['lifted_by']}")))
    shown, total = len(page["sprints"]), page["total"]
    rest = f", the newest {shown} shown" if shown < total else ""
    none = 'There are none. Plan one with: gemba sprint create "TITLE" --budget TOKENS'
    click.echo(f"{total} in all{rest}." if total else none)


@command.command(short_help="Show one in full.")
@click.argument("id", required=False)
@json_option
@click.pass_obj
def show(folder: str | None, id: str | None, as_json: bool) -> None:
    """Show the sprint ID, or the one that runs: its budget, its items and its burn-down.

    \b
    Example:
      gemba sprint show
      gemba sprint show 3 --json
    """
    with open_door(folder) as door:
        sprint = door.get(item_path("sprints", find_sprint(door, id)))
    if as_json:
        print_json(sprint)
    else:
        click.echo("\n".join(lines_of(sprint) + details_of(sprint)))


def _fields(command: Any) -> Any:
    """The options that both `create` and `edit` have."""
    for option in reversed(
        (
            click.option("--goal", help="What it is for; - reads standard input."),
            click.option("--inform", type=_SHARE, help="The share of the budget that is told as an event."),
            click.option("--warn", type=_SHARE, help="The share at which you are warned."),
            click.option("--stop", type=_SHARE, help="The share at which nothing new is begun."),
            click.option("--ends", "ends_at", metavar="MOMENT", help="Such as 2026-03-01T18:00:00Z."),
        )
    ):
        command = option(command)
    return command


@command.command(short_help="Plan a new one.")
@click.argument("title")
@click.option("--budget", "token_budget", type=TOKENS, required=True, help="The tokens it may take, such as 2M.")
@click.option("--item", "items", multiple=True, metavar="ITEM", help="A work item that is in it; may be repeated.")
@_fields
@json_option
@click.pass_obj
def create(folder: str | None, /, title: str, items: tuple[str, ...], as_json: bool, **fields: Any) -> None:
    """Plan a sprint with this TITLE. It is told of at half of its budget, warned of at 80 %, and stops at all of it,
    unless you say otherwise.

    \b
    Example:
      gemba sprint create "Search that finds" --budget 2M --item 4k2m --item 9x0p
      gemba sprint create "Small steps" --budget 500k --warn 0.7 --stop 0.9
    """
    with open_door(folder) as door:
        given = _given(fields, _USUAL)
        body = {"title": title, "item_ids": [find_item(door, id) for id in items], **given}
        made = door.post("/api/sprints", body)
    tell(made, as_json, f"planned {made['id']}: {one_line(made['title'], 80)}")


@command.command(short_help="Change one.")
@click.argument("id", required=False)
@click.option("--title", help="Another title.")
@click.option("--budget", "token_budget", type=TOKENS, help="The tokens it may take, such as 2M.")
@_fields
@click.option("--version", type=click.IntRange(1), help="Refuse if it was changed since this version.")
@json_option
@click.pass_obj
def edit(folder: str | None, /, id: str | None, as_json: bool, **fields: Any) -> None:
    """Change what you name of the sprint ID, or of the one that runs. A budget that has room again lets work go on.

    \b
    Example:
      gemba sprint edit --budget 3M
      gemba sprint edit 3 --warn 0.7 --ends ''
    """
    with open_door(folder) as door:
        found = find_sprint(door, id)
        path = item_path("sprints", found)
        changes = _given(fields, door.get(path)["burn_thresholds"])
        if not changes.keys() - {"version"}:
            raise click.UsageError("Nothing is to be changed: give at least one of the options.")
        sprint = door.patch(path, changes)
    held = "; nothing new is begun" if sprint["held"] else ""
    tell(sprint, as_json, f"changed {sprint['id']}: {share(sprint)} of {sprint['token_budget']:,} tokens used{held}")


@command.command(short_help="Put work items into one.")
@click.argument("items", nargs=-1, required=True, metavar="ITEM...", shell_complete=item_ids())
@click.option("--sprint", "id", metavar="ID", help="Which; the one that runs, unless you say it.")
@json_option
@click.pass_obj
def add(folder: str | None, items: tuple[str, ...], id: str | None, as_json: bool) -> None:
    """Put every ITEM... into the sprint that runs, or into another one. What is in it already stays in it.

    \b
    Example:
      gemba sprint add 4k2m 9x0p
      gemba sprint add 4k2m --sprint 3
    """
    sprint = _items(folder, items, id, "items")
    tell(sprint, as_json, f"{sprint['id']} has {items_of(sprint)}")


@command.command(short_help="Take work items out of one.")
@click.argument("items", nargs=-1, required=True, metavar="ITEM...", shell_complete=item_ids())
@click.option("--sprint", "id", metavar="ID", help="Which; the one that runs, unless you say it.")
@json_option
@click.pass_obj
def remove(folder: str | None, items: tuple[str, ...], id: str | None, as_json: bool) -> None:
    """Take every ITEM... out of the sprint that runs, or out of another one. The items themselves stay as they are.

    \b
    Example:
      gemba sprint remove 4k2m
    """
    sprint = _items(folder, items, id, "items/remove")
    tell(sprint, as_json, f"{sprint['id']} has {items_of(sprint)}")


@command.command(short_help="Start one.")
@click.argument("id")
@click.option("--ends", "ends_at", metavar="MOMENT", help="Until when, such as 2026-03-01T18:00:00Z.")
@json_option
@click.pass_obj
def start(folder: str | None, id: str, ends_at: str | None, as_json: bool) -> None:
    """Start the sprint ID: from now on what turns take is counted against its budget. One runs at a time.

    \b
    Example:
      gemba sprint start 3 --ends 2026-03-14T18:00:00Z
    """
    with open_door(folder) as door:
        sprint = door.post(item_path("sprints", find_sprint(door, id), "start"), {"ends_at": ends_at})
    tell(sprint, as_json, f"started {sprint['id']}: {items_of(sprint)}, {sprint['token_budget']:,} tokens")


@command.command(short_help="Say that one is over.")
@click.argument("id", required=False)
@click.option("--reason", default="", help="Why, for the record.")
@json_option
@click.pass_obj
def close(folder: str | None, id: str | None, reason: str, as_json: bool) -> None:
    """Close the sprint ID, or the one that runs. What is not finished stays what it is, and nothing is held any more.

    \b
    Example:
      gemba sprint close --reason "all that matters is done"
    """
    with open_door(folder) as door:
        sprint = door.post(item_path("sprints", find_sprint(door, id), "close"), {"reason": reason})
    done = f"{sprint['finished_count']} of {items_of(sprint)} finished"
    tell(sprint, as_json, f"closed {sprint['id']}: {done}, {sprint['tokens_used']:,} tokens")


@command.command(short_help="Show what was changed.")
@click.argument("id", required=False)
@click.option("--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="At most this many.")
@json_option
@click.pass_obj
def history(folder: str | None, id: str | None, limit: int, as_json: bool) -> None:
    """Show every change of the sprint ID, or of the one that runs, newest first.

    \b
    Example:
      gemba sprint history 3
    """
    with open_door(folder) as door:
        page = door.get(item_path("sprints", find_sprint(door, id), "history"), limit=limit)
    if as_json:
        print_json(page)
        return
    for change in page["changes"]:
        after = ", ".join(f"{name} {_word(value)}" for name, value in change["after"].items())
        words = f"{change['kind']} by {showable(change['actor'])}{f': {after}' if after else ''}"
        click.echo("\n".join(labelled(f"{local_time(change['at'])}:", words)))
    click.echo(f"{page['total']} changes.")


def _items(folder: str | None, items: tuple[str, ...], id: str | None, verb: str) -> dict[str, Any]:
    with open_door(folder) as door:
        path = item_path("sprints", find_sprint(door, id), verb)
        done: dict[str, Any] = door.post(path, {"item_ids": [find_item(door, item) for item in items]})
    return done


def _given(fields: dict[str, Any], known: dict[str, float]) -> dict[str, Any]:
    """The options that were given, as the API wants them; thresholds go together, and an empty end is none."""
    found = {name: value for name, value in fields.items() if value is not None}
    thresholds = {name: found.pop(name) for name in ("inform", "warn", "stop") if name in found}
    if thresholds:
        found["burn_thresholds"] = {**known, **thresholds}
    if found.get("goal") == "-":
        found["goal"] = standard_input()
    if found.get("ends_at") == "":
        found["ends_at"] = None
    return found


def _word(value: Any) -> str:
    return one_line(", ".join(value) if isinstance(value, list) else str(value), 200)
