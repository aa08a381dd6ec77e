"""`gemba context resolve`: what a reference to another repository's context names, and where that lies here."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from gemba.cli.context_show import value_lines
from gemba.cli.door import item_path, open_door
from gemba.cli.show import json_option, print_json
from gemba.config import open_workspace
from gemba.errors import Invalid, NotFound
from gemba.handoff.references import Identity, Reference, normalise, parse, resolve, why_not
from gemba.handoff.repositories import beside, known
from gemba.text import one_line, showable


@click.command("resolve", short_help="Say where a reference to another repository leads.")
@click.argument("ref")
@click.option(
    "--in",
    "folders",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Look in this checkout, instead of this workspace and the folders beside it; may be repeated.",
)
@json_option
@click.pass_obj
def command(folder: str | None, ref: str, folders: tuple[Path, ...], as_json: bool) -> None:
    """Say which repository REF names, and where it is checked out: in this workspace, or in a folder beside it.

    REF is host/owner/repo:table/name, which is the entry `name` of the section `table` of that repository's context;
    or a repository's address in any form that git takes. User, password, port and .git are never part of the answer.
    Exit 1 when REF is neither, or when the repository is not checked out here.

    \b
    Example:
      gemba context resolve github.com/acme/shop:api/routes
      gemba context resolve git@github.com:acme/shop.git
    """
    root = open_workspace(None if folder is None else Path(folder)).root
    named = _read(ref)
    path = resolve(named, known([each.resolve() for each in folders] or beside(root)))
    if path is None:
        raise NotFound(f"{_identity(named)} is not checked out here; --in FOLDER looks elsewhere", code="not_found")
    found: dict[str, Any] = {"repository": str(_identity(named)), "path": path}
    if isinstance(named, Reference):
        found |= {"reference": str(named), "table": named.table, "name": named.name}
        if Path(path) == root:
            found["value"] = _entry(folder, named)
    if as_json:
        print_json(found)
    else:
        _tell(found)


def _read(ref: str) -> Reference | Identity:
    named = parse(ref) or normalise(ref)
    if named is None:
        raise Invalid(
            f"this is no reference (host/owner/repo:table/name) and no repository's address: {why_not(ref)}",
            code="invalid_reference",
        )
    return named


def _identity(named: Reference | Identity) -> Identity:
    return named.identity if isinstance(named, Reference) else named


def _entry(folder: str | None, reference: Reference) -> Any:
    """What stands there in this workspace."""
    with open_door(folder) as door:
        section = door.get(item_path("context", reference.table))
    if reference.name not in section["value"]:
        raise NotFound(
            f"section {reference.table} has no entry {reference.name}; there are: "
            f"{one_line(', '.join(section['value']) or 'none', 200)}",
            code="not_found",
        )
    return section["value"][reference.name]


def _tell(found: dict[str, Any]) -> None:
    click.echo(showable(f"{found.get('reference', found['repository'])} lies in {found['path']}"))
    if "value" in found:
        click.echo("\n".join(value_lines(found["value"])))
    elif "table" in found:
        click.echo(showable(f"see it with: gemba -C {shlex.quote(found['path'])} context show {found['table']}"))
