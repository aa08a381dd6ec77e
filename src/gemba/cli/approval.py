"""`gemba approval`: commands that agents may run only once somebody has approved them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gemba.cli.answer import standard_input
from gemba.cli.approval_found import asked_by, find_request
from gemba.cli.approval_text import request_lines
from gemba.cli.complete import ids_of
from gemba.cli.door import item_path, open_door
from gemba.cli.hook_approval import ASKED_ABOUT
from gemba.cli.show import json_option, or_else, print_items, print_json, tell, width
from gemba.config import open_workspace
from gemba.handoff.risk import classify, workspace_rules
from gemba.text import letters_in_line, showable


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Show and decide requests for approval: an approved command may run once, exactly as it is shown.

    An ID is the end of a request's id, or of the escalation's that asks about it in `gemba inbox`. Without a command it
    is `list`.

    \b
    Example:
      gemba approval
      gemba approval show 3fa9c1
      gemba approval approve 3fa9c1
      gemba approval refuse 3fa9c1 "use the staging database"
    """
    or_else(ctx, show_list, as_json)


@command.command("list", short_help="Show the requests that wait.")
@click.option("--all", "everything", is_flag=True, help="Also those that are decided.")
@click.option("--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="At most this many.")
@json_option
@click.pass_obj
def show_list(folder: str | None, everything: bool = False, limit: int = 50, as_json: bool = False) -> None:
    """Show the requests that wait, newest first.

    \b
    Example:
      gemba approval list --all --json
    """
    with open_door(folder) as door:
        page = door.get("/api/approvals", limit=limit, state=None if everything else "pending")
    if as_json:
        print_json(page)
        return
    print_items(page["approvals"], request_lines)
    click.echo(_summary(page, everything))


@command.command(short_help="Show one request in full.")
@click.argument("id", shell_complete=ids_of("approvals"))
@json_option
@click.pass_obj
def show(folder: str | None, id: str, as_json: bool) -> None:
    """Show the request ID with everything that its seal covers, and what became of it.

    \b
    Example:
      gemba approval show 3fa9c1
    """
    with open_door(folder) as door:
        item = find_request(door, id, one_step=True)
    if as_json:
        print_json(item)
    else:
        click.echo("\n".join(request_lines(item, item["id"], details=True)))


@command.command(short_help="Let exactly this run, once.")
@click.argument("id", shell_complete=ids_of("approvals", state="pending"))
@click.option("--seal", "seals", multiple=True, metavar="HASH", help="What you have read; of a plan each, in order.")
@json_option
@click.pass_obj
def approve(folder: str | None, id: str, seals: tuple[str, ...], as_json: bool) -> None:
    """Let the command of the request ID run, once and exactly as it is shown. Of a plan, all of its commands in order:
    they are shown first and you are asked, unless you name their seals.

    \b
    Example:
      gemba approval approve 3fa9c1
    """
    id, read = (id, list(seals)) if seals else _read(folder, id)
    decided = _decide(folder, id, "approve", {"seals": read})
    tell(decided, as_json, _told(decided, "approved", "it may run once"))


@command.command(short_help="Let another command run instead.")
@click.argument("id", shell_complete=ids_of("approvals", state="pending"))
@click.argument("line", metavar="COMMAND")
@json_option
@click.pass_obj
def edit(folder: str | None, id: str, line: str, as_json: bool) -> None:
    """Let COMMAND run in the place of what the request ID asks for (`-` reads standard input).

    \b
    Example:
      gemba approval edit 3fa9c1 "rm -rf build/cache"
    """
    if line == "-":
        line = standard_input()
    if not line.strip():
        raise click.UsageError("COMMAND is empty: give the command to run instead, or refuse it.")
    decided = _decide(folder, id, "edit", {"command": line}, one_step=True)
    rest = "the plan still waits" if decided["state"] == "pending" else "it may run once in the place of the other"
    tell(decided, as_json, _told(decided, "edited", rest))


@command.command(short_help="Refuse it, with a reason.")
@click.argument("id", shell_complete=ids_of("approvals", state="pending"))
@click.argument("reason")
@json_option
@click.pass_obj
def refuse(folder: str | None, id: str, reason: str, as_json: bool) -> None:
    """Refuse the request ID; the agent reads the REASON.

    \b
    Example:
      gemba approval refuse 3fa9c1 "use the staging database"
    """
    decided = _decide(folder, id, "refuse", {"reason": reason})
    tell(decided, as_json, _told(decided, "refused", "the agent reads why"))


@command.command(short_help="Say how a command is classed.")
@click.argument("line", metavar="COMMAND")
@json_option
@click.pass_obj
def risk(folder: str | None, line: str, as_json: bool) -> None:
    """Say which class COMMAND has (`-` reads standard input), part by part, and whether it would wait for approval.

    T0 only reads, T1 is a local check, T2 a simulation, T3 changes state, however much of it; what is none of these is
    unknown. The last two wait. The rules of .gemba/approvals.toml come before what Gemba knows itself.

    \b
    Example:
      gemba approval risk "make test && git push"
    """
    line = standard_input() if line == "-" else line
    root = open_workspace(None if folder is None else Path(folder)).root
    found = classify(line, workspace_rules(root))
    waits = found.level in ASKED_ABOUT
    if as_json:
        parts = [part._asdict() for part in found.parts]
        print_json({"level": found.level, "reason": found.reason, "waits": waits, "parts": parts})
        return
    then = "it waits for approval" if waits else "it is not asked about"
    click.echo(f"{found.level}: {showable(found.reason)}; {then}")
    for part in found.parts if len(found.parts) > 1 else ():
        click.echo(f"  {part.level:<8}{letters_in_line(part.command, width() - 10)}")


def _decide(folder: str | None, id: str, verb: str, body: dict[str, Any], *, one_step: bool = False) -> dict[str, Any]:
    with open_door(folder) as door:
        target = find_request(door, id, one_step=one_step)["id"]
        decided: dict[str, Any] = door.post(item_path("approvals", target, verb), body)
    return decided


def _read(folder: str | None, id: str) -> tuple[str, list[str]]:
    """The request's id and the seals of what would run. A plan, whose steps may be edited, is shown and asked about."""
    with open_door(folder) as door:
        item = find_request(door, id)
        if item["set_id"] is None or item["state"] != "pending":
            return item["id"], [item["hash"]]
        plan = [step for step in asked_by(door, item["escalation_id"]) if step["state"] == "pending"]
    for step in plan:
        click.echo("\n".join(request_lines(step, step["id"])) + "\n", err=True)
    many = "this plan of one command" if len(plan) == 1 else f"these {len(plan)} commands, in this order"
    click.confirm(f"Approve {many}?", abort=True, err=True)
    return item["id"], [step["hash"] for step in plan]


def _told(item: dict[str, Any], done: str, rest: str) -> str:
    if item["state"] == "pending" and done != "edited":
        return f"proposed for {item['id']}: it waits to be verified, as its policy wants"
    return f"{done} {item['id']}: {rest}"


def _summary(page: dict[str, Any], everything: bool) -> str:
    shown, total = len(page["approvals"]), page["total"]
    if not total:
        return "There are no requests." if everything else "Nothing waits for approval."
    rest = f", the newest {shown} shown" if shown < total else ""
    noun = "in all" if everything else "waiting"
    return f"{total} {noun}{rest}. Decide with: gemba approval approve, edit or refuse ID"
