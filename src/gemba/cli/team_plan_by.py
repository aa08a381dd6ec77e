"""How `gemba team start --plan-by` gets its plan: the coordinator is asked, waited for, and its plan applied.

Three requests that anybody could make: a consult, the line of it that plans a run, the start of that run. What was
asked is kept whatever becomes of this process: `gemba consult show` has it, and its plan can be applied later.
"""

from __future__ import annotations

import contextlib
from typing import Any

import click

from gemba.cli.door import item_path, open_door
from gemba.cli.team_found import Run

_OVER = "consult.finished"


def planned_by(folder: str | None, agent: str, body: dict[str, Any], seen: int) -> Run:
    """The run, planned and not begun. `body` is what a run is started with; `seen` is the last event that is known."""
    with open_door(folder) as door:
        asked = {"persona_id": "coordinator", "skill_id": "team_plan", "raw_input": body, "agent_type": agent}
        consult = door.post("/api/consults", asked)
    id = consult["id"]
    if consult["status"] == "running":
        click.echo(f"{agent} plans; see gemba consult show {id}", err=True)
    while consult["status"] == "running":
        with open_door(folder) as door:
            consult = door.get(item_path("consults", id))
            if consult["status"] == "running":
                with contextlib.closing(door.events(seen, _OVER)) as events:
                    any(event["ref"] == id for event in events)  # up to that one
                consult = door.get(item_path("consults", id))
    if consult["status"] != "completed":
        raise click.ClickException(f"the consult {id} is {consult['status']}: {consult['error'] or 'no plan came'}")
    if consult["error"]:
        click.echo(f"gemba: {consult['error']}", err=True)
    with open_door(folder) as door:
        last = len(door.get(item_path("consults", id))["validated_lines"]) - 1
        run: Run = door.post(item_path("consults", id, f"apply/{last}"), {})["outcome"]["answer"]
    return run
