"""How commands show things: JSON for programs, short lines for people. Agents' text never reaches a terminal raw."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from typing import Any

import click
import msgspec

from gemba import clock
from gemba.errors import Unusable
from gemba.text import cells, fold, framed, one_line, showable, showable_json

_COLUMNS = 100  # where there is no terminal
_SHORTEST_ID = 6
_INDENT = "    "
_NARROW = 30  # columns that facts need to stand beside a card's name
_LINES_OF_TEXT = 3  # in a list; `gemba inbox ID` shows the whole
_SETTLED = {
    "answered": "answered",
    "default": "answered by default",
    "expired": "expired",
    "declined": "declined",
    "withdrawn": "withdrawn",
}

json_option: Callable[[Any], Any] = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def or_else(ctx: click.Context, default: click.Command, as_json: bool, **options: str | None) -> None:
    """What a group does itself: without a command, the one that is meant then; with one, that has the options."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(default, as_json=as_json, **options)
        return
    for name, value in {"json": as_json or None, **options}.items():
        if value is not None:
            raise click.UsageError(f"--{name} goes behind {ctx.invoked_subcommand}.")


def print_json(document: Any) -> None:
    if sys.stdout is None:
        raise Unusable("stdout is closed", code="no_output")
    sys.stdout.buffer.write(showable_json(msgspec.json.encode(document).decode()).encode() + b"\n")
    sys.stdout.buffer.flush()


def print_items(items: list[dict[str, Any]], lines: Callable[[dict[str, Any], str], list[str]]) -> None:
    """A list for people: each item in its lines, by as much of the end of its id as tells it from the others."""
    length = short_length(item["id"] for item in items)
    for item in items:
        click.echo("\n".join(lines(item, item["id"][-length:])) + "\n")


def print_table(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    """Columns as wide as they need; the last one is folded under itself."""
    wide = [max(cells(str(row[column])) for row in (head, *rows)) for column in range(len(head) - 1)]
    indent = sum(wide) + 2 * len(wide)
    for row in (head, *rows):
        *first, last = map(str, row)
        start = "".join(showable(cell) + " " * (size - cells(cell) + 2) for cell, size in zip(first, wide, strict=True))
        lines = fold(last, max(20, width() - indent)) or [""]
        click.echo("\n".join([start + lines[0], *(" " * indent + line for line in lines[1:])]).rstrip())


def tell(document: Any, as_json: bool, line: str) -> None:
    """What became of something: the document for programs, a line for people."""
    if as_json:
        print_json(document)
    else:
        click.echo(line)


def width() -> int:
    """The columns to write in: the terminal's, as long as a line stays readable; also where a pager shows it there."""
    return max(24, min(shutil.get_terminal_size((_other_columns(), 24)).columns, 120))


def _other_columns() -> int:
    """What is wider than the terminal breaks anywhere, and would leave the frame of a command."""
    for stream in (2, 0):  # stdout was asked first
        with contextlib.suppress(OSError, ValueError):
            return os.get_terminal_size(stream).columns or _COLUMNS
    return _COLUMNS


def short_length(ids: Iterable[str]) -> int:
    """How much of the end of an id tells these apart."""
    known = set(ids)
    length = _SHORTEST_ID
    while len({id[-length:] for id in known}) < len(known):
        length += 1
    return length


def age(moment: str) -> str:
    """How long ago, in the largest unit that says something: 12s, 4m, 3h, 2d."""
    then = clock.parse(moment)
    seconds = max(0, (clock.now() - (then or 0)) // clock.SECOND)
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def local_time(moment: str) -> str:
    """A moment on the operator's own clock; with the date unless it is today."""
    from datetime import datetime

    then = datetime.fromisoformat(moment).astimezone()
    today = datetime.now().astimezone().date()
    return then.strftime("%H:%M:%S" if then.date() == today else "%Y-%m-%d %H:%M")


def headline(mark: str, colour: str | None, id: str, facts: Iterable[str | None]) -> list[str]:
    """A card's first line: what it is, its short name, the facts; folded where the terminal is narrow."""
    name = f"{click.style(mark, fg=colour, bold=colour == 'red' or None)}  " if mark else ""
    name += click.style(id, bold=True)
    indent = len(f"{mark}  {id}  ") if mark else len(f"{id}  ")
    beside = width() - indent >= _NARROW
    if not beside:
        indent = len(_INDENT)
    # A fact is broken only where it is longer than a line.
    known = " · ".join(one_line(fact, 40).replace(" ", "\u00a0") for fact in facts if fact)
    lines = [" " * indent + line.replace("\u00a0", " ") for line in fold(known, width() - indent)]
    return [f"{name}  {lines[0].lstrip()}", *lines[1:]] if beside and lines else [name, *lines]


def body_lines(text: str, most: int | None = None, *, cut: bool = False) -> list[str]:
    """An agent's text, indented; of a long one the first lines and a mark that there is more."""
    room = width() - len(_INDENT)
    lines = fold(text, room)
    if most is not None:
        lines = [line for line in lines if line]
        if cut or len(lines) > most:
            last = "".join(lines[most - 1 : most])
            lines = [*lines[: most - 1], one_line(last, room - 2) + " …"]
    return [f"{_INDENT}{line}".rstrip() for line in lines]


def command_lines(command: str, most: int | None = None, rest: str = "") -> list[str]:
    """A command to the letter in its frame; of a long one the first lines, how many are left, and what shows them."""
    frame = framed(command, width() - len(_INDENT))
    if most is not None and len(frame) > most:
        hidden = labelled(f"… {len(frame) - most} more lines of it, not shown here:", rest)
        return [*(_INDENT + row for row in frame[:most]), *hidden]
    return [_INDENT + row for row in frame]


def labelled(label: str, text: str, *, whole: bool = True) -> list[str]:
    """`label: text`, folded under itself; under the label where that leaves too little room."""
    space = " " * (len(label) + 1)
    if width() - len(_INDENT) - len(space) < _NARROW:
        room = width() - 2 * len(_INDENT)
        under = fold(text, room) if whole else [one_line(text, room)]
        return [*body_lines(label), *(f"{2 * _INDENT}{line}".rstrip() for line in under)]
    room = width() - len(_INDENT) - len(space)
    first, *rest = (fold(text, room) if whole else [one_line(text, room)]) or [""]
    return [f"{_INDENT}{label} {first}".rstrip(), *(f"{_INDENT}{space}{line}".rstrip() for line in rest)]


def escalation_lines(
    item: dict[str, Any], *, length: int = _SHORTEST_ID, whole: bool = False, asks: list[str] | None = None
) -> list[str]:
    """One escalation for a terminal: what it is, whose, how old, what it says, how to answer, how it ended.

    `asks`: the lines that say what it is about, where its title and text are not the best that is known.
    """
    blocking = item["urgency"] == "blocking"
    mark, colour = ("BLOCKING", "red") if blocking else ("advisory", "cyan")
    if item["resolution"] is not None:
        mark, colour = item["state"].ljust(8), "bright_black"
    facts = [item["kind"], item["agent_type"], item["session_id"], item["bead_id"], f"{age(item['opened_at'])} ago"]
    id = item["id"] if whole else item["id"][-length:]
    lines = headline(mark, colour, id, [*facts, *_marks(item)])
    lines += _words(item, whole) if asks is None else asks
    for number, option in enumerate(item["options"], 1):
        lines += labelled(f"  {number})", option, whole=whole)
    if item["schema"] is not None:
        fitting = msgspec.json.encode(item["schema"]).decode()
        lines += labelled("answer with --value JSON that fits:", fitting, whole=whole)
    if whole and item["stale"] and not item["stale"]["gone"]:
        lines += labelled("the code moved since:", moved(item["stale"]))
    if (proposal := item["proposal"]) is not None:
        lines += _given(f"? {_proposed(proposal)}", item, proposal, whole)
    if item["resolution"] is not None:
        lines += _given(f"→ {_how(item)}", item, item["resolution"], whole)
    else:
        lines += _help_with(item, id)
    if item["delivery"] == "undelivered" and item["delivery_note"]:
        lines += labelled("undelivered:", item["delivery_note"], whole=whole)
    return lines


def _words(item: dict[str, Any], whole: bool) -> list[str]:
    titles = body_lines(item["title"], None if whole else 1) if item["title"] else []
    text = body_lines(item["text"], None if whole else _LINES_OF_TEXT, cut=item["text_cut"])
    return [*(click.style(line, bold=True) for line in titles), *text]


def _given(label: str, item: dict[str, Any], answer: dict[str, Any], whole: bool) -> list[str]:
    """An answer; the command that one writes in the place of another is shown to the letter too."""
    if item["kind"] == "approval" and answer["decision"] == "modify":
        return labelled(label, "") + command_lines(answer["text"])
    return labelled(label, answer["text"], whole=whole)


def _help_with(item: dict[str, Any], id: str) -> list[str]:
    """What makes it easier to answer: who else asks, and what was answered before."""
    lines: list[str] = []
    if item["group_size"] > 1:
        others = item["group_size"] - 1
        asks = "1 more asks" if others == 1 else f"{others} more ask"
        lines += labelled("≡", f"{asks} the same: gemba answer {id} … --group answers them all")
    if (earlier := item["precedent"]) is not None:
        lines += labelled(
            f"↺ {age(earlier['at'])} ago, to {one_line(earlier['session_id'], 40)}:", earlier["answer"]["text"]
        )
    return lines


def _waits(item: dict[str, Any]) -> str:
    """A client's dialog is open until somebody closes it; a command that waits may have ended, and nobody is told."""
    if item["channel"] != "tool_call":
        return "waiting"
    return f"waits until {local_time(item['waiting_until'])} at most" if item["waiting_until"] else "said to wait"


def _marks(item: dict[str, Any]) -> list[str]:
    marks = []
    if item["state"] == "snoozed":
        marks.append(f"snoozed until {local_time(item['snoozed_until'])}")
    if item["waiting"] and item["resolution"] is None:
        marks.append(_waits(item))
    if item["stale"]:
        marks.append("its worktree is gone" if item["stale"]["gone"] else "the code moved since")
    if item["delivery"] == "undelivered":
        marks.append("undelivered")
    if item["resolution"] is None:
        if item["reminders"]:
            marks.append(f"reminded {item['reminders']} times" if item["reminders"] > 1 else "reminded")
        if item["expires_at"]:
            marks.append(f"until {local_time(item['expires_at'])}")
    elif item["held_until"] and (clock.parse(item["held_until"]) or 0) > clock.now():
        marks.append(f"held until {local_time(item['held_until'])}: gemba undo")
    return marks


def moved(stale: dict[str, Any]) -> str:
    """What became of the code that an ask was made on: how much changed, and where it stands now."""
    told: list[str] = []
    if stale["files"] is None:
        told.append(f"from {stale['commit'][:8]} to {stale['head'][:8]}")
    elif stale["head"] != stale["commit"]:
        files = f"{stale['files']} file{'' if stale['files'] == 1 else 's'}"
        told.append(f"{files}, +{stale['insertions']} -{stale['deletions']}")
    on = f"on {stale['head_branch'] or 'no branch'}"
    asked = f", asked on {stale['branch']}" if stale["branch"] not in (None, stale["head_branch"]) else ""
    return " ".join([*told, on + asked])


def _proposed(proposal: dict[str, Any]) -> str:
    """Whose answer it is, and what it waits for or why it was refused."""
    if proposal["state"] == "refused":
        return f"proposed by {proposal['by']}, refused ({one_line(proposal['note'] or 'without a reason', 60)}):"
    waits = {"check": "a check", "person": "a second person (gemba confirm, gemba reject)"}[proposal["verifier"]]
    return f"proposed by {proposal['by']}, waits for {waits}:"


def _how(item: dict[str, Any]) -> str:
    """How it ended, and by whom where that is not said already."""
    resolution = item["resolution"]
    who = resolution["who"] if resolution["by"] == "operator" else None
    by = f" in the {resolution['by']}" if resolution["by"] == "pane" else f" by {who or 'the ' + resolution['by']}"
    if who == "operator":
        by = " by the operator"
    confirmed = f", confirmed by {resolution['confirmed_by']}" if resolution["confirmed_by"] else ""
    return f"{_SETTLED[resolution['outcome']]}{' late' if resolution['late'] else ''}{by}{confirmed}:"
