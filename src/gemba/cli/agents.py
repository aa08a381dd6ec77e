"""`gemba agents`: which types of agents sessions can be started with here, and why not with the others.

Reads the workspace's file itself: it needs neither a server nor the database, and looks for programs where this
command finds them. No value of a variable is shown, since one may be a password.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from gemba.cli.show import json_option, labelled, or_else, print_json, print_table
from gemba.config import Workspace, open_workspace
from gemba.sessions.agents.agent import Agent, reference_of, usable
from gemba.sessions.agents.file import agents_path, find_agent, read_agents
from gemba.text import showable

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_ORIGINS = {
    "shipped": "as shipped",
    "changed": "shipped, changed in .gemba/agents.toml",
    "workspace": "of .gemba/agents.toml",
}


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """The types of agents that sessions can be started with: what each is, and whether it can be used here.

    Some are shipped; .gemba/agents.toml changes them and adds others. Without a command it is `list`.

    \b
    Example:
      gemba agents
      gemba agents show claude
    """
    or_else(ctx, list_agents, as_json)


@command.command("list", short_help="List them, and say which can be used.")
@json_option
@click.pass_obj
def list_agents(folder: str | None, as_json: bool) -> None:
    """List the types: name, backend, mode, and whether each can be used here or why not.

    \b
    Example:
      gemba agents list --json
    """
    workspace = _workspace(folder)
    found = read_agents(workspace).values()
    if as_json:
        print_json({"file": str(agents_path(workspace)), "agents": [_view(agent, workspace) for agent in found]})
        return
    rows = [(agent.name, agent.backend, agent.interaction_mode, _state(agent, workspace)) for agent in found]
    print_table(("NAME", "BACKEND", "MODE", "STATE"), rows)


def _known(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    try:
        found = read_agents(_workspace(ctx.find_root().params.get("workspace")))
    except Exception:  # noqa: BLE001 - whatever is wrong, a shell's prompt is no place to say it
        return []
    return [
        CompletionItem(name, help=agent.description) for name, agent in found.items() if name.startswith(incomplete)
    ]


@command.command(short_help="Show one of them whole.")
@click.argument("name", shell_complete=_known)
@json_option
@click.pass_obj
def show(folder: str | None, name: str, as_json: bool) -> None:
    """Show everything about the type NAME: what is started, how it gets its prompt, its limits.

    Of its variables the names are shown, and where a value is taken from.

    \b
    Example:
      gemba agents show codex
    """
    workspace = _workspace(folder)
    agent = find_agent(read_agents(workspace), name)
    if as_json:
        print_json(_view(agent, workspace))
        return
    click.echo(click.style(agent.name, bold=True) + (f"  {showable(agent.description)}" if agent.description else ""))
    for label, text in _facts(agent, workspace):
        click.echo("\n".join(labelled(f"{label}:", text)))


def _workspace(folder: str | None) -> Workspace:
    return open_workspace(None if folder is None else Path(folder))


def _state(agent: Agent, workspace: Workspace) -> str:
    return usable(agent, workspace.root) or "usable"


def _view(agent: Agent, workspace: Workspace) -> dict[str, Any]:
    """A type for programs: `why_not` is null for one that can be used; of variables, what they are taken from."""
    why_not = usable(agent, workspace.root)
    environment = {name: {"from": reference_of(value)} for name, value in agent.environment.items()}
    told = {"name": agent.name, **msgspec.to_builtins(agent), "environment": environment}
    return {**told, "usable": why_not is None, "why_not": why_not}


def _facts(agent: Agent, workspace: Workspace) -> list[tuple[str, str]]:
    typed = "ends with its turn" if agent.headless else "can be typed to"
    place = f"on a {agent.terminal}" if agent.backend == "process" else "in a pane"
    facts = [
        ("state", _state(agent, workspace)),
        ("from", _ORIGINS[agent.origin]),
        ("command", shlex.join(agent.command) or "none"),
        ("backend", f"{agent.backend}, {place}, {typed}"),
        ("mode", agent.interaction_mode),
        ("prompt", agent.prompt),
        ("instructions", agent.instructions or "none"),
        ("hooks", agent.hooks),
    ]
    if agent.environment:
        facts.append(("environment", ", ".join(_variable(*pair) for pair in agent.environment.items())))
    limits = msgspec.to_builtins(agent.limits).items()
    facts.append(("limits", ", ".join(f"{name} {value or 'none'}" for name, value in limits)))
    return [*facts, ("at a time", f"{agent.max_parallel} sessions")]


def _variable(name: str, value: str) -> str:
    taken = reference_of(value)
    return name if taken is None else f"{name} (from {taken})"
