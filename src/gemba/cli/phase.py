"""`gemba phase`: which phase the project is in, and to say that it is in another."""

from __future__ import annotations

import click

from gemba.cli.door import open_door
from gemba.cli.show import json_option, local_time, print_json, print_table, tell
from gemba.text import showable

_PHASES = ("ideation", "design", "building", "validating", "shipping", "commercialization")


@click.command()
@click.argument("phase", metavar="[SET]", required=False, type=click.Choice(_PHASES))
@json_option
@click.pass_obj
def command(folder: str | None, phase: str | None, as_json: bool) -> None:
    """Show the phase that the project is in; with SET, say which it is in from now on.

    The phases are ideation, design, building, validating, shipping and commercialization; a project is in one of them
    at a time. Which purviews are active follows from it.

    \b
    Example:
      gemba phase
      gemba phase validating
    """
    with open_door(folder) as door:
        if phase is not None:
            before = door.get("/api/project/phase")["phase"]
            done = door.patch("/api/project/phase", {"phase": phase})
            line = f"{before} → {phase}" if before != phase else f"it is {phase} already"
            tell(done, as_json, line)
            return
        now, listed = door.get("/api/project/phase"), door.get("/api/phases")["phases"]
    if as_json:
        print_json({**now, "phases": listed})
        return
    rows = [("*" if row["current"] else "", row["phase"], row["meaning"]) for row in listed]
    print_table(("", "PHASE", "WHAT IT MEANS"), rows)
    if now["changed_at"] is not None:
        click.echo(f"\nSince {local_time(now['changed_at'])}, by {showable(now['changed_by'])}.")
