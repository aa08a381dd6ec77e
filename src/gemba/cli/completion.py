"""`gemba completion`: the shell's side of completion."""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from gemba.cli.show import json_option, print_json

_SHELLS: dict[str, type[ShellComplete]] = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


@click.command()
@click.argument("shell", type=click.Choice(list(_SHELLS)))
@json_option
@click.pass_context
def command(ctx: click.Context, shell: str, as_json: bool) -> None:
    """Print the script that completes gemba's commands and options in your SHELL.

    \b
    Example:
      eval "$(gemba completion bash)"
      gemba completion fish > ~/.config/fish/completions/gemba.fish
    """
    script = _SHELLS[shell](ctx.find_root().command, {}, "gemba", "_GEMBA_COMPLETE").source()
    if as_json:
        print_json({"shell": shell, "script": script})
    else:
        click.echo(script)
