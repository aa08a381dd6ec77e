"""`gemba`: the operator's command. Each subcommand is a module that is imported only when it is called."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import click

import gemba
from gemba.errors import GembaError
from gemba.text import showable

# name → (module, what it does). The module has a click command named `command`.
COMMANDS = {
    "init": ("gemba.cli.init", "Make this repository a workspace."),
    "serve": ("gemba.cli.serve", "Run the server and the page."),
    "demo": ("gemba.cli.demo", "Try Gemba: a temporary workspace with living agents."),
    "open": ("gemba.cli.open", "Open the page of the running server."),
    "inbox": ("gemba.cli.inbox", "Show what waits for you."),
    "answer": ("gemba.cli.answer", "Answer an escalation."),
    "dismiss": ("gemba.cli.dismiss", "Decline to answer an escalation."),
    "snooze": ("gemba.cli.snooze", "Look at an escalation later."),
    "reopen": ("gemba.cli.reopen", "Open again what typing in the pane resolved."),
    "assumptions": ("gemba.cli.assumptions", "Show what agents decided alone."),
    "overturn": ("gemba.cli.overturn", "Decide otherwise than an agent did."),
    "doctor": ("gemba.cli.doctor", "Say what works and what does not."),
    "completion": ("gemba.cli.completion", "Print the completion script for your shell."),
}


class LazyGroup(click.Group):
    """Knows its commands by name and loads the one that is wanted."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        row = COMMANDS.get(cmd_name)
        return None if row is None else importlib.import_module(row[0]).command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise click.UsageError(f"{error.message} Commands: {', '.join(COMMANDS)}.", ctx) from None


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(gemba.__version__, "-V", "--version", message="gemba %(version)s")
@click.option(
    "-C",
    "workspace",
    metavar="FOLDER",
    help="Work in the workspace of this folder instead of the current one.",
)
@click.pass_context
def cli(ctx: click.Context, workspace: str | None) -> None:
    """The operator's floor for teams of coding agents.

    Agents ask with gemba-ask; you see who waits for you, and answer in one place.

    \b
    Example:
      gemba init && gemba serve      in your repository
      gemba inbox                    what waits for you
      gemba answer 3fa9c1 "use UTC"  by the end of its id
    """
    ctx.obj = workspace


def main() -> None:
    """Run, with every refusal as one readable line on stderr and exit 1 (usage: 2)."""
    try:
        cli.main(prog_name="gemba", standalone_mode=False)
    except click.exceptions.Exit as error:
        sys.exit(error.exit_code)
    except click.UsageError as error:
        error.show()
        sys.exit(2)
    except click.ClickException as error:
        error.show()
        sys.exit(1)
    except click.Abort:
        sys.exit(1)
    except GembaError as error:
        sys.stderr.write(f"gemba: {showable(error.message)}\n")
        sys.exit(1)
    except BrokenPipeError:
        # The reader went away; there is nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
