"""What `gemba team` shows: how runs stand, their list, one whole, one task, a report, an artifact."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import click

from gemba.cli.door import Door, item_path, open_door
from gemba.cli.show import json_option, print_json
from gemba.cli.team_found import (
    PLANNED,
    UNDER_WAY,
    Run,
    complete_run,
    complete_words,
    find_run,
    get_run,
    looks_like_task,
    newest_begun,
    parted,
    run_and_task,
    task_path,
)
from gemba.cli.team_task_text import lines_of_task
from gemba.cli.team_text import NEEDS_PERSON, lines_of_list, lines_of_run, lines_of_status, lines_of_wait, next_step
from gemba.errors import NotFound
from gemba.text import showable, storable

_STATES = ("planned", "running", "paused", "completed", "completed_with_warnings", "failed", "cancelled")
_MOST_RUNS = 20
_MOST_CARDS = 10
_NONE_YET = 'There is no team run yet. Begin one with: gemba team start "what is to be done"'


@click.command(short_help="What runs, what waits for you, what failed and why.")
@click.argument("run", required=False, shell_complete=complete_run())
@json_option
@click.pass_obj
def status(folder: str | None, run: str | None = None, as_json: bool = False) -> None:
    """Show how RUN stands: what is at work, what waits for you and the commands that answer it, what failed and why,
    what it took. Without RUN all that are under way, else the newest that has begun, else what is planned.

    \b
    Example:
      gemba team status 3fa9
      gemba team status --json | jq '.runs[].waits_for_you'
    """
    with open_door(folder) as door:
        if run is not None:
            found = [get_run(door, run)]
        else:
            found = [door.get(item_path("teams", row["id"])) for row in _usual(door)]
        if as_json:
            print_json({"runs": found} if run is None else found[0])
            return
        shown = ["\n".join([*lines_of_status(each, _waiting(door, each)), *_step(each, door)]) for each in found]
        planned = door.get("/api/teams", state=PLANNED, limit=1)["total"] if run is None else 0
    click.echo("\n\n".join(shown) if shown else _NONE_YET)
    if planned and found[0]["state"] != PLANNED:
        click.echo(f"\n{planned} only planned: gemba team list --state planned")


def _usual(door: Door) -> list[Run]:
    """All that are under way, else the newest that has begun, else what is planned."""
    under_way: list[Run] = door.get("/api/teams", state=UNDER_WAY, limit=_MOST_RUNS)["runs"]
    found = under_way or newest_begun(door) or door.get("/api/teams", state=PLANNED, limit=_MOST_RUNS)["runs"]
    return found or list(door.get("/api/teams", limit=1)["runs"])


def _step(run: Run, door: Door) -> list[str]:
    step = next_step(run, door.is_server)
    return [step] if step else []


def _waiting(door: Door, run: Run) -> list[list[str]]:
    """What waits for a person, with what was asked of them."""
    waiting = [task for task in run["all_tasks"] if task["state"] in NEEDS_PERSON]
    return [lines_of_wait(run, task, card_of(door, task, at)) for at, task in enumerate(waiting)]


def card_of(door: Door, task: dict[str, Any], place: int = 0) -> dict[str, Any] | None:
    """What a person was asked for a task; of the first few, since each is a read of its own."""
    if task["escalation_id"] is None or place >= _MOST_CARDS:
        return None
    try:
        card: dict[str, Any] = door.get(item_path("escalations", task["escalation_id"]))
    except NotFound:
        return None
    return card


@click.command("list", short_help="List runs, newest first.")
@click.option("--state", metavar="LIST", help=f"Only these, as a comma list: {', '.join(_STATES)}.")
@click.option("--limit", type=click.IntRange(1, 500), default=20, show_default=True, help="At most this many.")
@json_option
@click.pass_obj
def show_list(folder: str | None, state: str | None, limit: int, as_json: bool) -> None:
    """List team runs, newest first: how far each is, what waits for you, what it took.

    \b
    Example:
      gemba team list --state running,paused
    """
    with open_door(folder) as door:
        page = door.get("/api/teams", state=state, limit=limit)
    if as_json:
        print_json(page)
        return
    for run in page["runs"]:
        click.echo("\n".join(lines_of_list(run)) + "\n")
    rest = f", the newest {len(page['runs'])} shown" if len(page["runs"]) < page["total"] else ""
    click.echo(f"{page['total']} in all{rest}." if page["total"] else "None." if state else _NONE_YET)


@click.command(short_help="Show a run with all its tasks, or one task.")
@click.argument("words", nargs=-1, metavar="[RUN] [TASK]", shell_complete=complete_words())
@json_option
@click.pass_obj
def show(folder: str | None, words: tuple[str, ...], as_json: bool) -> None:
    """Show RUN with every task as a picture of what waits for what; or one TASK: its attempts, the score of each
    dimension with its reason, and the checks that failed with their evidence.

    \b
    Example:
      gemba team show 3fa9
      gemba team show 3fa9 impl-001
    """
    given, task = run_and_task(words)
    with open_door(folder) as door:
        if task is None:
            run = get_run(door, given)
            lines = lines_of_run(run) if not as_json else []
            found: dict[str, Any] = run
        else:
            id = find_run(door, given)
            found = door.get(task_path(id, task))
            lines = lines_of_task(id, found, _artifacts(door, id, task)) if not as_json else []
    if as_json:
        print_json(found)
    else:
        click.echo("\n".join(lines))


@click.command(short_help="Print what came of a run.")
@click.argument("run", required=False, shell_complete=complete_run())
@json_option
@click.pass_obj
def report(folder: str | None, run: str | None, as_json: bool) -> None:
    """Print the report of RUN, as Markdown. A run has one as soon as it is over.

    \b
    Example:
      gemba team report 3fa9 > report.md
    """
    with open_door(folder) as door:
        found = get_run(door, run)
    if as_json:
        print_json({"id": found["id"], "state": found["state"], "report": found["report"]})
    elif found["report"] is None:
        raise click.ClickException(f"{found['id']} is {found['state']}: it has a report when it is over")
    else:
        click.echo(showable(found["report"]), nl=False)


@click.command(short_help="Print what a task wrote down.")
@click.argument("words", nargs=-1, metavar="[RUN] NAME", shell_complete=complete_words())
@click.option("--version", type=click.IntRange(1), metavar="N", help="As this version of its task left it.")
@json_option
@click.pass_obj
def artifact(folder: str | None, words: tuple[str, ...], version: int | None, as_json: bool) -> None:
    """Print the artifact NAME of RUN, as the latest version of its task left it. The id of a task that wrote only one
    names it too.

    \b
    Example:
      gemba team artifact 3fa9 RESEARCH-001-survey.md
      gemba team artifact 3fa9 research-001 --version 1
    """
    given, name = parted(words, "NAME")
    with open_door(folder) as door:
        id = find_run(door, given)
        path = item_path("teams", id, f"artifacts/{quote(storable(_named(door, id, str(name))), safe='')}")
        found = door.get(path, version=version)
    if as_json:
        print_json(found)
    else:
        click.echo(showable(found["content"]), nl=not found["content"].endswith("\n"))


def _named(door: Door, run_id: str, name: str) -> str:
    """The name as it is, or that of the only artifact of the task that it names."""
    if not looks_like_task(name):
        return name
    task = name.upper()
    names = sorted({each["name"] for each in _artifacts(door, run_id, task)})
    if len(names) == 1:
        return str(names[0])
    if not names:
        raise NotFound(f"{task} of {run_id} has no artifact yet", code="not_found", found=task)
    raise click.UsageError(f"{task} wrote {len(names)}; allowed: {', '.join(map(showable, names))}.")


def _artifacts(door: Door, run_id: str, task: str) -> list[dict[str, Any]]:
    known = door.get(item_path("teams", run_id, "knowledge"))["tasks"]
    return next((each["artifacts"] for each in known if each["task_id"] == task), [])
