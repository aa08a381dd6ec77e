"""`gemba overturn`: decide otherwise than an agent did."""

from __future__ import annotations

import click

from gemba.cli.complete import ids_of
from gemba.cli.door import act
from gemba.cli.show import json_option, tell


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
    overturned = act(folder, "assumption", id, "overturn", {"text": text})
    tell(overturned, as_json, f"overturned {overturned['id']}; the agent has not read it yet")
