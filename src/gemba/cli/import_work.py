"""`gemba import`: work from the `bd` tracker, from a sheet or from a checklist."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gemba.cli.bringing import bring, nothing, read_text, words_not_known
from gemba.cli.door import open_door
from gemba.cli.show import json_option, print_json
from gemba.config import open_workspace
from gemba.escalations.policy_check import checked_settings
from gemba.text import one_line

if TYPE_CHECKING:
    from gemba.work.interchange.lines import Work


_NO_BOXES = "no entry of a checklist is in it, as `- [ ] Title` is one"


@click.group()
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Take in work from elsewhere. The same file again changes nothing; a line that changed changes its item, if it
    is known by its id. What has none is known by its title: a line of a checklist that was renamed is a new item, and
    what is no longer in the file stays open, and is named.

    What is wrong with a line is told with its number, and the others are imported; the command then ends with 1. An
    item that was changed here later than its line stays as it is, and is named.

    \b
    Example:
      gemba import beads .beads/issues.jsonl
      gemba import csv plan.csv --strict
      gemba import md TODO.md
    """
    if as_json:
        raise click.UsageError(f"--json goes behind {ctx.invoked_subcommand}.")


def _options(command: Any) -> Any:
    for option in reversed(
        (
            click.option("--strict", is_flag=True, help="Import nothing when any line is bad."),
            click.option("--prefer-file", is_flag=True, help="Let a line win over what was changed here after it."),
            json_option,
        )
    ):
        command = option(command)
    return command


@command.command(short_help="Issues of the bd tracker (JSONL).")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(allow_dash=True))
@_options
@click.pass_obj
def beads(folder: str | None, files: tuple[str, ...], strict: bool, prefer_file: bool, as_json: bool) -> None:
    """Take in issues of the bd tracker: each FILE has one JSON object a line, an issue or a dependency.

    Ids stay as they are. What Gemba has no field for is kept, and goes out again with `gemba export beads`.

    \b
    Example:
      gemba import beads .beads/issues.jsonl
      gemba import beads issues.jsonl dependencies.jsonl --json
    """
    from gemba.work.interchange.lines import read_lines

    _import(
        folder, files, lambda _: read_lines((file, read_text(file)) for file in files), strict, prefer_file, as_json
    )


@command.command("csv", short_help="A sheet with a header row.")
@click.argument("file", type=click.Path(allow_dash=True))
@_options
@click.pass_obj
def sheet(folder: str | None, file: str, strict: bool, prefer_file: bool, as_json: bool) -> None:
    """Take in a sheet. Its first row names the columns: title, and any of id, description, acceptance, status,
    priority, type, labels, assignee, parent, blocked_by. Other columns are kept. A row without an id is known again by
    its title.

    \b
    Example:
      gemba import csv plan.csv
    """
    from gemba.work.interchange.sheet import read_sheet

    _import(
        folder, (file,), lambda prefix: read_sheet(file, read_text(file), prefix), strict, prefer_file, as_json, True
    )


@command.command("md", short_help="Checklists in Markdown.")
@click.argument("file", type=click.Path(allow_dash=True))
@click.option(
    "--plain", is_flag=True, help="Entries of a list without a box are open ones; so are lines of a todo.txt."
)
@_options
@click.pass_obj
def checklist(folder: str | None, file: str, plain: bool, strict: bool, prefer_file: bool, as_json: bool) -> None:
    """Take in checklists: [ ] is open, [x] done, [-] cancelled; what is nested is a part. A heading above them is an
    epic, or a milestone where its title begins like M2.

    A line is known again by its title and those above it: ticking it changes its item, renaming or moving it makes a
    new one. What an earlier import made and is no longer in FILE is named and stays open; nothing is closed by itself.

    \b
    Example:
      gemba import md TODO.md
      gemba import md TODO --plain
    """
    from gemba.work.interchange.checklist import read_checklist

    def read(prefix: str) -> Work:
        return read_checklist(file, read_text(file), prefix, plain=plain)

    boxes = "no entry of a list is in it" if plain else f"{_NO_BOXES}; --plain takes entries without a box"
    _import(folder, (file,), read, strict, prefer_file, as_json, True, boxes)


def _import(
    folder: str | None,
    files: tuple[str, ...],
    read: Callable[[str], Work],
    strict: bool,
    prefer_file: bool,
    as_json: bool,
    whole: bool = False,
    without: str | None = None,
) -> None:
    """`without` is what is told of a file with nothing in it."""
    workspace = open_workspace(None if folder is None else Path(folder))
    settings = checked_settings(workspace)
    work = read(workspace.work_prefix(settings))
    name = ", ".join(Path(file).name for file in files)
    if strict and work.bad:
        brought = nothing([bad._asdict() for bad in work.bad])._replace(unknown_words=words_not_known(work))
    else:
        with open_door(folder) as door:
            brought = bring(door, work, name, settings, "file" if prefer_file else "newer", whole=whole)
    if as_json:
        print_json(brought.document())
    else:
        for line in brought.trouble():
            click.echo(line)
        if not work.issues and not work.bad and without:
            click.echo(one_line(f"{name}: {without}", 400))
        click.echo("Nothing was imported." if strict and work.bad else f"{brought.counted()}.")
    if brought.bad:
        sys.exit(1)
