"""`gemba ack`: say that something was seen."""

from __future__ import annotations

import click

from gemba.cli.complete import ids_of
from gemba.cli.door import find_id, item_path, open_door
from gemba.cli.show import json_option, print_json


@click.command()
@click.argument("id", shell_complete=ids_of("escalations", state="unresolved"))
@json_option
@click.pass_obj
def command(folder: str | None, id: str, as_json: bool) -> None:
    """Say that you have seen the escalation ID: nobody is reminded of it any more, and it still waits for an answer.

    \b
    Example:
      gemba ack 3fa9c1
    """
    with open_door(folder) as door:
        target = find_id(door, "escalation", id, state="unresolved")
        seen = door.post(item_path("escalations", target, "ack"), {})
    if as_json:
        print_json(seen)
    else:
        click.echo(f"seen {seen['id']}; it waits for your answer without reminders")
