"""`gemba walk`: the operator's sitting over everything that waits; each subcommand is one step of it."""

from __future__ import annotations

import click

from gemba.cli.keyboard import is_terminal
from gemba.cli.lazy import LazyGroup
from gemba.cli.show import json_option, print_json

COMMANDS = {
    name: (f"gemba.cli.walk_commands:{function}", words)
    for name, function, words in (
        ("list", "show_list", "List walks, newest first."),
        ("show", "show", "Show a walk: its agenda, what is on the table, what came of it."),
        ("start", "start", "Begin a walk over everything that waits."),
        ("add", "add", "Put something on the agenda."),
        ("next", "take_next", "Take up the next item, or one of your choice."),
        ("decide", "decide", "Decide an item; the next one is taken up."),
        ("undo", "undo", "Take a decision back; it is on the table again."),
        ("say", "say", "Say something to the Project Manager."),
        ("perspectives", "perspectives", "Ask every persona for a comment."),
        ("pause", "pause", "Let your walk rest."),
        ("resume", "resume", "Go on with your walk."),
        ("end", "end", "End your walk, with a summary."),
    )
}


@click.group(cls=LazyGroup, rows=COMMANDS, invoke_without_command=True)
@click.option("--label", metavar="WORDS", default="", help="What you call it, if it begins now.")
@json_option
@click.pass_context
def command(ctx: click.Context, label: str, as_json: bool) -> None:
    """Go through everything that waits for you, one decision at a time.

    Without a command it begins your walk, or goes on with it, and is yours by single keys: n next, r ratify, 1-3
    choose, m modify, x reject, d defer, h hand off, u undo, p perspectives, s rest, q rest and leave, ? all keys.
    Where there is no terminal it shows how your walk stands. The same walk is on the page.

    \b
    Example:
      gemba walk
      gemba walk decide now ratify
      gemba walk show --json
    """
    if ctx.invoked_subcommand is not None:
        if as_json or label:
            flag = "--json" if as_json else "--label"
            raise click.UsageError(f"{flag} goes behind {ctx.invoked_subcommand}.")
        return
    if is_terminal() and not as_json:
        from gemba.cli.walk_terminal import walk_here

        walk_here(ctx.obj, label)
        return
    _state(ctx.obj, as_json)


def _state(folder: str | None, as_json: bool) -> None:
    from gemba.cli.door import open_door
    from gemba.cli.walk_found import read_walk
    from gemba.cli.walk_text import hint_line, lines_of_one

    with open_door(folder) as door:
        page = door.get("/api/walks", limit=1)
        mine = page["hint"]["open_walk"]
        walk = None if mine is None else read_walk(door, mine)
    if as_json:
        print_json({"walk": walk, "hint": page["hint"]})
    elif walk is not None:
        click.echo("\n".join(lines_of_one(walk)))
    else:
        click.echo(f"{hint_line(page['hint'])} You have no walk that is open; gemba walk start begins one.")
