"""`gemba reopen`: undo what was concluded from typing in the pane."""

from __future__ import annotations

import click

from gemba.cli.complete import ids_of
from gemba.cli.door import find_id, item_path, open_door
from gemba.cli.show import json_option, print_json


@click.command()
@click.argument("id", shell_complete=ids_of("escalations", state="resolved"))
@json_option
@click.pass_obj
def command(folder: str | None, id: str, as_json: bool) -> None:
    """Open the escalation ID again, if it was typing in the agent's own window that resolved it.

    \b
    Example:
      gemba reopen 3fa9c1
    """
    with open_door(folder) as door:
        target = find_id(door, "escalation", id, state="resolved")
        reopened = door.post(item_path("escalations", target, "reopen"), {})
    if as_json:
        print_json(reopened)
    else:
        click.echo(f"open again: {reopened['id']}")
