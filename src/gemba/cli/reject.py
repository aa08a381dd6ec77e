"""`gemba reject`: refuse a proposed answer."""

from __future__ import annotations

import click

from gemba.cli.complete import ids_of
from gemba.cli.door import act
from gemba.cli.show import json_option, tell


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
    rejected = act(folder, "escalation", id, "reject", {"text": text}, state="unresolved")
    tell(rejected, as_json, f"refused what was proposed for {rejected['id']}; it waits for another answer")
