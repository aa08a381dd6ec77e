"""`gemba context`: what is known of this project, by section: seen, changed, taken back.

What needs no workspace is in `context_documents`, references to other repositories in `context_resolve`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from gemba.cli import context_resolve
from gemba.cli.context_documents import check, merge, read_document
from gemba.cli.context_show import change_lines, revision_lines, section_lines, warning_lines
from gemba.cli.door import item_path, open_door
from gemba.cli.show import json_option, labelled, or_else, print_json
from gemba.config import open_workspace
from gemba.errors import Conflict, Invalid
from gemba.handoff.payload import MOST_BYTES, kept
from gemba.handoff.sections import read_sections
from gemba.text import showable

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_LINES_OF_VALUE = 12  # of each section in a list; `show NAME` has the whole


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """What is known of this project, in sections: which there are, what they say, how that changed.

    They are declared in .gemba/context.toml, and agents are given them before they work. What an accepted handoff
    updates is merged into them; you can do the same, and take back any of it. Without a command it is `sections`.

    \b
    Example:
      gemba context
      gemba context show api
      gemba context apply api payload.json
      gemba context history api
      gemba context undo api
    """
    or_else(ctx, sections, as_json)


@command.command(short_help="Show which sections this workspace declares.")
@json_option
@click.pass_obj
def sections(folder: str | None, as_json: bool) -> None:
    """Show the sections: the paths each is about, and the roles that may write it.

    \b
    Example:
      gemba context sections --json
    """
    found = read_sections(open_workspace(None if folder is None else Path(folder)))
    if as_json:
        print_json({"sections": found})
        return
    for section in found:
        click.echo(showable(section.name) + (" (strict)" if section.strict else ""))
        for label, words in (("paths:", section.paths), ("writers:", section.writers)):
            click.echo("\n".join(labelled(label, ", ".join(words) or "none")))
    if not found:
        click.echo("No section is declared in .gemba/context.toml.")


def _declared(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    try:
        given = ctx.find_root().params.get("workspace")
        found = read_sections(open_workspace(None if given is None else Path(given)))
    except Exception:  # noqa: BLE001 - whatever is wrong, a shell's prompt is no place to say it
        return []
    return [CompletionItem(section.name) for section in found if section.name.startswith(incomplete)]


@command.command(short_help="Show what is known.")
@click.argument("name", required=False, shell_complete=_declared)
@json_option
@click.pass_obj
def show(folder: str | None, name: str | None, as_json: bool) -> None:
    """Show what is known in section NAME; without it in all of them, of each the first lines.

    \b
    Example:
      gemba context show
      gemba context show api --json
    """
    with open_door(folder) as door:
        found = door.get("/api/context" if name is None else item_path("context", name))
    if as_json:
        print_json(found)
    elif name is not None:
        click.echo("\n".join(section_lines(found)))
    else:
        for section in found["sections"]:
            click.echo("\n".join(section_lines(section, _LINES_OF_VALUE)) + "\n")
        if not found["sections"]:
            click.echo("No section is declared in .gemba/context.toml.")


@command.command(short_help="Show what changed in a section.")
@click.argument("name", shell_complete=_declared)
@click.option("--limit", type=click.IntRange(1, 500), default=20, show_default=True, help="At most this many.")
@json_option
@click.pass_obj
def history(folder: str | None, name: str, limit: int, as_json: bool) -> None:
    """Show the revisions of section NAME, newest first: who changed what, and by which handoff.

    \b
    Example:
      gemba context history api
    """
    with open_door(folder) as door:
        found = door.get(item_path("context", name, "history"), limit=limit)
    if as_json:
        print_json(found)
        return
    for revision in found["revisions"]:
        click.echo("\n".join(revision_lines(revision)) + "\n")
    shown, total = len(found["revisions"]), found["total"]
    if not total:
        click.echo(f"Section {showable(name)} has never changed.")
    else:
        click.echo(f"{total} in all{f', {shown} of them shown' if shown < total else ''}.")


@command.command("apply", short_help="Merge a payload into a section.")
@click.argument("name", shell_complete=_declared)
@click.argument("file", type=click.File("rb"))
@click.option("--strict", is_flag=True, help="Refuse values of a running system, as a strict section does anyway.")
@json_option
@click.pass_obj
def apply_payload(folder: str | None, name: str, file: BinaryIO, strict: bool, as_json: bool) -> None:
    """Merge the JSON object of FILE (- for stdin) into section NAME, as an accepted handoff would.

    Keys are added, objects merged, lists united, other values overwritten; nothing is deleted that the payload does
    not mention. What changes nothing makes no revision.

    \b
    Example:
      gemba context apply api payload.json
      echo '{"ports": [443]}' | gemba context apply api -
    """
    payload = read_document(file.read(MOST_BYTES + 1), "the input")
    if not isinstance(payload, dict):
        raise Invalid("the input is no JSON object; allowed: {…}", code="wrong_type")
    with open_door(folder) as door:
        done = door.post(item_path("context", name), {"payload": kept(payload, name), "strict": strict})
    if done["changes"]:
        _tell(done, as_json, f"{name}: revision {done['section']['revision']}")
    else:
        _tell(done, as_json, f"{name}: nothing changed")


@command.command(short_help="Take back what changed a section.")
@click.argument("name", shell_complete=_declared)
@click.argument("revision", type=int, required=False)
@json_option
@click.pass_obj
def undo(folder: str | None, name: str, revision: int | None, as_json: bool) -> None:
    """Take back REVISION of section NAME, by a new one; without it the last that is in effect.

    Done again and again it walks back. An undo is a revision too: give its number to take that back. A revision after
    which others came cannot be undone before they are.

    \b
    Example:
      gemba context undo api
      gemba context undo api 4
    """
    with open_door(folder) as door:
        wanted = revision if revision is not None else door.get(item_path("context", name))["standing"]
        if wanted == 0 and revision is None:
            raise Conflict(f"section {name} has nothing to undo", code="nothing_to_undo")
        done = door.post(item_path("context", name, "undo"), {"revision": wanted})
    _tell(done, as_json, f"{name}: revision {wanted} is undone, by revision {done['section']['revision']}")


def _tell(done: dict[str, Any], as_json: bool, line: str) -> None:
    if as_json:
        print_json(done)
    else:
        click.echo("\n".join([showable(line), *change_lines(done), *warning_lines(done["warnings"])]))


command.add_command(merge)
command.add_command(check)
command.add_command(context_resolve.command)
