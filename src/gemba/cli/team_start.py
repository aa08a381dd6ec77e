"""`gemba team start`: a run is planned and begins; with --wait this process sees to it until it is over."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from gemba.cli.answer import standard_input
from gemba.cli.door import Door, item_path, open_door
from gemba.cli.item_text import PLURAL, find_item, item_ids
from gemba.cli.show import json_option, print_json, tell
from gemba.cli.team_found import Run, complete_run, find_run, short
from gemba.cli.team_plan_by import planned_by
from gemba.cli.team_text import OPEN, lines_of_plan, next_step, said_of
from gemba.cli.team_watch import echo_to, exit_code, follow
from gemba.text import showable

_MOST_ROLES = 5


@click.command()
@click.argument("text", required=False)
@click.option(
    "--epic", metavar="ID", shell_complete=item_ids(), help="The work item that it is for; TEXT may be left out."
)
@click.option("--agent", metavar="NAME", help="Who works, see `gemba agents`.  [default: as in workspace.toml]")
@click.option(
    "--max-roles", type=click.IntRange(1, _MOST_ROLES), default=_MOST_ROLES, show_default=True, help="At most."
)
@click.option(
    "--plan", "plan_file", metavar="FILE", type=click.Path(path_type=Path), help="Roles and tasks, as TOML or JSON."
)
@click.option("--plan-by", metavar="NAME", help="An agent that proposes the plan; it is used if no rule refuses it.")
@click.option("--max-parallel", type=click.IntRange(1, 1_000), metavar="N", help="Tasks at once.")
@click.option("--reviewer", metavar="NAME", help="Who reviews: builtin, person, or a role.  [default: builtin]")
@click.option(
    "--on-complete", type=click.Choice(["keep", "merge", "archive"]), help="What follows at its end.  [default: keep]"
)
@click.option("--plan-only", is_flag=True, help="Show the plan and how it came about; nothing begins.")
@click.option(
    "--planned", metavar="RUN", shell_complete=complete_run(state="planned"), help="Start what --plan-only left."
)
@click.option("--wait", is_flag=True, help="See to it until it is over, without a server too; then print its report.")
@click.option("--unattended", is_flag=True, help="With --wait: end with 1 as soon as only a person could let it go on.")
@json_option
@click.pass_obj
def command(
    folder: str | None,
    /,
    text: str | None,
    plan_only: bool,
    planned: str | None,
    plan_by: str | None,
    wait: bool,
    unattended: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Plan a team run for TEXT (`-`: standard input), and start it. TEXT is what is to be done, whatever it reads like.

    With --wait progress goes to stderr and the report to stdout; it exits 0 when all that was asked for is done, with
    or without warnings, and 1 otherwise: also when a task only surveyed what needs a model. Ctrl-C leaves the run as it
    stands: `gemba team watch` or `gemba serve` takes it up.

    \b
    Example:
      gemba team start "investigate the slow query, fix it and test it"
      gemba team start --plan-only "compare three queues and write a report"
      gemba team start --plan release.toml --wait --unattended
      gemba team start --plan-by claude --plan-only "port the parser"
    """
    if wait and plan_only:
        raise click.UsageError("--plan-only begins nothing that --wait could wait for.")
    if unattended and not wait:
        raise click.UsageError("--unattended goes with --wait.")
    if planned is not None and (text is not None or plan_only or plan_by is not None or any(_said(given))):
        raise click.UsageError("--planned goes with --wait, --unattended and --json alone.")
    if plan_by is not None and given["plan_file"] is not None:
        raise click.UsageError("--plan is a plan already; --plan-by asks for one.")
    run, seen, is_server = _begun(folder, text, given, plan_only=plan_only, planned=planned, plan_by=plan_by)
    if wait:
        _see_to(folder, run, seen, unattended, as_json)
    proposed = given["plan_file"] is not None or run["planned_by"] is not None
    tell(run, as_json, "\n".join(_lines(run, is_server, plan_only=plan_only, proposed=proposed)))


def _begun(
    folder: str | None,
    text: str | None,
    given: dict[str, Any],
    *,
    plan_only: bool,
    planned: str | None,
    plan_by: str | None,
) -> tuple[Run, int, bool]:
    """The run, the last event before it, and whether a server runs."""
    with open_door(folder) as door:
        seen = door.get("/api/teams", limit=1)["as_of"]
        body = {} if planned is not None else _body(door, text, given)
        if planned is None and plan_by is None:
            return door.post("/api/teams", body | {"plan_only": plan_only}), seen, door.is_server
    proposed = None if plan_by is None else planned_by(folder, plan_by, body, seen)
    with open_door(folder) as door:
        if proposed is not None and plan_only:
            return proposed, seen, door.is_server
        id = proposed["id"] if proposed is not None else find_run(door, planned)
        return door.post(item_path("teams", id, "start"), {}), seen, door.is_server


def _said(given: dict[str, Any]) -> list[str]:
    return [name for name, value in given.items() if value is not None and (name, value) != ("max_roles", _MOST_ROLES)]


def _body(door: Door, text: str | None, given: dict[str, Any]) -> dict[str, Any]:
    settings = {name: given[name] for name in ("max_parallel", "reviewer", "on_complete") if given[name] is not None}
    epic = None if given["epic"] is None else find_item(door, given["epic"])
    body = {
        "text": _text(door, text, epic, given["plan_file"]),
        "epic_id": epic,
        "agent": given["agent"],
        "max_roles": given["max_roles"],
        "plan": None if given["plan_file"] is None else read_plan(given["plan_file"], given["max_roles"]),
        "settings": settings or None,
    }
    return {name: value for name, value in body.items() if value is not None}


def _text(door: Door, text: str | None, epic: str | None, plan_file: Path | None) -> str:
    """What is to be done: as it was given, else what the work item says, else the name of the plan."""
    if text is not None:
        return standard_input() if text == "-" else text
    if epic is not None:
        item = door.get(item_path(PLURAL, epic))
        return "\n\n".join(part for part in (item["title"], item["description"], item["acceptance"]) if part)
    if plan_file is not None:
        return f"Do what {showable(plan_file.name)} says"
    raise click.UsageError("Missing argument 'TEXT': what is to be done; or --epic ID, --plan FILE or --planned RUN.")


def read_plan(path: Path, max_roles: int) -> dict[str, Any]:
    """The plan of a file as the API takes one; a fault names the file and the line."""
    import msgspec

    from gemba.teams.plan_file import read_plan_file

    plan = read_plan_file(path, max_roles=max_roles)
    names = ("id", "owner", "goal", "blocked_by", "options")
    tasks = [{name: msgspec.to_builtins(getattr(task, name)) for name in names} for task in plan.tasks]
    return {"roles": msgspec.to_builtins(plan.roles), "tasks": tasks}


def _lines(run: Run, is_server: bool, *, plan_only: bool, proposed: bool) -> list[str]:
    id = short(run["id"])
    if plan_only:
        return [
            *lines_of_plan(run, proposed=proposed),
            "",
            *said_of(run),
            f"Start it with: gemba team start --planned {id}",
        ]
    return [*said_of(run), next_step(run, is_server) or f"See how it goes with: gemba team status {id}"]


def _see_to(folder: str | None, run: Run, seen: int, unattended: bool, as_json: bool) -> None:
    """To the end of the run, and of this process."""
    for line in said_of(run):
        click.echo(line, err=True)
    over = follow(folder, run, seen, echo_to(err=True), unattended=unattended)
    if over["state"] in OPEN:
        click.echo(f"gemba: {over['id']} waits for a person; see gemba team status {short(over['id'])}", err=True)
    elif over["left"]:
        click.echo(f"gemba: {over['left']}", err=True)
    if as_json:
        print_json(over)
    elif over["report"] is not None:
        click.echo(showable(over["report"]), nl=False)
    sys.exit(exit_code(over))
