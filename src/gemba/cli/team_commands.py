"""What an operator says to a team run, a command each: parse, call one verb, say what became of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from gemba.cli.answer import standard_input
from gemba.cli.door import item_path, open_door
from gemba.cli.show import json_option, tell
from gemba.cli.team_found import OPEN, complete_run, complete_words, find_run, get_run, parted, task_path
from gemba.cli.team_text import next_step

DIMENSIONS = ("completeness", "consistency", "accuracy", "depth")
_OVER = "completed,completed_with_warnings,failed,cancelled"

_run = click.argument("run", required=False, shell_complete=complete_run(state=OPEN))
_task = click.argument("words", nargs=-1, metavar="[RUN] TASK", shell_complete=complete_words(state=OPEN))
_reason: Callable[[Any], Any] = click.option("--reason", metavar="TEXT", default="", help="Why, for the record.")


# ---- a run -----------------------------------------------------------------------------------------------------------


@click.command(short_help="Begin nothing new in a run.")
@_run
@_reason
@json_option
@click.pass_obj
def pause(folder: str | None, run: str | None, reason: str, as_json: bool) -> None:
    """Let what is at work in RUN come to its end, and begin nothing new until `gemba team resume`.

    \b
    Example:
      gemba team pause 3fa9 --reason "the build is red"
    """
    _to_run(folder, run, "pause", {"text": reason}, as_json, "paused {id}: what is at work comes to its end")


@click.command(short_help="Let a paused run go on.")
@_run
@json_option
@click.pass_obj
def resume(folder: str | None, run: str | None, as_json: bool) -> None:
    """Let RUN go on, which is paused. What was only planned begins with `gemba team start --planned RUN`.

    \b
    Example:
      gemba team resume 3fa9
    """
    _to_run(folder, run, "resume", {}, as_json, "{id} goes on")


@click.command(short_help="End a run and every session of it.")
@_run
@_reason
@json_option
@click.pass_obj
def cancel(folder: str | None, run: str | None, reason: str, as_json: bool) -> None:
    """End RUN: what has not ended is cancelled, and every session of it stopped. What was done stays, in its branch.

    \b
    Example:
      gemba team cancel 3fa9 --reason "it is no longer wanted"
    """
    _to_run(folder, run, "cancel", {"text": reason}, as_json, "cancelled {id}; what was done stays")


@click.command(short_help="Say something to the tasks it is about.")
@click.argument("words", nargs=-1, metavar="[RUN] TEXT", shell_complete=complete_words(first_task=False, state=OPEN))
@json_option
@click.pass_obj
def feedback(folder: str | None, words: tuple[str, ...], as_json: bool) -> None:
    """Say TEXT (`-`: standard input) to RUN. It goes to the tasks that it names by id, role or prefix, or to all that
    are not done, and to the decisions that later tasks read.

    \b
    Example:
      gemba team feedback 3fa9 "the tester should use the staging database"
    """
    run, text = parted(words, "TEXT")
    body = {"text": _text(text)}
    _to_run(folder, run, "feedback", body, as_json, "told {id}: tasks that are not done hear it with their next turn")


@click.command(short_help="Revise what has the lowest score.")
@click.argument("words", nargs=-1, metavar="[RUN] [DIMENSION]", shell_complete=complete_words(others=DIMENSIONS))
@json_option
@click.pass_obj
def improve(folder: str | None, words: tuple[str, ...], as_json: bool) -> None:
    """Revise the task of RUN whose score is the lowest, in DIMENSION or in any: completeness, consistency, accuracy or
    depth.

    \b
    Example:
      gemba team improve 3fa9 depth
    """
    run, dimension = _run_and_dimension(words)
    with open_door(folder) as door:
        before = get_run(door, run)
        done = door.post(item_path("teams", before["id"], "improve"), {"dimension": dimension} if dimension else {})
        is_server = door.is_server
    was = {task["id"]: task["version"] for task in before["all_tasks"]}
    revised = next(task["id"] for task in done["all_tasks"] if task["version"] > was.get(task["id"], task["version"]))
    what = f"{revised} of {done['id']} has a new version, for its {dimension or 'lowest score'}"
    tell(done, as_json, _said(f"{what}{_begun_anew(done, revised)}", done, is_server))


@click.command(short_help="Seal the folder of a run that is over.")
@click.argument("run", required=False, shell_complete=complete_run(state=_OVER))
@click.option("--remove", is_flag=True, help="Then remove the files that the manifest lists; the database keeps all.")
@json_option
@click.pass_obj
def archive(folder: str | None, run: str | None, remove: bool, as_json: bool) -> None:
    """Write a manifest with the digest of every file into the folder of RUN, which is over. Deletes nothing unasked.

    \b
    Example:
      gemba team archive 3fa9
      gemba team archive 3fa9 --remove
    """
    with open_door(folder) as door:
        done = door.post(item_path("teams", find_run(door, run), "archive"), {"remove": remove})
        by_itself = door.is_server
    if not by_itself:  # who opens the workspace next writes what its folders lack
        with open_door(folder):
            pass
    what = "its files are removed, what you changed or added stays" if done["removed"] else f"see {done['folder']}"
    tell(done, as_json, f"archived {done['id']}; {what}")


# ---- a task ----------------------------------------------------------------------------------------------------------


@click.command(short_help="Take a task's work as it is, with a warning.")
@_task
@_reason
@json_option
@click.pass_obj
def accept(folder: str | None, words: tuple[str, ...], reason: str, as_json: bool) -> None:
    """Take the work of TASK in RUN as it is, though it did not pass its gate, or only surveyed what was asked for.
    It is completed with warnings.

    \b
    Example:
      gemba team accept 3fa9 IMPL-001 --reason "good enough for the spike"
    """
    _to_task(folder, words, "accept", {"text": reason}, as_json, "is taken as it is, with a warning")


@click.command(short_help="Do a task once more.")
@_task
@_reason
@json_option
@click.pass_obj
def retry(folder: str | None, words: tuple[str, ...], reason: str, as_json: bool) -> None:
    """Do TASK in RUN once more as it is, with all its tries anew; its agent is told the reason, if there is one.

    \b
    Example:
      gemba team retry 3fa9 IMPL-001 --reason "the registry is up again"
    """
    _to_task(folder, words, "retry", {"text": reason}, as_json, "begins once more")


@click.command(short_help="Leave a task out, and all that needs it.")
@_task
@_reason
@json_option
@click.pass_obj
def skip(folder: str | None, words: tuple[str, ...], reason: str, as_json: bool) -> None:
    """Leave TASK of RUN out, and all that depends on it.

    \b
    Example:
      gemba team skip 3fa9 DRAFT-001 --reason "nobody reads it"
    """
    _to_task(folder, words, "skip", {"text": reason}, as_json, "is left out")


@click.command(short_help="Have a task done otherwise.")
@click.argument("words", nargs=-1, metavar="[RUN] TASK TEXT", shell_complete=complete_words())
@json_option
@click.pass_obj
def revise(folder: str | None, words: tuple[str, ...], as_json: bool) -> None:
    """Have TASK of RUN done otherwise: TEXT (`-`: standard input) says how. What was built on it is done anew behind
    it, and old versions stay.

    \b
    Example:
      gemba team revise 3fa9 IMPL-001 "keep the index, drop the cache"
    """
    run, task, text = parted(words, "TASK", "TEXT")
    given = tuple(word for word in (run, task) if word is not None)
    _to_task(folder, given, "revise", {"text": _text(text)}, as_json, "has a new version")


# ---- how -------------------------------------------------------------------------------------------------------------


def _to_run(folder: str | None, given: str | None, verb: str, body: dict[str, Any], as_json: bool, words: str) -> None:
    with open_door(folder) as door:
        run = door.post(item_path("teams", find_run(door, given, is_open=True), verb), body)
        is_server = door.is_server
    tell(run, as_json, _said(words.format(id=run["id"]), run, is_server))


def _to_task(
    folder: str | None, words: tuple[str, ...], verb: str, body: dict[str, Any], as_json: bool, said: str
) -> None:
    given, task = parted(words, "TASK")
    id = str(task).upper()
    with open_door(folder) as door:
        run = door.post(task_path(find_run(door, given), id, verb), body)
        is_server = door.is_server
    others = _begun_anew(run, id) if verb in ("retry", "revise") else ""
    tell(run, as_json, _said(f"{id} of {run['id']} {said}{others}", run, is_server))


def _said(words: str, run: dict[str, Any], is_server: bool) -> str:
    """What was done, and, where nobody works on it, what makes it go on."""
    step = next_step(run, is_server)
    return f"{words}\n{step}" if step else words


def _begun_anew(run: dict[str, Any], id: str) -> str:
    """How much waits behind a task that begins anew."""
    behind: set[str] = {id}
    for task in run["all_tasks"]:  # in graph order
        if behind & set(task["blocked_by"]) and task["state"] == "pending":
            behind.add(task["id"])
    many = len(behind) - 1
    return f"; {many} {'task follows' if many == 1 else 'tasks follow'} behind it" if many else ""


def _run_and_dimension(words: tuple[str, ...]) -> tuple[str | None, str | None]:
    match list(words):
        case []:
            return None, None
        case [one] if one in DIMENSIONS:
            return None, one
        case [one]:
            return one, None
        case [run, dimension] if dimension in DIMENSIONS:
            return run, dimension
        case [_, dimension]:
            raise click.UsageError(f"{dimension!r} is no dimension; allowed: {', '.join(DIMENSIONS)}.")
    raise click.UsageError(f"Got unexpected extra argument ({words[2]})")


def _text(given: str | None) -> str:
    return standard_input() if given == "-" else str(given)
