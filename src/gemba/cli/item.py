"""`gemba item`: work items: made, listed, changed, related, claimed, taken back."""

from __future__ import annotations

from typing import Any

import click

from gemba.cli.answer import standard_input
from gemba.cli.door import item_path, open_door
from gemba.cli.item_text import (
    PLURAL,
    change_lines,
    details_of,
    find_item,
    item_ids,
    lines_of,
    offers_of,
    patch,
    post,
)
from gemba.cli.show import json_option, local_time, or_else, print_json, tell
from gemba.text import one_line

_KINDS = ("milestone", "epic", "task", "bug", "feature", "chore", "decision")
_STATES = ("backlog", "unstarted", "staged", "in_progress", "review", "done", "deferred", "cancelled")
_RELATIONS = ("blocks", "blocked-by", "parent-child", "relates-to", "duplicates", "supersedes", "discovered-from")

limit_option = click.option(
    "--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="At most this many."
)


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Make and change work items. Without a command it is `list`.

    An ID may be the beginning or the end of one. Every change is kept, and the last can be undone.

    \b
    Example:
      gemba item add "Rate limits on the API" --kind feature --priority 1
      gemba item dep shop-4k2m blocks shop-9x0p
      gemba item close 4k2m "merged"
    """
    or_else(ctx, show_list, as_json)


@command.command("list", short_help="Show work items.")
@click.option("--state", metavar="STATES", help="Only these states, separated by commas.")
@click.option("--kind", metavar="KINDS", help="Only these kinds, separated by commas.")
@click.option("--label", help="Only with this label.")
@click.option("--parent", metavar="ID", help="Only the parts of this item.")
@click.option("--assignee", metavar="NAME", help="Only this one's.")
@click.option("--text", help="Only where the id, the title or the description has this.")
@click.option("--cursor", help="Go on where the page before ended (its next_cursor).")
@limit_option
@json_option
@click.pass_obj
def show_list(folder: str | None, /, as_json: bool = False, limit: int = 50, **wanted: str | None) -> None:
    """Show work items, newest first; all of them unless you choose.

    \b
    Example:
      gemba item list --state in_progress,review
      gemba item list --kind epic --text search --json
    """
    with open_door(folder) as door:
        if wanted.get("parent"):
            wanted["parent"] = find_item(door, str(wanted["parent"]))
        page = door.get(f"/api/{PLURAL}", limit=limit, **wanted)
    if as_json:
        print_json(page)
        return
    for item in page["items"]:
        click.echo("\n".join(lines_of(item)) + "\n")
    shown, total = len(page["items"]), page["total"]
    rest = f", the newest {shown} shown" if shown < total else ""
    click.echo(f"{total} in all{rest}." if total else 'There are none. Make one with: gemba item add "TITLE"')


@command.command(short_help="Show one in full.")
@click.argument("id", shell_complete=item_ids())
@json_option
@click.pass_obj
def show(folder: str | None, id: str, as_json: bool) -> None:
    """Show the work item ID with its texts and relations.

    \b
    Example:
      gemba item show 4k2m
    """
    with open_door(folder) as door:
        item = door.get(item_path(PLURAL, find_item(door, id)))
    if as_json:
        print_json(item)
    else:
        click.echo("\n".join(lines_of(item) + details_of(item)))


def _fields(command: Any) -> Any:
    """The options that both `add` and `edit` have."""
    for option in reversed(
        (
            click.option("--kind", type=click.Choice(_KINDS), help="What it is."),
            click.option("--description", help="What is to be done; - reads standard input."),
            click.option("--acceptance", help="What has to be true for it to be accepted."),
            click.option("--state", type=click.Choice(_STATES), help="Where it stands."),
            click.option("--priority", type=click.IntRange(0, 4), help="0 is first, 4 is last."),
            click.option("--parent", metavar="ID", help="What it is a part of; '' for nothing."),
            click.option("--label", "labels", multiple=True, help="May be repeated; '' for none."),
            click.option("--target", "targets", multiple=True, metavar="GLOB", help="Paths that it will touch."),
            click.option("--concept", "concepts", multiple=True, help="What it is about."),
            click.option("--tokens", "estimated_tokens", type=click.IntRange(0), help="What it may take."),
            click.option("--assignee", metavar="NAME", help="Whose it is; '' for nobody's."),
            click.option("--order", "user_order", type=click.IntRange(0), help="Its place among what is ready."),
            click.option("--repository", metavar="NAME", help="The repository it is about."),
        )
    ):
        command = option(command)
    return command


@command.command(short_help="Make a new one.")
@click.argument("title")
@_fields
@click.option("--blocked-by", "blockers", multiple=True, metavar="ID", help="What has to be finished before.")
@click.option("--blocks", "blocked", multiple=True, metavar="ID", help="What waits for it.")
@click.option("--discovered-from", "origins", multiple=True, metavar="ID", help="What it came up in.")
@json_option
@click.pass_obj
def add(
    folder: str | None,
    /,
    title: str,
    blockers: tuple[str, ...],
    blocked: tuple[str, ...],
    origins: tuple[str, ...],
    as_json: bool,
    **fields: Any,
) -> None:
    """Make a work item with this TITLE. It is an unstarted task unless you say otherwise; a milestone gets its number.

    \b
    Example:
      gemba item add "Rate limits on the API" --kind feature --priority 1 --label api
      gemba item add "Write the tests" --parent 9x0p --blocked-by 4k2m
      gemba item add "Launch" --kind milestone
    """
    with open_door(folder) as door:
        item = {"title": title, **_given(door, fields)}
        relations = [
            *({"kind": "blocks", "source": find_item(door, id)} for id in blockers),
            *({"kind": "blocks", "target": find_item(door, id)} for id in blocked),
            *({"kind": "discovered-from", "target": find_item(door, id)} for id in origins),
        ]
        made = door.post(f"/api/{PLURAL}", {"item": item, "relations": relations})
    tell(made, as_json, f"made {made['id']}: {one_line(made['title'], 80)}")


@command.command(short_help="Change one.")
@click.argument("id", shell_complete=item_ids())
@click.option("--title", help="Another title.")
@_fields
@click.option("--ratified/--not-ratified", default=None, help="Say, or take back, that it is agreed.")
@click.option("--retro", type=click.Choice(("none", "wanted", "done")), help="Whether to look back at it.")
@click.option("--version", type=click.IntRange(1), help="Refuse if it was changed since this version.")
@json_option
@click.pass_obj
def edit(folder: str | None, /, id: str, as_json: bool, **fields: Any) -> None:
    """Change what you name of the work item ID, and nothing else.

    \b
    Example:
      gemba item edit 4k2m --priority 0 --state staged
      gemba item edit 4k2m --label '' --parent ''
      gemba item edit 4k2m --title "Better words" --version 3
    """
    with open_door(folder) as door:
        changes = _given(door, fields)
        if not changes.keys() - {"version"}:
            raise click.UsageError("Nothing is to be changed: give at least one of the options.")
        item = door.patch(item_path(PLURAL, find_item(door, id)), changes)
    _tell(item, as_json, f"changed {item['id']}: {item['state']}, version {item['version']}")


@command.command(short_help="Say that one is done, or cancelled.")
@click.argument("id", shell_complete=item_ids(state="in_progress,review,unstarted,staged"))
@click.argument("reason", required=False, default="")
@click.option("--cancel", is_flag=True, help="It will never be done; what it blocks goes on.")
@json_option
@click.pass_obj
def close(folder: str | None, id: str, reason: str, cancel: bool, as_json: bool) -> None:
    """Close the work item ID: it is done, or with --cancel cancelled. What it blocked goes on.

    \b
    Example:
      gemba item close 4k2m "merged in 1f2e3d"
      gemba item close 4k2m --cancel "somebody else did it"
    """
    item = patch(folder, id, {"state": "cancelled" if cancel else "done", "close_reason": reason})
    _tell(item, as_json, f"{item['state']} {item['id']}")


@command.command(short_help="Open one again that was closed.")
@click.argument("id", shell_complete=item_ids(state="done,cancelled,deferred"))
@json_option
@click.pass_obj
def reopen(folder: str | None, id: str, as_json: bool) -> None:
    """Open the work item ID again: it is unstarted, and what it blocks waits again.

    \b
    Example:
      gemba item reopen 4k2m
    """
    item = patch(folder, id, {"state": "unstarted"})
    _tell(item, as_json, f"open again {item['id']}: {item['state']}")


@command.command(short_help="Say what one is to another.")
@click.argument("id", shell_complete=item_ids())
@click.argument("relation", metavar="RELATION", type=click.Choice(_RELATIONS))
@click.argument("other", shell_complete=item_ids())
@click.option("--remove", is_flag=True, help="Say that it is so no more.")
@json_option
@click.pass_obj
def dep(folder: str | None, id: str, relation: str, other: str, remove: bool, as_json: bool) -> None:
    """Say what the work item ID is to OTHER, as a sentence. What would wait for itself is refused.

    \b
    Example:
      gemba item dep 4k2m blocks 9x0p
      gemba item dep 4k2m blocked-by 7t1c
      gemba item dep 4k2m blocks 9x0p --remove
    """
    with open_door(folder) as door:
        mine, theirs = find_item(door, id), find_item(door, other)
        ends = (
            {"kind": "blocks", "source": theirs} if relation == "blocked-by" else {"kind": relation, "target": theirs}
        )
        verb = "relations/remove" if remove else "relations"
        item = door.post(item_path(PLURAL, mine, verb), ends)
    _tell(item, as_json, f"{mine} {relation} {theirs}{' no more' if remove else ''}")


@command.command(short_help="Take one to work on.")
@click.argument("id", shell_complete=item_ids(state="unstarted,staged"))
@click.option("--owner", metavar="NAME", help="For whom; you, unless it is said.")
@click.option("--seconds", type=click.IntRange(1, 604_800), default=3_600, show_default=True, help="How long.")
@click.option("--extend", is_flag=True, help="Extend the claim that the owner has.")
@click.option("--even-blocked", is_flag=True, help="Also if something unfinished blocks it.")
@json_option
@click.pass_obj
def claim(
    folder: str | None, id: str, owner: str | None, seconds: int, extend: bool, even_blocked: bool, as_json: bool
) -> None:
    """Claim the work item ID: nobody else gets it until the lease is over, or the claim is given back. One that is
    blocked and not begun is refused, unless you say --even-blocked.

    \b
    Example:
      gemba item claim 4k2m
      gemba item claim 4k2m --owner worker-2 --seconds 900
      gemba item claim 4k2m --owner worker-2 --extend
    """
    body: dict[str, Any] = {"owner": owner, "lease_seconds": seconds}
    if extend:
        item = post(folder, id, "claim/extend", body)
    else:
        item = post(folder, id, "claim", {**body, "even_blocked": even_blocked})
    owned = f"{one_line(item['claim']['owner'], 60)} until {local_time(item['claim']['expires_at'])}"
    _tell(item, as_json, f"claimed {item['id']} by {owned}")


@command.command(short_help="Give a claim back.")
@click.argument("id", shell_complete=item_ids())
@click.option("--owner", metavar="NAME", help="Only if it is this one's.")
@json_option
@click.pass_obj
def release(folder: str | None, id: str, owner: str | None, as_json: bool) -> None:
    """Give the claim of the work item ID back, whosever it is.

    \b
    Example:
      gemba item release 4k2m
    """
    item = post(folder, id, "claim/release", {"owner": owner})
    _tell(item, as_json, f"released {item['id']}")


@command.command(short_help="Take the last change back.")
@click.argument("id", shell_complete=item_ids())
@json_option
@click.pass_obj
def undo(folder: str | None, id: str, as_json: bool) -> None:
    """Take back the last change of the work item ID; again and again walks back. Claims are left as they are.

    \b
    Example:
      gemba item undo 4k2m
    """
    item = post(folder, id, "undo", {})
    _tell(item, as_json, f"undone: {item['id']} is {item['state']}, version {item['version']}")


@command.command(short_help="Show what was changed.")
@click.argument("id", shell_complete=item_ids())
@limit_option
@json_option
@click.pass_obj
def history(folder: str | None, id: str, limit: int, as_json: bool) -> None:
    """Show every change of the work item ID, newest first: what, by whom, and what it followed from.

    \b
    Example:
      gemba item history 4k2m
    """
    with open_door(folder) as door:
        page = door.get(item_path(PLURAL, find_item(door, id), "history"), limit=limit)
    if as_json:
        print_json(page)
        return
    for change in page["changes"]:
        click.echo("\n".join(change_lines(change)) + "\n")
    shown, total = len(page["changes"]), page["total"]
    click.echo(f"{total} changes{f', the newest {shown} shown' if shown < total else ''}.")


def _given(door: Any, fields: dict[str, Any]) -> dict[str, Any]:
    """The options that were given, as the API wants them; an empty one stands for nothing."""
    found: dict[str, Any] = {}
    for name, value in fields.items():
        if value is None or value == ():
            continue
        if isinstance(value, tuple):
            found[name] = [word for word in value if word]
        elif name == "parent":
            found[name] = find_item(door, value) if value else None
        elif name == "description" and value == "-":
            found[name] = standard_input()
        else:
            found[name] = None if value == "" and name in ("assignee", "repository") else value
    return found


def _tell(item: dict[str, Any], as_json: bool, line: str) -> None:
    tell(item, as_json, "\n".join([line, *offers_of(item)]))
