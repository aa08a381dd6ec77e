"""`gemba reject`: refuse a proposed answer."""

from __future__ import annotations

import click

from gemba.cli.complete import ids_of
from gemba.cli.door import find_id, item_path, open_door
from gemba.cli.show import json_option, print_json


@click.command()
@click.argument("id", shell_complete=ids_of("escalations", state="unresolved"))
@click.argument("text")
@json_option
@click.pass_obj
def command(folder: str | None, id: str, text: str, as_json: bool) -> None:
    """Refuse the answer that was proposed for the escalation ID; TEXT says why. It waits for another one.

    \b
    Example:
      gemba reject 3fa9c1 "that port is taken on the staging machine"
    """
    with open_door(folder) as door:
        target = find_id(door, "escalation", id, state="unresolved")
        rejected = door.post(item_path("escalations", target, "reject"), {"text": text})
    if as_json:
        print_json(rejected)
    else:
        click.echo(f"refused what was proposed for {rejected['id']}; it waits for another answer")
