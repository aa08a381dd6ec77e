"""`gemba dismiss`: decline to answer."""

from __future__ import annotations

import click

from gemba.cli.complete import ids_of
from gemba.cli.door import act
from gemba.cli.show import json_option, tell


@click.command()
@click.argument("id", shell_complete=ids_of("escalations", state="unresolved"))
@click.argument("reason", default="")
@json_option
@click.pass_obj
def command(folder: str | None, id: str, reason: str, as_json: bool) -> None:
    """Decline to answer the escalation ID; the asker is told so, with the REASON if you give one.

    \b
    Example:
      gemba dismiss 3fa9c1 "not needed any more"
    """
    dismissed = act(folder, "escalation", id, "dismiss", {"text": reason}, state="unresolved")
    tell(dismissed, as_json, f"dismissed {dismissed['id']}; the asker is told that you declined")
