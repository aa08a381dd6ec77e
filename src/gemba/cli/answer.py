"""`gemba answer`: the operator's reply, from the command line."""

from __future__ import annotations

import sys
from typing import Any

import click

from gemba.cli.door import find_id, item_path, open_door
from gemba.cli.show import json_option, print_json
from gemba.text import one_line


@click.command()
@click.argument("id")
@click.argument("text", required=False)
@click.option("-o", "--option", type=int, help="Choose one of the options by its number.")
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
        text = sys.stdin.read()
    given: dict[str, Any] = {"text": text, "option": option, "decision": decision, "action": action}
    body = {name: value for name, value in given.items() if value is not None}
    if not body:
        raise click.UsageError("what is the answer? Give TEXT, --option N, --decision or --action")
    with open_door(folder) as door:
        target = find_id(door, "escalation", id, state="unresolved")
        answered = door.post(item_path("escalations", target, "respond"), body)
    if as_json:
        print_json(answered)
    else:
        words = one_line(answered["resolution"]["text"], 80)
        click.echo(f"answered {answered['id']}: {words} (delivery: {answered['delivery']})")
