"""`gemba reopen`: undo what was concluded from typing in the pane."""

from __future__ import annotations

import click

from gemba.cli.complete import ids_of
from gemba.cli.door import act
from gemba.cli.show import json_option, tell


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
    reopened = act(folder, "escalation", id, "reopen", {}, state="resolved")
    tell(reopened, as_json, f"open again: {reopened['id']}")
