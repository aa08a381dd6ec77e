"""`gemba persona`: who can be consulted here, what each may do and spend, and what is wrong with files of others."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import click

from gemba.cli.door import open_door
from gemba.cli.persona_record import comment, record, restore, revoke
from gemba.cli.show import body_lines, json_option, labelled, or_else, print_json, print_table
from gemba.text import showable


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """The personas that can be consulted: who each is, what it answers for, what it may spend.

    Seven are shipped; a file .gemba/personas/ID.toml adds one, or takes the place of a shipped one. Without a command
    it is `list`.

    \b
    Example:
      gemba persona
      gemba persona show security
    """
    or_else(ctx, show_list, as_json)


@command.command("list", short_help="List them, and the files that have a fault.")
@click.option("--limit", type=click.IntRange(1, 500), default=200, show_default=True, help="At most this many.")
@json_option
@click.pass_obj
def show_list(folder: str | None, limit: int = 200, as_json: bool = False) -> None:
    """List the personas, and every fault of a file with its line.

    \b
    Example:
      gemba persona list --json
    """
    with open_door(folder) as door:
        found = door.get("/api/personas")
    found["personas"] = found["personas"][:limit]
    if as_json:
        print_json(found)
        return
    head = ("ID", "ROLE", "VARIETY", "PURVIEW", "TODAY", "SKILLS")
    print_table(head, [_line(row) for row in found["personas"]])
    for colour, kind in (("red", "faults"), ("yellow", "notes")):
        for fault in found[kind]:
            click.echo("\n" + click.style(showable(f"{fault['file']}:{fault['line']}"), fg=colour), nl=False)
            click.echo(f": {showable(fault['message'])}")


@command.command(short_help="Show one of them whole.")
@click.argument("id")
@json_option
@click.pass_obj
def show(folder: str | None, id: str, as_json: bool) -> None:
    """Show everything about the persona ID: its prompt, purview, budget, and what it may apply by itself.

    \b
    Example:
      gemba persona show project-manager
    """
    with open_door(folder) as door:
        found = door.get(f"/api/personas/{quote(id, safe='')}")
    if as_json:
        print_json(found)
        return
    click.echo(click.style(showable(found["name"]), bold=True) + f"  {showable(found['role'])}, {found['variety']}")
    for label, text in _facts(found):
        click.echo("\n".join(labelled(f"{label}:", text)))
    click.echo("\n" + "\n".join(body_lines(found["system_prompt"].strip())))


for _each in (record, comment, revoke, restore):
    command.add_command(_each)


def _line(row: dict[str, Any]) -> tuple[str, ...]:
    return (row["id"], row["role"], row["variety"], _purview(row), _today(row), ", ".join(row["skills"]) or "none")


def _purview(row: dict[str, Any]) -> str:
    return f"{row['purview']['domain']} ({row['authority']})" if row["authority"] else "none"


def _today(row: dict[str, Any]) -> str:
    today = row["today"]
    return f"{today['settled_dollars'] + today['reserved_dollars']:.2f} of {today['day_dollars']:.2f}"


def _authority(granted: dict[str, Any] | None, state: dict[str, Any]) -> str:
    if not granted:
        return "nothing"
    taken = f"revoked by {state['revoked_by']} ({state['reason'] or 'without a reason'}): " if state["revoked"] else ""
    return taken + ", ".join(granted["actions"])


def _facts(row: dict[str, Any]) -> list[tuple[str, str]]:
    model, budget, granted = row["model"], row["budget_policy"], row["mutation_authority"]
    perspective, purview = row["perspective"], row["purview"]
    phases = ", ".join(purview["active_phases"]) or "any, for work that is labelled so" if purview else ""
    scope = row["scope"]["repository"] or row["scope"]["kind"]
    return [
        ("id", f"{row['id']} ({row['origin']})"),
        ("scope", scope),
        ("skills", ", ".join(row["skills"]) or "none"),
        ("perspective", f"{perspective['statement'] or 'none'} ({perspective['volunteer_mode']})"),
        ("purview", f"{_purview(row)}; phases: {phases}" if purview else "none"),
        ("personality", row["personality"]["id"]),
        (
            "model",
            f"{model['vendor']} {model['model']}, {model['max_tokens']} tokens, temperature {model['temperature']}",
        ),
        ("agent type", row["agent_type"] or "the workspace's"),
        ("budget", f"{budget['max_per_invocation_dollars']:.2f} a call; today {_today(row)} dollars"),
        ("reads", ", ".join(row["reads"]) or "nothing"),
        ("applies by itself", _authority(granted, row["mutation_authority_state"])),
    ]
