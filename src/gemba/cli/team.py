"""`gemba team`: team runs. Each subcommand is a module that is imported only when it is called."""

from __future__ import annotations

import click

from gemba.cli.lazy import LazyGroup
from gemba.cli.show import json_option, print_json

# name → (module, what it does). The module has a click command named `command`.
COMMANDS = {
    "msg": ("gemba.cli.team_msg", "Messages on the bus of a run."),
}


@click.group(cls=LazyGroup, rows=COMMANDS, invoke_without_command=True)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Team runs: the engine owns the rules, and agents do the work.

    \b
    Example:
      gemba team msg list team-3fa9c1d2e4b5
      gemba team msg status team-3fa9c1d2e4b5 --json
    """
    if ctx.invoked_subcommand is not None:
        if as_json:
            raise click.UsageError(f"--json goes behind {ctx.invoked_subcommand}.")
        return
    if as_json:
        print_json({"commands": {name: summary for name, (_, summary) in COMMANDS.items()}})
    else:
        click.echo(ctx.get_help())
