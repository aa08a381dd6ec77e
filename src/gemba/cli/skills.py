"""`gemba skills`: the agent skills there are, what is wrong with any, and a new one to start from.

Reads the files itself: it needs neither a server nor the database. Outside a workspace there are the bundled ones, and
`lint` takes any path.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click
import msgspec

from gemba.cli.findings import count, format_option, refuse_two_formats, tell_findings
from gemba.cli.new_file import write_new
from gemba.cli.show import body_lines, headline, json_option, labelled, or_else, print_json, tell
from gemba.config import open_workspace
from gemba.errors import Conflict, NotFound, Unusable
from gemba.skills.draft import DESCRIPTION, draft
from gemba.skills.library import BUNDLED, own_folder, read_library, read_paths
from gemba.skills.skill import LONGEST_DESCRIPTION, SKILL_ID, SKILL_ID_RULE, VARIETIES, Variety
from gemba.text import showable
from gemba.toml import nearest, quoted

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from gemba.skills.skill import AgentSkill, Library


class _SkillId(click.ParamType[str]):
    """The id of a skill, completed from those there are."""

    name = "skill_id"

    def shell_complete(self, ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        try:
            skills = read_library(_root(ctx.find_root().params.get("workspace"))).skills.values()
        except Exception:  # noqa: BLE001 - whatever is wrong, a shell's prompt is no place to say it
            return []
        return [
            CompletionItem(each.skill_id, help=each.description)
            for each in skills
            if each.skill_id.startswith(incomplete)
        ]


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Show, check and begin agent skills: Markdown that tells an agent how to do one kind of work, and how to ask.

    Some are bundled; a workspace's own are in .gemba/skills/. Without a command it is `list`.

    \b
    Example:
      gemba skills
      gemba skills show coach.walk
      gemba skills new shop.release --variety manager
      gemba skills lint
    """
    or_else(ctx, show_list, as_json)


@command.command("list", short_help="Show the skills there are.")
@json_option
@click.pass_obj
def show_list(folder: str | None, as_json: bool) -> None:
    """Show the skills that agents can be given. One with an error is left out: `lint` says why.

    \b
    Example:
      gemba skills list --json
    """
    library = read_library(_root(folder))
    if as_json:
        print_json({"skills": [_without_body(each) for each in library.skills.values()], "findings": library.findings})
        return
    for each in library.skills.values():
        click.echo("\n".join([*_headline(each), *body_lines(each.description)]) + "\n")
    wrong = sum(each.severity != "note" for each in library.findings)
    if wrong:
        click.echo(f"{count(wrong, 'fault')} in .gemba/skills: gemba skills lint")


@command.command(short_help="Show a skill as an agent gets it.")
@click.argument("skill_id", type=_SkillId())
@json_option
@click.pass_obj
def show(folder: str | None, skill_id: str, as_json: bool) -> None:
    """Show the skill SKILL_ID: what it is, where it is, and its text.

    \b
    Example:
      gemba skills show pm.stage_epics
    """
    skills = read_library(_root(folder)).skills
    if skill_id not in skills:
        raise NotFound(f"no skill is called {quoted(skill_id)}{nearest(skill_id, skills)}", code="not_found")
    found = skills[skill_id]
    if as_json:
        print_json(found)
        return
    click.echo("\n".join([*_headline(found), *labelled("file:", found.file), *body_lines(found.description)]))
    click.echo(f"\n{showable(found.body or '').strip()}")


@command.command(short_help="Say what is wrong with skills.")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(exists=True, path_type=Path))
@format_option
@json_option
@click.pass_obj
def lint(folder: str | None, paths: tuple[Path, ...], form: str | None, as_json: bool) -> None:
    """Say what is wrong with each PATH, a file or a folder of them; without one, with the skills of this workspace.

    Exit codes: 0 no error, with warnings or without; 1 an error; 2 the command line is wrong, or there is nothing to
    lint.

    \b
    Example:
      gemba skills lint
      gemba skills lint skills/ --format github
    """
    refuse_two_formats(form, as_json)
    library = read_paths(paths) if paths else _of_workspace(folder)
    summary = f"{count(len(library.skills), 'skill')} can be used, bundled ones among them"
    sys.exit(tell_findings(library.findings, form, as_json, {"skills": list(library.skills)}, summary))


@command.command(short_help="Begin a skill of your own.")
@click.argument("skill_id", type=_SkillId())
@click.option("--variety", type=click.Choice(VARIETIES), help="The authority of who follows it.  [default: coach]")
@click.option("--description", metavar="TEXT", help="When an agent uses it, in a sentence.")
@json_option
@click.pass_obj
def new(folder: str | None, skill_id: str, variety: str | None, description: str | None, as_json: bool) -> None:
    """Write .gemba/skills/SKILL_ID.md, to be filled in; of a bundled skill a copy, which is used in its place.

    \b
    Example:
      gemba skills new shop.release --variety manager --description "Bring a release out."
      gemba skills new coach.walk
    """
    root = open_workspace(None if folder is None else Path(folder)).root
    _check_new(root, skill_id, description)
    if skill_id in read_library(None).skills:
        if variety is not None or description is not None:
            raise click.UsageError(
                f"{skill_id} is bundled, and copied as it is; --variety and --description go with a new one."
            )
        text = (BUNDLED / f"{skill_id}.md").read_text()
    else:
        text = draft(skill_id, cast("Variety", variety or "coach"), description or DESCRIPTION)
    file = own_folder(root) / f"{skill_id}.md"
    write_new(file, text, "skill_exists")
    tell(
        {"skill_id": skill_id, "file": str(file)},
        as_json,
        f"{showable(str(file))}: fill it in, then: gemba skills lint",
    )


def _check_new(root: Path, skill_id: str, description: str | None) -> None:
    if not SKILL_ID.fullmatch(skill_id):
        raise click.UsageError(f"SKILL_ID is {quoted(skill_id)}; allowed: {SKILL_ID_RULE}.")
    if description is not None and not (
        description.isprintable() and 0 < len(description.strip()) <= LONGEST_DESCRIPTION
    ):
        raise click.UsageError(f"--description is one line of up to {LONGEST_DESCRIPTION} characters.")
    known = read_library(root).skills.get(skill_id)
    if known is not None and known.source == "workspace":
        raise Conflict(f"{known.file} has this skill_id already", code="skill_exists", found=skill_id)


def _root(folder: str | None) -> Path | None:
    """The root of the workspace; None outside of any, where none was named."""
    try:
        return open_workspace(None if folder is None else Path(folder)).root
    except Unusable as error:
        if folder is None and error.code == "no_workspace":
            return None
        raise


def _of_workspace(folder: str | None) -> Library:
    root = _root(folder)
    if root is None:
        raise click.UsageError("there is no workspace here: name a PATH, or make one with gemba init.")
    return read_library(root)


def _without_body(skill: AgentSkill) -> dict[str, object]:
    return {key: value for key, value in msgspec.to_builtins(skill).items() if key != "body"}


# ---- for people ------------------------------------------------------------------------------------------------------


def _headline(skill: AgentSkill) -> list[str]:
    where = {"bundled": "bundled", "workspace": ".gemba/skills"}[skill.source]
    return headline(
        "", None, skill.skill_id, [skill.variety, where, "in the place of a bundled one" if skill.overrides else None]
    )
