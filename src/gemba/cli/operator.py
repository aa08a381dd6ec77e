"""`gemba operator`: the people who may act on this workspace, each by a token of their own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gemba import clock
from gemba.cli.door import server_socket
from gemba.cli.show import json_option, local_time, or_else, print_json
from gemba.config import Workspace, open_workspace
from gemba.operators import OPERATOR, add_operator, list_operators, remove_operator

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Let others act on this workspace under their own names: what they answer and decide is recorded as theirs.

    Everybody opens the page with an address of their own. On the command line GEMBA_OPERATOR=NAME says who acts;
    without it that is `operator`, whom every workspace has. Whoever can read .gemba/ can act as any of them. Without a
    command it is `list`.

    \b
    Example:
      gemba operator add maria
      gemba operator list
      GEMBA_OPERATOR=maria gemba answer 3fa9c1 "use UTC"
    """
    or_else(ctx, list_command, as_json)


def _added(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    try:
        found = list_operators(_workspace(ctx.find_root().params.get("workspace")).operators_folder)
    except Exception:  # noqa: BLE001 - whatever is wrong, a shell's prompt is no place to say it
        return []
    return [CompletionItem(listed.name) for listed in found if listed.name.startswith(incomplete)]


@command.command(short_help="Add one, and print their address.")
@click.argument("name")
@json_option
@click.pass_obj
def add(folder: str | None, name: str, as_json: bool) -> None:
    """Add the operator NAME, and print the address to open: once, for it holds the token.

    A NAME has 1 to 32 small letters, digits, '_' or '-'. A running server knows it at once.

    \b
    Example:
      gemba operator add maria
    """
    workspace = _workspace(folder)
    url, is_running = _url(workspace)
    token = add_operator(workspace.operators_folder, name)
    address = f"{url}/#token={token}"
    if as_json:
        print_json({"name": name, "address": address})
        return
    click.echo(f"{name} opens {address}")
    click.echo(f"Hand it to {name} in private; it is not shown again.")
    if not is_running:
        click.echo("No server runs now: `gemba serve` says where it listens, and what follows the # stays the same.")


@command.command(name="list", short_help="Show who may act on this workspace.")
@json_option
@click.pass_obj
def list_command(folder: str | None, as_json: bool) -> None:
    """Show who may act on this workspace.

    \b
    Example:
      gemba operator list
    """
    found = list_operators(_workspace(folder).operators_folder)
    if as_json:
        added = [
            {"name": listed.name, "added_at": clock.rfc3339(listed.added_at), "problem": listed.problem}
            for listed in found
        ]
        print_json({"operators": [{"name": OPERATOR, "added_at": None, "problem": None}, *added]})
        return
    click.echo(f"{OPERATOR}  whom every workspace has")
    longest = max([len(OPERATOR), *(len(listed.name) for listed in found)])
    for listed in found:
        problem = f"; the token is not accepted: {listed.problem}" if listed.problem else ""
        click.echo(f"{listed.name:<{longest}}  since {local_time(clock.rfc3339(listed.added_at))}{problem}")


@command.command(short_help="Take a token away.")
@click.argument("name", shell_complete=_added)
@json_option
@click.pass_obj
def remove(folder: str | None, name: str, as_json: bool) -> None:
    """Take the token of the operator NAME away; what NAME did stays recorded. Pages that are open are cut off.

    \b
    Example:
      gemba operator remove maria
    """
    remove_operator(_workspace(folder).operators_folder, name)
    if as_json:
        print_json({"name": name})
    else:
        click.echo(f"removed {name}")


def _workspace(folder: str | None) -> Workspace:
    return open_workspace(None if folder is None else Path(folder))


def _url(workspace: Workspace) -> tuple[str, bool]:
    """Where the page is, or else where a server would listen as it is set up now."""
    # It loads the web server.
    from gemba.api.server import Bind, last_port
    from gemba.api.server_file import read_server_file
    from gemba.config import read_settings

    told = read_server_file(workspace)
    if told is not None and server_socket(workspace) is not None:
        return told.url, True
    settings = read_settings(workspace).server
    port = next(iter(last_port(workspace)), settings.port)
    return Bind(settings.host, port).url(port), False
