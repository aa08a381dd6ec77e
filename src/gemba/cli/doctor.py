"""`gemba doctor`: what works and what does not."""

from __future__ import annotations

import sys

import click

from gemba.cli.door import open_door
from gemba.cli.show import json_option, print_json
from gemba.text import showable

_MARKS = {"ok": ("ok", "green"), "warn": ("warn", "yellow"), "fail": ("FAIL", "red")}


@click.command()
@json_option
@click.pass_obj
def command(folder: str | None, as_json: bool) -> None:
    """Check the workspace, the session logs, the database and the server; exit 1 if something is broken.

    \b
    Example:
      gemba doctor
    """
    with open_door(folder) as door:
        found = door.get("/api/doctor")
        server = "running" if door.is_server else "not running: `gemba serve` starts it"
    if as_json:
        print_json(found)
    else:
        click.echo(f"{click.style('ok', fg='green'):>4}  Server: {server}")
        for check in found["checks"]:
            word, colour = _MARKS[check["status"]]
            click.echo(f"{click.style(word, fg=colour):>4}  {check['label']}: {showable(check['detail'])}")
            if check["hint"]:
                click.echo(f"      → {showable(check['hint'])}")
        click.echo("  ".join(f"{name} {value}" for name, value in sorted(found["counters"].items())))
    sys.exit(1 if found["status"] == "fail" else 0)
