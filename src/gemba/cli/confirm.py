"""`gemba confirm`: agree, as a second person, to a proposed answer."""

from __future__ import annotations

import click

from gemba.cli.complete import ids_of
from gemba.cli.door import act
from gemba.cli.show import json_option, tell
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
    given = act(folder, "escalation", id, "confirm", {}, state="unresolved")
    tell(given, as_json, f"answered {given['id']}: {one_line(given['resolution']['text'], 80)}")
