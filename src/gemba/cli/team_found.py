"""Which run and which task a command line means: a part of an id, no run at all where one is clear, a task in any case.

A word is never taken for something else than what it looks like: a task's id has a prefix, a hyphen and a number, and
everything else names a run. Called by the commands of `gemba team`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from gemba.cli.door import Door, item_path, open_door
from gemba.errors import Invalid, NotFound
from gemba.text import letters_in_line

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

UNDER_WAY = "running,paused"
PLANNED = "planned"
BEGUN = f"{UNDER_WAY},completed,completed_with_warnings,failed,cancelled"
OPEN = f"{PLANNED},{UNDER_WAY}"
_RUN = re.compile(r"team-[0-9a-f]{12}")
_PART = re.compile(r"(?:team-)?([0-9a-f]{1,12})")
_TASK = re.compile(r"[A-Za-z][A-Za-z0-9]{0,19}-[0-9]{3,5}")
_FEWEST = 4  # digits of an id that name a run
_PAGE = 500
_MOST_NAMED = 5

Run = dict[str, Any]


def find_run(door: Door, given: str | None, *, is_open: bool = False) -> str:
    """The id of the run that is meant; without a word the one that is under way, else the newest that has begun, else
    the one that is planned. `is_open`: what is over does not count as long as something is open."""
    if given is None:
        return _usual(door, is_open)
    if _RUN.fullmatch(given):
        return given
    part = _PART.fullmatch(given)
    if part is None:
        raise Invalid(
            f"{given[:80]!r} is no id of a team run; allowed: team- and twelve hexadecimal digits, or a part of them",
            code="invalid_id",
            found=given[:80],
        )
    digits = part[1]
    found = [run["id"] for run in _all_runs(door) if run["id"][5:].startswith(digits) or run["id"].endswith(digits)]
    if not found:
        raise NotFound(f"no team run has an id that begins or ends with {given}", code="not_found", found=given)
    if len(digits) < _FEWEST:  # a slip of the finger must not name the only one that there is
        raise Invalid(f"{given} is too little of an id; allowed: at least {_FEWEST} digits of it", code="invalid_id")
    if len(found) > 1:
        raise Invalid(f"{given} fits {len(found)} team runs: give more of the id", code="ambiguous_id", found=given)
    return str(found[0])


def is_part_of_run(given: str) -> bool:
    return _PART.fullmatch(given) is not None and not _RUN.fullmatch(given)


def get_run(door: Door, given: str | None) -> Run:
    """The same, whole."""
    found: Run = door.get(item_path("teams", find_run(door, given)))
    return found


def _usual(door: Door, is_open: bool) -> str:
    """What was only planned is no reason to look past a run that has begun."""
    planned = _some(door, PLANNED)
    found = _some(door, UNDER_WAY) or (planned if is_open else []) or newest_begun(door) or planned
    found = found or door.get("/api/teams", limit=1)["runs"]
    if not found:
        raise NotFound('there is no team run yet; begin one with: gemba team start "what is to be done"', code="no_run")
    if len(found) > 1:
        ids = ", ".join(run["id"] for run in found[:_MOST_NAMED]) + (" …" if len(found) > _MOST_NAMED else "")
        raise Invalid(f"several team runs are open: say which one is meant: {ids}", code="ambiguous_id")
    return str(found[0]["id"])


def newest_begun(door: Door) -> list[Run]:
    """The newest run that was more than planned, if there is one."""
    return [run for run in door.get("/api/teams", state=BEGUN, limit=_PAGE)["runs"] if run["started_at"]][:1]


def _some(door: Door, state: str) -> list[Run]:
    found: list[Run] = door.get("/api/teams", state=state, limit=_MOST_NAMED + 1)["runs"]
    return found


def _all_runs(door: Door) -> list[Run]:
    found: list[Run] = []
    cursor: str | None = None
    while True:
        page = door.get("/api/teams", limit=_PAGE, cursor=cursor)
        found += page["runs"]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


def task_path(run_id: str, task: str, verb: str = "") -> str:
    return item_path("teams", run_id, item_path("tasks", task)[len("/api/") :] + (f"/{verb}" if verb else ""))


# ---- words -----------------------------------------------------------------------------------------------------------


def looks_like_task(word: str) -> bool:
    return _TASK.fullmatch(word) is not None and not _RUN.fullmatch(word)


def parted(words: Sequence[str], *names: str) -> list[str | None]:
    """The words of a command that takes `[RUN]` and then these, all of which are needed: the run, or None, and they."""
    if len(words) < len(names):
        raise click.UsageError(f"Missing argument '{names[len(words)]}'.")
    if len(words) > len(names) + 1:
        raise click.UsageError(f"Got unexpected extra argument ({words[len(names) + 1]})")
    return [None, *words] if len(words) == len(names) else list(words)


def run_and_task(words: Sequence[str]) -> tuple[str | None, str | None]:
    """The words of a command that takes `[RUN] [TASK]`: what looks like a task's id is one."""
    match list(words):
        case []:
            return None, None
        case [one]:
            return (None, one.upper()) if looks_like_task(one) else (one, None)
        case [run, task]:
            return run, task.upper()
    raise click.UsageError(f"Got unexpected extra argument ({words[2]})")


def short(id: str) -> str:
    """A run's id as commands are told with it: enough of it for a person's few runs."""
    return id[5:11]


# ---- the shell's completion ------------------------------------------------------------------------------------------

_Completion = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def complete_run(*, state: str | None = None) -> _Completion:
    """Ids of runs, those in a state (a comma list) or all. Never an error."""

    def complete(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return _completed(ctx, lambda door: _runs(door, state), incomplete)

    return complete


def complete_words(*, first_task: bool = True, state: str | None = None, others: Sequence[str] = ()) -> _Completion:
    """A run, then a task of it (or one of these other words); a task of the run that is clear stands first, too."""

    def complete(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before = [str(word) for word in ctx.params.get(parameter.name or "") or ()]

        def rows(door: Door) -> list[tuple[str, str]]:
            if before:
                return [(word, "") for word in others] or _tasks(door, before[0])
            own = [(word, "") for word in others] or (_tasks(door, None) if first_task else [])
            return [*own, *_runs(door, state)]

        return _completed(ctx, rows, incomplete)

    return complete


def _completed(
    ctx: click.Context, rows: Callable[[Door], list[tuple[str, str]]], incomplete: str
) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    try:
        with open_door(ctx.find_root().params.get("workspace")) as door:
            found = rows(door)
    except Exception:  # noqa: BLE001 - whatever is wrong, a shell's prompt is no place to say it
        return []
    wanted = incomplete.casefold()
    return [CompletionItem(word, help=words) for word, words in found if word.casefold().startswith(wanted)]


def _runs(door: Door, state: str | None) -> list[tuple[str, str]]:
    found = door.get("/api/teams", limit=50, state=state)["runs"]
    return [(run["id"], letters_in_line(run["text"], 60)) for run in found]


def _tasks(door: Door, run: str | None) -> list[tuple[str, str]]:
    try:
        found = get_run(door, run)["all_tasks"]
    except (Invalid, NotFound):
        return []
    return [(task["id"], letters_in_line(f"{task['state']}: {task['goal']}", 60)) for task in found[:200]]
