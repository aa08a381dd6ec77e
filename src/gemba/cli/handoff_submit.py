"""`gemba handoff submit`, `list` and `show`: the end of a turn handed over, and what became of those before.

Works through the running server or, without one, on the workspace itself. What is being checked is waited for: without
a server this process does what one would, and a server that goes away meanwhile is done without.
"""

from __future__ import annotations

import sys
from contextlib import closing
from functools import partial
from typing import Any

import click

from gemba.cli.complete import ids_of
from gemba.cli.door import Door, find_id, item_path, open_door
from gemba.cli.handoff_text import read_bounded
from gemba.cli.show import age, body_lines, headline, json_option, labelled, local_time, print_items, print_json
from gemba.handoff.block import MAX_TEXT, find_block
from gemba.handoff.fields import PLAN_STATUSES
from gemba.text import showable

_COLOURS = {"accepted": "green", "refused": "red", "checking": "yellow"}
_WHY = {
    "verdict": "it breaks the contract",
    "status": "its status does not follow",
    "world": "it claims what was not found",
    "repairs_spent": "it was not repaired",
}
_CONCLUDED = "handoff.accepted,handoff.refused"
_LONGEST_BODY = 400_000  # characters of a text that goes to the server as it is
_LINES_OF_SUMMARY = 3  # in a list


@click.command(short_help="Hand over the end of a turn.")
@click.argument("file")
@click.option(
    "--dispatch", "dispatch_id", metavar="ID", envvar="GEMBA_DISPATCH_ID", help="Whose.  [default: $GEMBA_DISPATCH_ID]"
)
@click.option(
    "--session", "session_id", metavar="ID", envvar="GEMBA_SESSION_ID", help="In which.  [default: $GEMBA_SESSION_ID]"
)
@click.option("--strict", is_flag=True, help="Refuse fields that are not known.")
@json_option
@click.pass_obj
def submit(
    folder: str | None, file: str, dispatch_id: str | None, session_id: str | None, strict: bool, as_json: bool
) -> None:
    """Hand over the text in FILE (`-`: standard input) as the end of a turn, and say what became of it.

    A COMPLETE is compared with the world first, as the gate of its dispatch says; this waits for it.

    Exit codes: 0 accepted; 1 refused, or it could not be handed over; 2 the command line is wrong.

    \b
    Example:
      gemba handoff submit turn.md --dispatch 3fa9c1
      GEMBA_DISPATCH_ID=… gemba handoff submit - --json < turn.md
    """
    body = {**_words(read_bounded(file, MAX_TEXT)), "strict": strict, "source": "cli"}
    if session_id:
        body["session_id"] = session_id
    made = _hand_over(folder, body, dispatch_id)
    if as_json:
        print_json(made)
    else:
        click.echo("\n".join(_lines(made, made["id"]) + _details(made)))
        if made["told"]:
            click.echo(f"\n{showable(made['told'])}")
        elif made["dispatch_id"] is None:
            click.echo("It belongs to no dispatch (--dispatch), so nothing was compared with the world.", err=True)
    sys.exit(0 if made["state"] == "accepted" else 1)


def _words(data: bytes) -> dict[str, Any]:
    """The text; of one too long for a request the envelope that is in it, else its end, which has no other verdict."""
    text = data.decode("utf-8", "replace")
    if len(text) <= _LONGEST_BODY:
        return {"text": text}
    found = find_block(data).body
    return {"text": text[-_LONGEST_BODY:]} if found is None else {"envelope": found}


def _hand_over(folder: str | None, body: dict[str, Any], dispatch_id: str | None) -> dict[str, Any]:
    with open_door(folder) as door:
        if dispatch_id:
            body = {**body, "dispatch_id": find_id(door, "dispatch", dispatch_id)}
        after = door.get("/api/handoffs", limit=1)["as_of"]
        made: dict[str, Any] = door.post("/api/handoffs", body)
        made = _concluded(door, made, after)
    while made["state"] == "checking":  # the server went away
        with open_door(folder) as door:
            made = _concluded(door, door.get(item_path("handoffs", made["id"])), after)
    return made


def _concluded(door: Door, made: dict[str, Any], after: int) -> dict[str, Any]:
    """The handoff once it is accepted or refused; still being checked only where the door is gone."""
    if made["state"] != "checking":
        return made
    with closing(door.events(after, _CONCLUDED)) as told:
        if any(event["ref"] == made["id"] for event in told):
            made = door.get(item_path("handoffs", made["id"]))
    return made


@click.command("list", short_help="Show how turns ended.")
@click.option("--dispatch", metavar="ID", help="Of this one alone.")
@click.option("--session", metavar="ID", help="Of this one alone.")
@click.option("--state", metavar="STATES", help="Only accepted, refused or checking; several with commas.")
@click.option("--status", "plan_status", type=click.Choice(PLAN_STATUSES), help="Only with this plan status.")
@click.option("--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="At most this many.")
@json_option
@click.pass_obj
def show_list(folder: str | None, /, dispatch: str | None, limit: int, as_json: bool, **wanted: str | None) -> None:
    """Show how turns ended, newest first.

    \b
    Example:
      gemba handoff list --state refused
      gemba handoff list --dispatch 3fa9c1 --json
    """
    with open_door(folder) as door:
        if dispatch is not None:
            dispatch = find_id(door, "dispatch", dispatch)
        page = door.get("/api/handoffs", limit=limit, dispatch=dispatch, **wanted)
    if as_json:
        print_json(page)
        return
    print_items(page["handoffs"], partial(_lines, most=_LINES_OF_SUMMARY))
    shown, total = len(page["handoffs"]), page["total"]
    rest = f", the newest {shown} shown." if shown < total else "."
    click.echo(f"{total} in all{rest}" if total else "No turn ended in a handoff.")


@click.command(short_help="Show one handoff in full.")
@click.argument("id", shell_complete=ids_of("handoffs"))
@json_option
@click.pass_obj
def show(folder: str | None, id: str, as_json: bool) -> None:
    """Show the handoff ID: the verdict, what was claimed and what was found, and what came of it.

    \b
    Example:
      gemba handoff show 3fa9c1
    """
    with open_door(folder) as door:
        item = door.get(item_path("handoffs", find_id(door, "handoff", id)))
    if as_json:
        print_json(item)
        return
    click.echo("\n".join(_lines(item, item["id"]) + _details(item)))
    if item["told"]:
        click.echo(f"\n{showable(item['told'])}")


def _lines(item: dict[str, Any], id: str, most: int | None = None) -> list[str]:
    turn = f"turn {item['turn']}" if item["turn"] else None
    by = _WHY.get(item["refused_by"])
    facts = [item["plan_status"], by, item["source"], item["session_id"], turn, f"{age(item['created_at'])} ago"]
    lines = headline(item["state"], _COLOURS[item["state"]], id, facts)
    return lines + body_lines(item["summary"], most) if item["summary"] else lines


def _details(item: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    for label, name in (("dispatch:", "dispatch_id"), ("agent:", "agent_id"), ("escalation:", "escalation_id")):
        if item[name]:
            lines += labelled(label, item[name])
    if item["concluded_at"]:
        lines += labelled("concluded:", local_time(item["concluded_at"]))
    for finding in item["verdict"]["findings"]:
        lines += labelled(f"{finding['severity']}:", f"{finding['code']}  {finding['message']} ({finding['hint']})")
    for check in item["checks"]:
        note = f" ({check['note']})" if check["note"] else ""
        words = f"claimed {check['claimed']}; found {check['found']}{note}"
        lines += labelled(f"{check['verdict']}:", f"{check['name']}: {words}")
    return lines + _applied(item["applied"])


def _applied(applied: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    for one in applied["contracts"]:
        lines += labelled("updated:", f"{one['contract']}, revision {one['revision']}")
    if applied["memory"]:
        lines += labelled("to remember:", f"{len(applied['memory'])} suggested; gemba memory list shows them")
    for warning in applied["warnings"]:
        lines += labelled("warning:", f"{warning['pointer']}: {warning['message']}")
    return lines
