"""`gemba confirm`: agree, as a second person, to a proposed answer."""

from __future__ import annotations

import click

from gemba.cli.complete import ids_of
from gemba.cli.door import find_id, item_path, open_door
from gemba.cli.show import json_option, print_json
from gemba.text import one_line


@click.command()
@click.argument("id", shell_complete=ids_of("escalations", state="unresolved"))
@json_option
@click.pass_obj
def command(folder: str | None, id: str, as_json: bool) -> None:
    """Agree to the answer that somebody else proposed for the escalation ID: it is given now.

    \b
    Example:
      gemba confirm 3fa9c1
    """
    with open_door(folder) as door:
        target = find_id(door, "escalation", id, state="unresolved")
        confirmed = door.post(item_path("escalations", target, "confirm"), {})
    if as_json:
        print_json(confirmed)
    else:
        click.echo(f"answered {confirmed['id']}: {one_line(confirmed['resolution']['text'], 80)}")
