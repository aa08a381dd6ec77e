"""`gemba team watch`: a run, live, to its end; and how `gemba team start --wait` waits.

Without a server this process does what a server does while it watches: it runs the team. A run does not die with its
terminal: Ctrl-C ends the watching alone. Agents that are at work go on by themselves, and whoever watches, serves or
works next takes the run up where it stood.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable
from typing import Any

import click

from gemba.cli.door import Door, item_path, open_door
from gemba.cli.show import json_option, local_time, print_json, width
from gemba.cli.team_found import Run, complete_run, find_run, short
from gemba.cli.team_picture import MARKS, state_mark
from gemba.cli.team_reads import card_of
from gemba.cli.team_text import AT_WORK, COLOURS, DONE, NEEDS_PERSON, OPEN, is_answered, lines_of_wait, stands_still
from gemba.errors import Unusable
from gemba.text import fold, one_line

NEWS = "team.started,team.changed,team.task_changed,team.finished"
_PAUSE_SECONDS = 0.5
_LONGEST = 300
_MOST_ASKED = 6  # lines of a question

Tell = Callable[[Door, dict[str, Any]], None]


@click.command()
@click.argument("run", required=False, shell_complete=complete_run())
@click.option("--unattended", is_flag=True, help="End with 1 as soon as only a person could let it go on.")
@json_option
@click.pass_obj
def command(folder: str | None, run: str | None, unattended: bool, as_json: bool) -> None:
    """Follow RUN, a line a change, until it is over: exit 0 when what was asked for is done, 1 otherwise.

    Without a server this process runs the team meanwhile. Ctrl-C ends the watching and not the run: agents that are at
    work go on, and `gemba team watch` or `gemba serve` takes it up again.

    \b
    Example:
      gemba team watch 3fa9
      gemba team watch --json | jq -r 'select(.task_id) | "\\(.task_id) \\(.state)"'
    """
    with open_door(folder) as door:
        id = find_run(door, run)
        seen = door.get("/api/teams", limit=1)["as_of"]
        found = door.get(item_path("teams", id))
    if found["state"] == "planned":
        raise click.ClickException(
            f"{id} is only planned; start it with: gemba team start --planned {short(id)} --wait"
        )
    if as_json:
        _print_change({"at": found["created_at"], "event": "seen", **_of_run(found)})
    else:
        click.echo(_headline(found))
    tell = (lambda _, event: _print_change(change_of(event))) if as_json else _echo
    over = follow(folder, found, seen, tell, unattended=unattended)
    if over["state"] in OPEN and unattended:
        click.echo(f"gemba: {over['id']} waits for a person; see gemba team status {short(over['id'])}", err=True)
    if over["left"] and not as_json:
        click.echo(over["left"])
    sys.exit(exit_code(over))


def follow(folder: str | None, run: Run, seen: int, tell: Tell, *, unattended: bool = False) -> Run:
    """The run as it is when it is over, or when unattended only a person could let it go on. What happens after the
    event `seen` is told; a server that ends or starts meanwhile makes no difference."""
    try:
        while True:
            with open_door(folder) as door:
                try:
                    is_done, seen = _follow_door(door, run, seen, tell, unattended)
                except Unusable as error:
                    if error.code != "server_unreachable":
                        raise
                    is_done = False
            if is_done:
                break
            click.echo("gemba: the server has ended; running the team without it", err=True)
            time.sleep(_PAUSE_SECONDS)  # one that ends its streams and goes on must not be asked without end
        # Whoever opens the workspace next writes what the run's folder lacks.
        with open_door(folder) as door:
            final: Run = door.get(item_path("teams", run["id"]))
            return final
    except KeyboardInterrupt:
        id = short(run["id"])
        how = f"it goes on with `gemba team watch {id}` or `gemba serve`, and ends with `gemba team cancel {id}`"
        raise click.ClickException(f"{run['id']} is left as it stands; {how}") from None


def _follow_door(door: Door, run: Run, seen: int, tell: Tell, unattended: bool) -> tuple[bool, int]:
    """Whether there is nothing more to wait for, and which event was the last; false when the door is gone."""
    if _is_enough(door, run, unattended):
        return True, seen
    with contextlib.closing(door.events(seen, NEWS)) as events:
        for event in events:
            seen = event.get("id", seen)
            if "name" in event:
                if not _is_of(run, event):
                    continue
                tell(door, event)
                if not _may_end(event, unattended):
                    continue
            # What has no name is a gap: something is no longer told, the run's end perhaps.
            if _is_enough(door, run, unattended, is_over=event.get("name") != "team.task_changed"):
                return True, seen
    return False, seen


def _is_enough(door: Door, run: Run, unattended: bool, *, is_over: bool = True) -> bool:
    """`is_over`: also when the run is over; behind its last task's end that is still to be told."""
    now: Run = door.get(item_path("teams", run["id"]))
    return is_over if now["state"] not in OPEN else unattended and needs_person(door, now)


def needs_person(door: Door, run: Run) -> bool:
    """Whether nothing of a run moves before a person does something: what is answered already does."""
    waiting = [task for task in run["all_tasks"] if task["state"] in NEEDS_PERSON]
    if run["state"] == "running" and waiting:
        return stands_still(run) and not any(is_answered(task, card_of(door, task)) for task in waiting)
    return stands_still(run)


def _is_of(run: Run, event: dict[str, Any]) -> bool:
    of: str = str(event.get("ref") or "").partition("/")[0]
    id: str = run["id"]
    return of == id


def _may_end(event: dict[str, Any], unattended: bool) -> bool:
    """Whether it is worth a look if this was the last change; the end of a run is told by an event of its own."""
    name: str = event["name"]
    if name == "team.finished":
        return True
    state = event["payload"].get("state")
    return unattended and (state == "paused" if name == "team.changed" else state not in AT_WORK)


def exit_code(run: Run) -> int:
    """0: everything that was asked for is done, with or without warnings, or somebody took it as it is."""
    return 0 if run["state"] in DONE and not run["surveyed"] else 1


# ---- a change --------------------------------------------------------------------------------------------------------


def change_of(event: dict[str, Any]) -> dict[str, Any]:
    """A line for programs: the run, the task if it is one's, and where that stands now."""
    run_id, _, task_id = str(event["ref"]).partition("/")
    told = {"at": event["at"], "event": event["name"], "run_id": run_id, "task_id": task_id or None}
    return {**event["payload"], **told, "move": event["payload"].get("event")}


def _of_run(run: Run) -> dict[str, Any]:
    return {"run_id": run["id"], "task_id": None, "state": run["state"], "states": run["states"], "move": None}


def _print_change(change: dict[str, Any]) -> None:
    print_json(change)


def _headline(run: Run) -> str:
    state = click.style(run["state"], fg=COLOURS[run["state"]])
    return f"{run['id']}  {state}  {one_line(run['text'], 60)}"


def line_of(event: dict[str, Any]) -> str | None:
    """The same for people; nothing for what the next line tells better."""
    payload, when = event["payload"], local_time(event["at"])
    if event["name"] != "team.task_changed":
        return _line_of_run(event, when)
    state = payload["state"]
    if payload["event"] == "claimed":
        return None
    waits = f" ({payload['waiting_for']})" if payload["waiting_for"] else ""
    facts = [
        f"attempt {payload['attempt']}" if payload["attempt"] > 1 and state == "running" else None,
        f"version {payload['version']}" if payload["version"] > 1 else None,
        payload["reason"] or _score(payload),
    ]
    told = ", ".join(one_line(fact, _LONGEST) for fact in facts if fact)
    words = click.style(f"{state}{waits}", fg=MARKS[state][1])
    return f"{when}  {state_mark(state)} {payload['task_id']:<12}  {words}{f': {told}' if told else ''}"


def _score(payload: dict[str, Any]) -> str | None:
    is_judged = payload["score"] is not None and payload["state"] not in ("pending", "running", "verifying")
    return f"{payload['score']:g} of 100" if is_judged else None


def _line_of_run(event: dict[str, Any], when: str) -> str | None:
    state = event["payload"].get("state")
    if event["name"] != "team.changed" or state is None:
        return None
    said = event["payload"].get("trouble") or ("feedback" if "feedback" in event["payload"] else "")
    words = click.style(state, fg=COLOURS[state])
    return f"{when}  {event['ref']}  {words}{f': {one_line(said, _LONGEST)}' if said else ''}"


def echo_to(*, err: bool) -> Tell:
    """Tells a change to people, and behind what waits for one the commands that answer it."""

    def echo(door: Door, event: dict[str, Any]) -> None:
        line = line_of(event)
        if line is not None:
            click.echo(line, err=err)
        if event["name"] == "team.task_changed" and event["payload"]["state"] in NEEDS_PERSON:
            _echo_ways(door, event, err)

    return echo


def _echo_ways(door: Door, event: dict[str, Any], err: bool) -> None:
    run_id, _, task_id = str(event["ref"]).partition("/")
    run = door.get(item_path("teams", run_id))
    task = next((each for each in run["all_tasks"] if each["id"] == task_id), None)
    if task is not None and task["state"] in NEEDS_PERSON:  # it may have been answered meanwhile
        card = card_of(door, task)
        asked = [] if card is None or task["waiting_for"] in (None, "decision") else fold(card["text"], width() - 8)
        _, *ways = lines_of_wait(run, task, card)
        lines = [*(f"        {line}" for line in asked[:_MOST_ASKED]), *(line for line in ways if "  gemba " in line)]
        click.echo("\n".join(lines), err=err)


_echo = echo_to(err=False)
