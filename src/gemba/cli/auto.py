"""`gemba auto`: let ready work be given to agents without a person; see what holds that, and what was started."""

from __future__ import annotations

from typing import Any

import click

from gemba.cli.door import open_door
from gemba.cli.show import age, headline, json_option, labelled, or_else, print_json, print_table, tell
from gemba.text import showable

_COLOURS = {"started": "cyan", "claimed": "cyan", "done": "green", "failed": "red", "refused": "red", "left": "yellow"}


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Auto-dispatch: ready work is claimed for an agent that is free, and started, without you. Off by default.

    It needs two switches: the workspace's, and that of each type of agent that may be used. A server has to run.
    Without a command it is `status`.

    \b
    Example:
      gemba auto on && gemba auto on --agent claude
      gemba auto log
    """
    or_else(ctx, status, as_json)


def _switch(folder: str | None, on: bool, agent: str | None, as_json: bool) -> None:
    with open_door(folder) as door:
        made = door.post("/api/auto/switch", {"on": on, "agent_type": agent})
        found = door.get("/api/auto")
    about = f"for {showable(agent)}" if agent else "for the workspace"
    line = f"auto-dispatch is {'on' if on else 'off'} {about}"
    others = [each["agent_type"] for each in found["types"] if each["switch"]["on"]]
    if on and agent and not found["switch"]["on"]:
        line += "; it is off for the workspace: gemba auto on"
    elif on and not agent and not others:
        line += "; no type of agent is on: gemba auto on --agent TYPE"
    tell(made, as_json, line)


@command.command(short_help="Switch it on.")
@click.option("--agent", metavar="TYPE", help="For this type of agent.  [default: for the workspace]")
@json_option
@click.pass_obj
def on(folder: str | None, agent: str | None, as_json: bool) -> None:
    """Switch auto-dispatch on, for the workspace or for a type of agent. What the settings say no longer counts.

    \b
    Example:
      gemba auto on --agent builtin
    """
    _switch(folder, True, agent, as_json)


@command.command(short_help="Switch it off.")
@click.option("--agent", metavar="TYPE", help="For this type of agent.  [default: for the workspace]")
@json_option
@click.pass_obj
def off(folder: str | None, agent: str | None, as_json: bool) -> None:
    """Switch auto-dispatch off, for the workspace or for a type of agent. What runs goes on.

    \b
    Example:
      gemba auto off
    """
    _switch(folder, False, agent, as_json)


@command.command(short_help="Show its switches, and what holds it.")
@json_option
@click.pass_obj
def status(folder: str | None, as_json: bool = False) -> None:
    """Show the switches, how much runs, and every reason for which nothing, or nothing of a type, is started now.

    \b
    Example:
      gemba auto status --json
    """
    with open_door(folder) as door:
        found = door.get("/api/auto")
    if as_json:
        print_json(found)
        return
    click.echo(f"{_switched(found['switch'])}; {found['running']} of {found['max_parallel']} run.\n")
    rows = [(one["agent_type"], *_type(one)) for one in found["types"]]
    print_table(("TYPE", "SWITCH", "RUN", "CAN RUN HERE"), rows)
    for hold in found["holds"]:
        if hold["kind"] not in ("type_off", "unusable"):  # the table has them
            click.echo("\n".join(labelled("held:", hold["text"])))
    for kept in found["kept"]:
        click.echo("\n".join(labelled(f"{showable(kept['item_id'])}:", kept["reason"])))
    asked = found["advice"]
    if asked is not None:
        about = f"consult {asked['consult_id']}" if asked["consult_id"] else asked["trouble"]
        click.echo("\n".join(labelled("PM asked:", f"{age(asked['asked_at'])} ago; {about}")))


@command.command(short_help="Show what it started, and why.")
@click.option("--limit", type=click.IntRange(1, 500), default=20, show_default=True, help="At most this many.")
@json_option
@click.pass_obj
def log(folder: str | None, limit: int, as_json: bool) -> None:
    """Show what was started by itself, newest first, each with every reason and how it ended.

    \b
    Example:
      gemba auto log --limit 3
    """
    with open_door(folder) as door:
        found = door.get("/api/auto/starts", limit=limit)
    if as_json:
        print_json(found)
        return
    for start in found["starts"]:
        click.echo("\n".join(_lines(start)) + "\n")
    shown, total = len(found["starts"]), found["total"]
    rest = f", the newest {shown} shown" if shown < total else ""
    click.echo(f"{total} in all{rest}." if total else "Nothing was started by itself. Why: gemba auto status")


def _lines(start: dict[str, Any]) -> list[str]:
    facts = [start["session_id"], f"{start['score']} points", f"{age(start['created_at'])} ago"]
    lines = headline(start["state"], _COLOURS[start["state"]], start["item_id"], facts)
    lines += labelled("title:", start["title"], whole=False)
    lines += labelled("because:", start["because"])
    for reason in start["reasons"]:
        lines += labelled(f"{reason['points']:+4}" if reason["points"] else "   -", reason["text"])
    return lines + (labelled("trouble:", start["trouble"]) if start["trouble"] else [])


def _switched(switch: dict[str, Any]) -> str:
    word = "on" if switch["on"] else "off"
    by = (
        f"by {showable(switch['changed_by'])}, {age(switch['changed_at'])} ago"
        if switch["changed_at"]
        else "by default"
    )
    return f"auto-dispatch is {word} ({by})"


def _type(one: dict[str, Any]) -> tuple[str, str, str]:
    switch = one["switch"]
    word = "on" if switch["on"] else "off"
    by = f" by {switch['changed_by']}" if switch["changed_by"] else ""
    return f"{word}{by}", f"{one['living']} of {one['max_parallel']}", one["unusable"] or "yes"
