"""`gemba roles`: the role-specs of a workspace, what is wrong with any, and a new one to start from.

Reads the files itself: it needs neither a server nor the database. Outside a workspace `lint` takes any path, and no
name in cli_tools is unknown.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click
import msgspec

from gemba.cli.findings import count, format_option, refuse_two_formats, tell_findings
from gemba.cli.new_file import write_new
from gemba.cli.show import body_lines, headline, json_option, or_else, print_json, tell
from gemba.config import Workspace, open_workspace
from gemba.errors import Conflict, Unusable
from gemba.teams.roles.library import own_folder, read_own, read_paths
from gemba.teams.roles.role_spec import PATTERNS, PREFIX, PREFIX_RULE, ROLE, ROLE_RULE, Document, Pattern
from gemba.text import showable
from gemba.toml import quoted

if TYPE_CHECKING:
    from gemba.teams.roles.generate import Wanted
    from gemba.teams.roles.role_spec import RoleSpec


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Show, check and begin role-specs: Markdown that says what a role of a team works on, and how it verifies it.

    A workspace's own are in .gemba/roles/. Without a command it is `list`.

    \b
    Example:
      gemba roles
      gemba roles new release-writer --pattern document
      gemba roles lint
    """
    or_else(ctx, show_list, as_json)


@command.command("list", short_help="Show the role-specs there are.")
@json_option
@click.pass_obj
def show_list(folder: str | None, as_json: bool) -> None:
    """Show the roles that this workspace has role-specs of. One with an error is left out: `lint` says why.

    \b
    Example:
      gemba roles list --json
    """
    workspace = _workspace(folder)
    found = read_own(workspace.root, _agents(workspace))
    if as_json:
        print_json({"roles": [_without_body(each) for each in found.specs], "findings": found.findings})
        return
    for each in found.specs:
        told = headline("", None, each.role, [f"{each.prefix}-*", each.file])
        click.echo("\n".join([*told, *body_lines(each.responsibility)]) + "\n")
    if not found.specs:
        click.echo("no role-spec yet: gemba roles new")
    if found.findings:
        click.echo(f"{count(len(found.findings), 'fault')} in .gemba/roles: gemba roles lint")


@command.command(short_help="Say what is wrong with role-specs.")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(exists=True, path_type=Path))
@format_option
@json_option
@click.pass_obj
def lint(folder: str | None, paths: tuple[Path, ...], form: str | None, as_json: bool) -> None:
    """Say what is wrong with each PATH, a file or a folder of them; without one, with those of this workspace.

    Exit codes: 0 no error, with warnings or without; 1 an error; 2 the command line is wrong, or there is nothing to
    lint.

    \b
    Example:
      gemba roles lint
      gemba roles lint roles/ --format github
    """
    refuse_two_formats(form, as_json)
    workspace = _workspace_or_none(folder)
    if paths:
        found = read_paths(paths, _agents(workspace))
    elif workspace is not None:
        found = read_own(workspace.root, _agents(workspace))
    else:
        raise click.UsageError("there is no workspace here: name a PATH, or make one with gemba init.")
    beside = {"roles": [each.role for each in found.specs]}
    summary = f"{count(len(found.specs), 'role-spec')} can be used"
    sys.exit(tell_findings(found.findings, form, as_json, beside, summary))


@command.command(short_help="Begin a role-spec of your own.")
@click.argument("name")
@click.option("--pattern", type=click.Choice(PATTERNS), required=True, help="The kind of work that it begins from.")
@click.option("--prefix", metavar="PREFIX", help="Of its tasks.  [default: the pattern's]")
@click.option("--responsibility", metavar="TEXT", help="What it answers for, in a line.  [default: the pattern's]")
@click.option("--inner-loop", is_flag=True, help="Let one agent work on a chain of its tasks.")
@click.option("--cli-tool", "tools", metavar="NAME", multiple=True, help="A type of agent that it may call; repeat it.")
@click.option("--loads", metavar="TEXT", multiple=True, help="A source of phase 2, in the pattern's place; repeat it.")
@click.option("--publishes", metavar="TEXT", multiple=True, help="An artifact, in the pattern's place; repeat it.")
@json_option
@click.pass_obj
def new(
    folder: str | None,
    name: str,
    pattern: str,
    prefix: str | None,
    responsibility: str | None,
    inner_loop: bool,
    tools: tuple[str, ...],
    loads: tuple[str, ...],
    publishes: tuple[str, ...],
    as_json: bool,
) -> None:
    """Write .gemba/roles/NAME.md from a pattern: research, document, code, analysis or validation.

    It is right as it is; change what your project does otherwise, then lint it.

    \b
    Example:
      gemba roles new release-writer --pattern document
      gemba roles new developer --pattern code --prefix IMPL --cli-tool claude --inner-loop
    """
    from gemba.teams.roles.generate import Wanted, generate

    workspace = _workspace(folder)
    wanted = Wanted(name, cast("Pattern", pattern), prefix, responsibility, inner_loop, tools, loads, publishes)
    _check_words(wanted)
    file = own_folder(workspace.root) / f"{name}.md"
    text = generate(wanted)
    _check_text(text, workspace)
    _check_is_new(name, workspace)
    write_new(file, text, "role_exists")
    tell({"role": name, "file": str(file)}, as_json, f"{showable(str(file))}: make it yours, then: gemba roles lint")


@command.command(short_help="Print the traits that every role-spec has.")
@json_option
def traits(as_json: bool) -> None:
    """Print the block that stands in phase 4 of every role-spec, to be copied to the letter.

    \b
    Example:
      gemba roles traits
    """
    from gemba.teams.roles.traits import traits_block

    tell({"traits": traits_block()}, as_json, traits_block().rstrip("\n"))


def _check_words(wanted: Wanted) -> None:
    """What stands in a line of its own there."""
    if not ROLE.fullmatch(wanted.role):
        raise click.UsageError(f"NAME is {quoted(wanted.role)}; allowed: {ROLE_RULE}.")
    if wanted.prefix is not None and not PREFIX.fullmatch(wanted.prefix):
        raise click.UsageError(f"--prefix is {quoted(wanted.prefix)}; allowed: {PREFIX_RULE}.")
    for flag, words in (
        ("--responsibility", (wanted.responsibility,)),
        ("--loads", wanted.loads),
        ("--publishes", wanted.publishes),
    ):
        if any(word is not None and not (word.strip() and word.isprintable()) for word in words):
            raise click.UsageError(f"{flag} is one line with words in it.")


def _check_text(text: str, workspace: Workspace) -> None:
    """Words that were given may break a rule, as those of any author."""
    from gemba.teams.roles.validate import validate

    for each in validate(Document("", text.encode()), _agents(workspace)).findings:
        raise click.UsageError(f"that would be no role-spec: {each.message} ({each.hint}).")


def _check_is_new(role: str, workspace: Workspace) -> None:
    for each in read_own(workspace.root, None).specs:
        if each.role == role:
            raise Conflict(f"{each.file} has this role already", code="role_exists", found=role)


def _workspace(folder: str | None) -> Workspace:
    return open_workspace(None if folder is None else Path(folder))


def _workspace_or_none(folder: str | None) -> Workspace | None:
    """None outside of any workspace, where none was named."""
    try:
        return _workspace(folder)
    except Unusable as error:
        if folder is None and error.code == "no_workspace":
            return None
        raise


def _agents(workspace: Workspace | None) -> list[str] | None:
    """The names of the types of agents there are, those with a fault among them: `gemba agents` tells of it."""
    from gemba.sessions.agents.file import sound_agents

    if workspace is None:
        return None
    found = sound_agents(workspace)
    return [*found.agents, *found.faulty]


def _without_body(spec: RoleSpec) -> dict[str, object]:
    return {key: value for key, value in msgspec.to_builtins(spec).items() if key != "body"}
