"""`gemba`: the operator's command. Each subcommand is a module that is imported only when it is called."""

from __future__ import annotations

import os
import re
import sys
from typing import NoReturn

import click

import gemba
from gemba.cli.lazy import LazyGroup
from gemba.errors import GembaError
from gemba.text import showable

# name → (module, what it does). The module has a click command named `command`.
COMMANDS = {
    "init": ("gemba.cli.init", "Make this repository a workspace."),
    "serve": ("gemba.cli.serve", "Run the server and the page."),
    "worker": ("gemba.cli.worker", "Run the flows without the page."),
    "demo": ("gemba.cli.demo", "Try Gemba: a temporary workspace with living agents."),
    "open": ("gemba.cli.open", "Open the page of the running server."),
    "floor": ("gemba.cli.floor", "Show what needs you, runs, is next, and cost."),
    "inbox": ("gemba.cli.inbox", "Show what waits for you."),
    "walk": ("gemba.cli.walk", "Go through all that waits, one decision at a time."),
    "answer": ("gemba.cli.answer", "Answer an escalation."),
    "ack": ("gemba.cli.ack", "Say that you have seen an escalation."),
    "dismiss": ("gemba.cli.dismiss", "Decline to answer an escalation."),
    "snooze": ("gemba.cli.snooze", "Look at an escalation later."),
    "undo": ("gemba.cli.undo", "Take back an answer that is still held back."),
    "confirm": ("gemba.cli.confirm", "Agree to an answer that somebody proposed."),
    "reject": ("gemba.cli.reject", "Refuse an answer that somebody proposed."),
    "reroute": ("gemba.cli.reroute", "Send a reply that did not arrive another way."),
    "reopen": ("gemba.cli.reopen", "Open again what typing in the pane resolved."),
    "assumptions": ("gemba.cli.assumptions", "Show what agents decided alone."),
    "overturn": ("gemba.cli.overturn", "Decide otherwise than an agent did."),
    "approval": ("gemba.cli.approval", "Decide about commands that wait for approval."),
    "audit": ("gemba.cli.audit", "Check and export the log of what was decided."),
    "rules": ("gemba.cli.rules", "Answers that are given by rule."),
    "policy": ("gemba.cli.policy", "See, check and test reminders and expiry."),
    "handoff": ("gemba.cli.handoff", "Check the contract at the end of an agent's turn."),
    "context": ("gemba.cli.context", "What is known of this project, and how it is updated."),
    "item": ("gemba.cli.item", "Work items: made, changed, related, claimed."),
    "ready": ("gemba.cli.ready", "Show what is ready to be worked on."),
    "next": ("gemba.cli.next", "Say what to do next, and what can be done at once."),
    "auto": ("gemba.cli.auto", "Let ready work be given to agents without you."),
    "sprint": ("gemba.cli.sprint", "Sprints: planned, given a budget, started, closed."),
    "usage": ("gemba.cli.usage", "Show what turns took, by whom and for what."),
    "import": ("gemba.cli.import_work", "Take in work from beads, a sheet or a checklist."),
    "export": ("gemba.cli.export_work", "Write work items for the bd tracker."),
    "sync": ("gemba.cli.sync", "Take in what changes in a .beads folder."),
    "session": ("gemba.cli.session", "Start agents, see them, stop them."),
    "memory": ("gemba.cli.memory", "Decide what is remembered for later turns."),
    "plan": ("gemba.cli.plan", "Put epics into an order, with reasons."),
    "agents": ("gemba.cli.agents", "Show which types of agents can be started here."),
    "persona": ("gemba.cli.persona", "Show who can be consulted, and what each may spend."),
    "consult": ("gemba.cli.consult", "Ask a persona for advice, and apply it."),
    "refine": ("gemba.cli.refine", "See the backlog, and have items of it refined."),
    "phase": ("gemba.cli.phase", "Show or set the phase that the project is in."),
    "skills": ("gemba.cli.skills", "Show, check and begin skills of agents."),
    "team": ("gemba.cli.team", "Team runs: started, watched, decided, by rule."),
    "roles": ("gemba.cli.roles", "Show, check and begin roles of teams."),
    "install-bridge": ("gemba.cli.install_bridge", "Put hooks into Claude Code's settings."),
    "attention": ("gemba.cli.attention", "Show what the asks of the last days cost."),
    "operator": ("gemba.cli.operator", "Let others act under their own names."),
    "doctor": ("gemba.cli.doctor", "Say what works and what does not."),
    "completion": ("gemba.cli.completion", "Print the completion script for your shell."),
}


@click.group(cls=LazyGroup, rows=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(gemba.__version__, "-V", "--version", message="gemba %(version)s")
@click.option(
    "-C",
    "workspace",
    metavar="FOLDER",
    type=click.Path(),
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
    # click colours what goes to a terminal and nothing else; these say otherwise.
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        ctx.color = False
    elif os.environ.get("FORCE_COLOR"):
        ctx.color = True


def main() -> None:
    """Run, with every refusal as one readable line on stderr and exit 1 (usage: 2)."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            # A terminal that cannot show a character shows its number.
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        cli.main(prog_name="gemba", standalone_mode=False)
    except click.exceptions.Exit as error:
        sys.exit(error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(2)
    except click.UsageError as error:
        name = error.ctx.command_path if error.ctx else "gemba"
        _fail(f"{name}: {_in_plain_words(error)} Try '{name} --help'.", 2)
    except click.ClickException as error:
        _fail(f"gemba: {error.format_message()}", 1)
    except click.Abort:
        sys.exit(1)
    except GembaError as error:
        _fail(f"gemba: {error.plain}", 1)
    except OSError as error:
        if isinstance(error, BrokenPipeError):  # the reader went away; there is nobody to tell
            message = ""
        else:
            message = f"gemba: {f'{error.filename}: ' if error.filename else ''}{error.strerror or error}"
        # What is still buffered goes nowhere, instead of failing once more at exit.
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC), sys.stdout.fileno())
        _fail(message, 1)


def _in_plain_words(error: click.UsageError) -> str:
    """What click says of a command line that is wrong, as one sentence."""
    if isinstance(error, click.NoSuchOption) and error.option_name == "--json":
        at_top = error.ctx is None or error.ctx.parent is None
        return f"No such option '--json'{': it goes behind the command, as in gemba inbox --json' if at_top else ''}."
    told = " ".join(error.format_message().split())
    told = re.sub(r"is not a valid integer(?: range)?", "is not a whole number", told)
    return told if told.endswith((".", "?", "!")) else f"{told}."


def _fail(message: str, code: int) -> NoReturn:
    if message and sys.stderr is not None:
        sys.stderr.write(" ".join(showable(message).splitlines()) + "\n")
    sys.exit(code)
