"""`gemba memory`: what agents want remembered: seen, accepted or rejected, and what is remembered."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from gemba.cli.answer import standard_input
from gemba.cli.complete import ids_of
from gemba.cli.door import act, find_id, item_path, open_door
from gemba.cli.show import (
    age,
    body_lines,
    headline,
    json_option,
    labelled,
    local_time,
    or_else,
    print_items,
    print_json,
    tell,
)
from gemba.handoff import fields
from gemba.text import one_line

_COLOURS = {"suggested": "yellow", "accepted": "green", "rejected": "red"}
_LINES_OF_BODY = 4  # in a list; `show` has the whole


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Show and decide what agents want remembered. What you accept is given to later turns.

    An anchor goes to every turn, a thread to turns on the same surfaces, a log to those that ask for it. What you
    reject is not offered again. Without a command it is `list`.

    \b
    Example:
      gemba memory
      gemba memory accept 3fa9c1
      gemba memory accept 3fa9c1 --class anchor --body "8000 is the proxy's"
      gemba memory reject 77b0e2 "it was moved since"
    """
    or_else(ctx, show_list, as_json)


@command.command("list", short_help="Show what waits, or what is remembered.")
@click.option(
    "--state",
    type=click.Choice(["suggested", "accepted", "rejected", "all"]),
    default="suggested",
    show_default=True,
    help="Which ones.",
)
@click.option("--class", "class_", metavar="CLASS", help="Only this class: anchor, thread or log.")
@click.option("--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="At most this many.")
@json_option
@click.pass_obj
def show_list(
    folder: str | None,
    state: str = "suggested",
    class_: str | None = None,
    limit: int = 50,
    as_json: bool = False,
) -> None:
    """Show what waits for you, newest first; with --state accepted what is remembered.

    \b
    Example:
      gemba memory list
      gemba memory list --state accepted --class anchor --json
    """
    wanted = {"state": None if state == "all" else state, "class": class_}
    with open_door(folder) as door:
        page = door.get("/api/memories", limit=limit, **wanted)
    if as_json:
        print_json(page)
        return
    print_items(page["memories"], partial(_lines, most=_LINES_OF_BODY))
    click.echo(_summary(page, state))


@command.command(short_help="Show one in full.")
@click.argument("id", shell_complete=ids_of("memories"))
@json_option
@click.pass_obj
def show(folder: str | None, id: str, as_json: bool) -> None:
    """Show the memory ID with where it came from and what was decided.

    \b
    Example:
      gemba memory show 3fa9c1
    """
    with open_door(folder) as door:
        item = door.get(item_path("memories", find_id(door, "memory", id, state="suggested")))
    if as_json:
        print_json(item)
    else:
        click.echo("\n".join(_lines(item, item["id"]) + _details(item)))


@command.command(short_help="Remember it, as suggested or edited.")
@click.argument("id", shell_complete=ids_of("memories", state="suggested"))
@click.option("--slug", help="Another name for it.")
@click.option("--type", "type_", type=click.Choice(fields.MEMORY_TYPE.allowed), help="Another type.")
@click.option("--class", "class_", type=click.Choice(fields.MEMORY_CLASS.allowed), help="Whom it is given to.")
@click.option("--body", help="What to remember instead; - reads standard input.")
@click.option(
    "--surface", "surfaces", multiple=True, metavar="NAME", help="A surface it is about; may be repeated, '' for none."
)
@json_option
@click.pass_obj
def accept(
    folder: str | None,
    id: str,
    slug: str | None,
    type_: str | None,
    class_: str | None,
    body: str | None,
    surfaces: tuple[str, ...],
    as_json: bool,
) -> None:
    """Remember the suggestion ID for later turns, as it is or with what you change in it.

    \b
    Example:
      gemba memory accept 3fa9c1
      gemba memory accept 3fa9c1 --slug proxy-port --class anchor
      gemba memory accept 3fa9c1 --body - < better-words.txt
    """
    if body == "-":
        body = standard_input()
    edits = {
        "slug": slug,
        "type": type_,
        "class": class_,
        "body": body,
        "surfaces": [name for name in surfaces if name] if surfaces else None,
    }
    given = {name: value for name, value in edits.items() if value is not None}
    done = act(folder, "memory", id, "accept", given, state="suggested")
    tell(done, as_json, f"accepted {done['id']}: remembered as {done['slug']} ({one_line(done['class'], 40)})")


@command.command(short_help="Do not remember it, nor offer it again.")
@click.argument("id", shell_complete=ids_of("memories", state="suggested"))
@click.argument("reason", required=False, default="")
@json_option
@click.pass_obj
def reject(folder: str | None, id: str, reason: str, as_json: bool) -> None:
    """Do not remember the suggestion ID, nor offer it again; a REASON stands in the record.

    \b
    Example:
      gemba memory reject 3fa9c1 "it was moved since"
    """
    done = act(folder, "memory", id, "reject", {"reason": reason}, state="suggested")
    tell(done, as_json, f"rejected {done['id']}: it is not offered again")


@command.command(short_help="Take a decision back.")
@click.argument("id", shell_complete=ids_of("memories", state="accepted,rejected"))
@json_option
@click.pass_obj
def reopen(folder: str | None, id: str, as_json: bool) -> None:
    """Take back what was decided about the memory ID: it waits again, and later turns are not given it meanwhile.

    \b
    Example:
      gemba memory reopen 3fa9c1
    """
    done = act(folder, "memory", id, "reopen", {}, state="accepted,rejected")
    tell(done, as_json, f"reopened {done['id']}: it waits again")


def _lines(item: dict[str, Any], id: str, most: int | None = None) -> list[str]:
    facts = [item["class"], item["type"], item["slug"], *item["surfaces"][:3], f"{age(item['created_at'])} ago"]
    lines = headline(item["state"], _COLOURS[item["state"]], id, facts)
    if item["description"] != " ".join(item["body"].split()):
        lines += [click.style(line, bold=True) for line in body_lines(item["description"], most and 1)]
    lines += body_lines(item["body"], most)
    for warning in item["warnings"]:
        lines += labelled("warning:", warning)
    return lines


def _details(item: dict[str, Any]) -> list[str]:
    lines = labelled("why:", item["rationale"]) if item["rationale"] else []
    if item["surfaces"]:
        lines += labelled("surfaces:", ", ".join(item["surfaces"]))
    lines += labelled("from:", f"handoff {item['source']}, {local_time(item['created_at'])}")
    if item["decided_at"] is not None:
        why = f": {item['decision_reason']}" if item["decision_reason"] else ""
        lines += labelled(
            "decided:", f"{item['state']} by {item['decided_by']} at {local_time(item['decided_at'])}{why}"
        )
    return lines


def _summary(page: dict[str, Any], state: str) -> str:
    shown, total = len(page["memories"]), page["total"]
    rest = f", the newest {shown} shown" if shown < total else ""
    if state == "suggested":
        if not total:
            return "Nothing waits. What is remembered: gemba memory list --state accepted"
        return f"{total} waiting{rest}. Decide with: gemba memory accept ID, or reject ID"
    if state == "accepted":
        return (
            f"{total} remembered{rest}. Take one back with: gemba memory reopen ID"
            if total
            else "Nothing is remembered."
        )
    return f"{total} {'in all' if state == 'all' else state}{rest}." if total else "There are none."
