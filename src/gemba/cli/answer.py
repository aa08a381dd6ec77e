"""`gemba answer`: the operator's reply, from the command line."""

from __future__ import annotations

import sys
from typing import Any

import click

from gemba.cli.complete import ids_of
from gemba.cli.door import find_id, item_path, open_door
from gemba.cli.show import json_option, print_json
from gemba.errors import Unusable
from gemba.text import one_line

_DELIVERY = {
    "none": "",
    "pending": "The agent has not read it yet.",
    "delivered": "The agent has it.",
    "undelivered": "It is not delivered",
}


@click.command()
@click.argument("id", shell_complete=ids_of("escalations", state="unresolved"))
@click.argument("text", required=False)
@click.option("-o", "--option", type=int, metavar="N", help="Choose one of the options by its number.")
@click.option("--decision", type=click.Choice(["yes", "no", "modify"]), help="Answer a client's own prompt.")
@click.option("--action", help="Take one of a system card's actions.")
@json_option
@click.pass_obj
def command(
    folder: str | None,
    id: str,
    text: str | None,
    option: int | None,
    decision: str | None,
    action: str | None,
    as_json: bool,
) -> None:
    """Answer the escalation ID with TEXT (`-` reads standard input) or with one of its options.

    ID may be the end of the id, as `gemba inbox` shows it.

    \b
    Example:
      gemba answer 3fa9c1 "use UTC everywhere"
      gemba answer 3fa9c1 --option 2
    """
    if text == "-":
        text = _standard_input()
    given: dict[str, Any] = {"text": text, "option": option, "decision": decision, "action": action}
    body = {name: value for name, value in given.items() if value is not None}
    if not body:
        raise click.UsageError("what is the answer? Give TEXT, --option N, --decision or --action.")
    with open_door(folder) as door:
        target = find_id(door, "escalation", id, state="unresolved")
        answered = door.post(item_path("escalations", target, "respond"), body)
    if as_json:
        print_json(answered)
        return
    click.echo(f"answered {answered['id']}: {one_line(answered['resolution']['text'], 80)}")
    delivery, note = _DELIVERY[answered["delivery"]], answered["delivery_note"]
    if delivery:
        click.echo(f"{delivery}: {note}." if note else delivery)


def _standard_input() -> str:
    if sys.stdin is None:
        raise Unusable("standard input is closed", code="no_input")
    return sys.stdin.buffer.read().decode("utf-8", "replace")
