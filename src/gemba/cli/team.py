"""`gemba team`: team runs. Each subcommand is imported only when it is called."""

from __future__ import annotations

import click

from gemba.cli.lazy import LazyGroup
from gemba.cli.show import json_option, or_else

# name → (module, and behind a colon its click command unless that is named `command`; what it does).
COMMANDS = {
    "start": ("gemba.cli.team_start", "Plan a run, and start it."),
    "status": ("gemba.cli.team_reads:status", "What runs, what waits for you, what failed and why."),
    "list": ("gemba.cli.team_reads:show_list", "List runs, newest first."),
    "show": ("gemba.cli.team_reads:show", "Show a run with all its tasks, or one task."),
    "watch": ("gemba.cli.team_watch", "Follow a run to its end."),
    "report": ("gemba.cli.team_reads:report", "Print what came of a run."),
    "artifact": ("gemba.cli.team_reads:artifact", "Print what a task wrote down."),
    "accept": ("gemba.cli.team_commands:accept", "Take a task's work as it is, with a warning."),
    "retry": ("gemba.cli.team_commands:retry", "Do a task once more."),
    "revise": ("gemba.cli.team_commands:revise", "Have a task done otherwise."),
    "skip": ("gemba.cli.team_commands:skip", "Leave a task out, and all that needs it."),
    "feedback": ("gemba.cli.team_commands:feedback", "Say something to the tasks it is about."),
    "improve": ("gemba.cli.team_commands:improve", "Revise what has the lowest score."),
    "pause": ("gemba.cli.team_commands:pause", "Begin nothing new in a run."),
    "resume": ("gemba.cli.team_commands:resume", "Let a paused run go on."),
    "cancel": ("gemba.cli.team_commands:cancel", "End a run and every session of it."),
    "archive": ("gemba.cli.team_commands:archive", "Seal the folder of a run that is over."),
    "msg": ("gemba.cli.team_msg", "Messages on the bus of a run."),
}


@click.group(cls=LazyGroup, rows=COMMANDS, invoke_without_command=True)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Team runs: the engine owns the rules, and agents do the work.

    RUN is the id of a run or enough of it, as 3fa9; it can be left out where one run is under way. Without a command
    it is `status`.

    \b
    Example:
      gemba team start "investigate the slow query, fix it and test it"
      gemba team
      gemba team revise IMPL-001 "keep the index, drop the cache"
      gemba team start --plan team.toml --wait
    """
    from gemba.cli.team_reads import status

    or_else(ctx, status, as_json)
