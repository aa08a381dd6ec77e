"""`gemba completion`: the shell's side of completion, for `gemba` and for the commands of agents."""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from gemba import wire
from gemba.cli import agent, ask, state
from gemba.cli.show import json_option, print_json

_SHELLS: dict[str, type[ShellComplete]] = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}
_AGENTS: tuple[tuple[agent.Command, tuple[str, ...]], ...] = ((ask.COMMAND, ()), (state.COMMAND, wire.STATES))


@click.command()
@click.argument("shell", metavar="SHELL", type=click.Choice(list(_SHELLS)))
@json_option
@click.pass_context
def command(ctx: click.Context, shell: str, as_json: bool) -> None:
    """Print the script that completes gemba's commands, options and ids in your SHELL: bash, zsh or fish.

    \b
    Example:
      eval "$(gemba completion bash)"
      gemba completion fish > ~/.config/fish/completions/gemba.fish
    """
    script = _SHELLS[shell](ctx.find_root().command, {}, "gemba", "_GEMBA_COMPLETE").source()
    script += "".join(_of_agents(shell, known, words) for known, words in _AGENTS)
    if as_json:
        print_json({"shell": shell, "script": script})
    else:
        click.echo(script)


def _of_agents(shell: str, known: agent.Command, words: tuple[str, ...]) -> str:
    """`gemba-ask` and `gemba-state` have no time to complete themselves: their flags are written down here."""
    name, all_words = known.name, " ".join((*words, *known.flags))
    if shell == "bash":
        return f'complete -o default -W "{all_words}" {name}\n'
    if shell == "zsh":
        return f"_{name}() {{ compadd -- {all_words} }}\ncompdef _{name} {name}\n"
    lines = [f'complete -c {name} -f -a "{" ".join(words)}"'] if words else []
    for flag, row in known.flags.items():
        values = f' -x -a "{" ".join(row.allowed)}"' if row.allowed else " -r" if row.value and not row.optional else ""
        lines.append(f'complete -c {name} -l {flag.removeprefix("--")}{values} -d "{row.meaning}"')
    return "\n".join(lines) + "\n"
