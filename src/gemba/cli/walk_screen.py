"""What a walk shows at the terminal: the item on the table, the keys that are meant there, what came of one.

Called by the walk at the terminal, which knows what is to be shown when. What agents wrote is shown as text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from gemba.cli.consult_text import lines_of_one as consult_lines
from gemba.cli.door import Door
from gemba.cli.show import labelled, width
from gemba.cli.walk_found import asked_in_full, perspectives_on
from gemba.cli.walk_text import (
    Item,
    Walk,
    comment_lines,
    decided,
    item_lines,
    said_lines,
    totals_lines,
)
from gemba.errors import GembaError
from gemba.text import fold, one_line

ON_TABLE = (
    "r ratify · 1-3 choose · m modify · x reject · d defer · h hand off · n next · u undo · p perspectives · ? all keys"
)
_NOTHING_LEFT = "e end the walk · u undo · a pull in what came · g go to one · t say · q rest and leave"
_HELP = (
    ("r", "ratify: do what is proposed and chosen"),
    ("1 2 3", "choose another of the proposed actions"),
    ("m", "modify: change the chosen action, then do it"),
    ("x", "reject, with a reason; an agent that asked is told"),
    ("d", "defer: then h an hour, t tomorrow, b the backlog (for work)"),
    ("h", "hand off to another persona, which proposes"),
    ("n", "next, and decide this one later"),
    ("u", "undo: take the last decision back, where its effect can be"),
    ("g", "show the agenda, and go to a number of it"),
    ("p", "perspectives: a comment of each persona"),
    ("c", "the Project Manager's order of the epics"),
    ("t", "say something to the Project Manager"),
    ("a", "pull in what came to wait meanwhile"),
    ("s", "rest: the walk is paused until the next key"),
    ("e", "end the walk, with a summary"),
    ("q", "rest and leave; gemba walk goes on (Ctrl-C does the same)"),
)


def name_of(walk: Walk) -> str:
    label = one_line(walk["label"], 40)
    return f"{walk['id']}{f' ({label})' if label else ''}"


def show_table(door: Door, walk: Walk, item: Item | None, selected: int) -> None:
    """What is on the table, or that nothing is, and the keys for it."""
    click.echo()
    if item is None:
        click.echo("\n".join(["Nothing more is on the agenda.", *totals_lines(walk["totals"])]))
        show_keys(_NOTHING_LEFT)
        return
    click.echo("\n".join(item_lines(walk, item, selected, asked_in_full(door, item))))
    show_keys(ON_TABLE)


def show_keys(words: str) -> None:
    """A key stays on the line of what it does."""
    whole = " · ".join(part.replace(" ", "\u00a0") for part in words.split(" · "))
    lines = [line.replace("\u00a0", " ") for line in fold(whole, width())]
    click.echo(click.style("\n".join(lines), fg="bright_black"))


def show_help() -> None:
    click.echo("\n".join(line for keys, words in _HELP for line in labelled(f"{keys:<5}", words)))


def show_decided(item: Item) -> None:
    """What was decided just now, and for how long it can be taken back where that is not for ever."""
    made = item["decision"]
    what = f": {one_line(made['action']['label'], 60)}" if made["action"] else ""
    held = " (sent in a moment; u takes it back)" if made["applied"] and made["applied"]["held_until"] else ""
    click.echo(click.style(f"✓ {decided(item)}", fg="green") + what + click.style(held, fg="bright_black"))


def show_refusal(error: GembaError) -> None:
    click.echo(click.style("\n".join(fold(f"✗ {error.plain}", width())), fg="red"))


def show_said(walk: Walk, after: int) -> int:
    """What the walk itself has said since a line of the transcript, not what the operator asked for just now; the last
    line that there is."""
    for said in walk["transcript"]:
        if said["number"] > after and said["speaker"] == "walk" and not said["who"]:
            click.echo("\n".join(said_lines(said)))
    return max([after, *(int(said["number"]) for said in walk["transcript"])])


def show_consult(door: Door, found: dict[str, Any]) -> None:
    """What a persona answered, and how a line of it is applied."""
    if found["skill_id"] == "perspective":
        ref = found["raw_request"]["raw_input"]["ref"]
        lines = [line for one in perspectives_on(door, ref, [found["id"]]) for line in comment_lines(one, ref)]
    else:
        lines = consult_lines(found, False)
    click.echo("\n".join(["", *lines]))
    if any(line.get("suggested_action") for line in found["validated_lines"]):
        show_keys(f"apply a line in another terminal: gemba consult apply {found['id'][-6:]} NUMBER")


def show_comments(said: Iterable[dict[str, Any]], ref: str) -> None:
    """What personas said of a thing, and that some still think."""
    comments = list(said)
    for one in comments:
        click.echo("\n".join(["", *comment_lines(one, ref)]))
    if any(one["status"] == "running" for one in comments):
        show_keys("some are still thinking: p shows what came")
    click.echo()
    show_keys(ON_TABLE)
