"""`gemba overturn`: decide otherwise than an agent did."""

from __future__ import annotations

import click

from gemba.cli.complete import ids_of
from gemba.cli.door import find_id, item_path, open_door
from gemba.cli.show import json_option, print_json


@click.command()
@click.argument("id", shell_complete=ids_of("assumptions"))
@click.argument("text")
@json_option
@click.pass_obj
def command(folder: str | None, id: str, text: str, as_json: bool) -> None:
    """Overturn the assumption ID: TEXT says what to do instead, and reaches the agent with the commits made since.

    \b
    Example:
      gemba overturn 77b0e2 "keep the old column until the next release"
    """
    with open_door(folder) as door:
        target = find_id(door, "assumption", id)
        overturned = door.post(item_path("assumptions", target, "overturn"), {"text": text})
    if as_json:
        print_json(overturned)
    else:
        click.echo(f"overturned {overturned['id']}; the agent has not read it yet")
