"""`gemba undo`: take answers back that nobody has got yet."""

from __future__ import annotations

import sys

import click

from gemba.cli.complete import ids_of
from gemba.cli.door import find_id, open_door
from gemba.cli.show import json_option, print_json
from gemba.text import one_line


@click.command()
@click.argument("ids", metavar="ID...", nargs=-1, required=True, shell_complete=ids_of("escalations", state="resolved"))
@json_option
@click.pass_obj
def command(folder: str | None, ids: tuple[str, ...], as_json: bool) -> None:
    """Take back the answers to the escalations ID..., as long as they are held back (`gemba answer --hold`).

    \b
    Example:
      gemba undo 3fa9c1
      gemba undo 3fa9c1 77b0e2
    """
    with open_door(folder) as door:
        targets = [find_id(door, "escalation", id, state="resolved") for id in ids]
        undone = door.post("/api/escalations/reopen", {"ids": targets})
    if as_json:
        print_json(undone)
    else:
        for one in undone["reopened"]:
            click.echo(f"open again: {one['id']}")
        for one in undone["refused"]:
            click.echo(f"not undone {one['id']}: {one_line(one['detail'], 200)}")
    sys.exit(0 if undone["reopened"] else 1)
