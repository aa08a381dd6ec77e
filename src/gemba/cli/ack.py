"""`gemba ack`: say that something was seen."""

from __future__ import annotations

import click

from gemba.cli.complete import ids_of
from gemba.cli.door import act
from gemba.cli.show import json_option, tell


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
    seen = act(folder, "escalation", id, "ack", {}, state="unresolved")
    tell(seen, as_json, f"seen {seen['id']}; it waits for your answer without reminders")
