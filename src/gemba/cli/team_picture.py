"""A run's graph for a terminal: every task once, below the last of those that it waits for.

Called by the texts of `gemba team`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import click

from gemba.cli.show import width
from gemba.text import cells, one_line

Task = dict[str, Any]
# A shape beside each colour, and the state's own word beside both.
MARKS = {
    "pending": ("○", "bright_black"),
    "claimed": ("◐", "cyan"),
    "running": ("●", "cyan"),
    "verifying": ("◑", "cyan"),
    "waiting": ("?", "yellow"),
    "partial_completion": ("?", "yellow"),
    "completed": ("✓", "green"),
    "completed_with_warnings": ("!", "yellow"),
    "failed": ("✗", "red"),
    "skipped": ("⊘", "bright_black"),
    "cancelled": ("⊘", "bright_black"),
}
_INDENT = "  "
_DEEPEST = 8  # levels that are drawn one below the other
_MOST = 200  # tasks
_MOST_NAMED = 3


class _Place(NamedTuple):
    task: Task
    branch: str  # what stands before it
    beside: tuple[str, ...]  # what else it waits for


def state_mark(state: str) -> str:
    shape, colour = MARKS[state]
    return click.style(shape, fg=colour)


def picture(tasks: Sequence[Task], words: Callable[[Task], str], *, with_states: bool) -> list[str]:
    """The tasks, which stand in graph order, each with words of its own behind its id."""
    places = _places(tasks[:_MOST])
    wide = max((len(place.branch) + len(place.task["id"]) for place in places), default=0)
    lines = []
    for place in places:
        name = place.branch + click.style(place.task["id"], bold=True)
        space = " " * (wide - len(place.branch) - len(place.task["id"]))
        mark = f"{state_mark(place.task['state'])} " if with_states else ""
        beside = f" (and after {_named(place.beside)})" if place.beside else ""
        room = width() - len(_INDENT) - wide - 2 - (2 if with_states else 0)
        text = one_line(words(place.task), max(20, room - cells(beside))) + beside
        lines.append(f"{_INDENT}{mark}{name}{space}  {text}".rstrip())
    more = len(tasks) - len(places)
    return [*lines, f"{_INDENT}… and {more} more"] if more > 0 else lines


def _places(tasks: Sequence[Task]) -> list[_Place]:
    number = {task["id"]: at for at, task in enumerate(tasks)}
    below: dict[str | None, list[Task]] = {}
    above: dict[str, str | None] = {}
    for task in tasks:
        known = [id for id in task["blocked_by"] if id in number]
        above[task["id"]] = max(known, key=number.__getitem__, default=None)
        below.setdefault(above[task["id"]], []).append(task)
    found: list[_Place] = []
    open_ = [(task, "", "") for task in reversed(below.get(None, []))]
    while open_:
        task, branch, inside = open_.pop()
        parent = above[task["id"]]
        found.append(_Place(task, branch, tuple(id for id in task["blocked_by"] if not _is_above(id, parent, above))))
        children = below.get(task["id"], [])
        for at, child in reversed(list(enumerate(children))):
            last = at == len(children) - 1
            if len(inside) >= 3 * _DEEPEST:
                open_.append((child, branch, inside))
            else:
                open_.append((child, f"{inside}{'└─ ' if last else '├─ '}", f"{inside}{'   ' if last else '│  '}"))
    return found


def _is_above(id: str, parent: str | None, above: dict[str, str | None]) -> bool:
    """Whether a task is drawn above another, on the way to the first."""
    while parent is not None and parent != id:
        parent = above[parent]
    return parent == id


def _named(ids: Sequence[str]) -> str:
    more = len(ids) - _MOST_NAMED
    return ", ".join(ids[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
