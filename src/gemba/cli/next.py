"""`gemba next`: what a session should do next and why, and what can be done at the same time."""

from __future__ import annotations

from typing import Any

import click

from gemba.cli.door import find_named, open_door
from gemba.cli.item_text import PLURAL
from gemba.cli.show import headline, json_option, labelled, print_json

_MOST = 500


@click.command()
@click.option("--session", metavar="ID", help="For this session: the beginning or the end of its id.")
@click.option("--room", type=click.IntRange(0), metavar="TOKENS", help="What is left of the session's context.")
@click.option("--for", "intent", multiple=True, metavar="WORD", help="A concept or label that it is for.")
@click.option("--batch", is_flag=True, help="Show what can be done at the same time, why, and what conflicts.")
@click.option("--limit", type=click.IntRange(1, 500), default=5, show_default=True, help="At most this many items.")
@json_option
@click.pass_obj
def command(
    folder: str | None,
    session: str | None,
    room: int | None,
    intent: tuple[str, ...],
    batch: bool,
    limit: int,
    as_json: bool,
) -> None:
    """Say what to do next: of what is ready the best for a session, with the points that make it so.

    Without --session it is for one that has done nothing yet. What you ordered goes first. What somebody has claimed,
    or what touches the files of something that is running, is ruled out, and told. With --json you get every session.

    \b
    Example:
      gemba next
      gemba next --session 4f2a --room 60000
      gemba next --batch --limit 4
    """
    with open_door(folder) as door:
        named = None if session is None else find_named(door, "session", session)
        # The reasons of what can be done at once stand with the choices, which are others where some conflict.
        most = _MOST if batch and not as_json else limit
        asked = {"room": room, "intent": ",".join(intent) or None, "limit": most, "batch": limit}
        found = door.get(f"/api/{PLURAL}/selection", session=named, **asked)
    if as_json:
        print_json(found)
    elif batch:
        _tell_batch(found)
    else:
        _tell(found)


def _tell(found: dict[str, Any]) -> None:
    names = {item["id"]: item for item in found["items"]}
    first = found["sessions"][0]
    for choice in first["choices"]:
        lines = headline(f"{choice['rank']}.", "green", choice["item_id"], [f"{choice['score']} points"])
        lines += labelled("title:", names[choice["item_id"]]["title"], whole=False)
        lines += _reasons(choice)
        click.echo("\n".join(lines) + "\n")
    for out in first["ruled_out"]:
        lines = headline("not", None, out["item_id"], [])
        for gate in out["gates"]:
            lines += labelled("   -", gate["text"])
        click.echo("\n".join(lines) + "\n")
    click.echo(_counted(first, found["more"]))


def _reasons(choice: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    for reason in choice["reasons"]:
        lines += labelled(f"{reason['points']:+4}" if reason["points"] else "   -", reason["text"])
    return lines


def _counted(ranking: dict[str, Any], more: bool) -> str:
    total, out = ranking["total"], ranking["total_ruled_out"]
    if not total and not out:
        return "Nothing is ready. Why: gemba ready --explain"
    shown = f", the best {len(ranking['choices'])} shown" if len(ranking["choices"]) < total else ""
    rest = " Only the first that are ready were looked at." if more else ""
    return f"{total} can be done{shown}; {out} ruled out.{rest}"


def _tell_batch(found: dict[str, Any]) -> None:
    names, batch = {item["id"]: item for item in found["items"]}, found["batch"]
    choices = {choice["item_id"]: choice for choice in found["sessions"][0]["choices"]}
    for id in batch["items"]:
        choice = choices.get(id)
        points = [] if choice is None else [f"{choice['score']} points"]
        lines = headline("", "green", id, [*points, *(["names no targets"] if id in batch["unknown"] else [])])
        lines += labelled("title:", names[id]["title"], whole=False)
        lines += [] if choice is None else _reasons(choice)
        click.echo("\n".join(lines) + "\n")
    for pair in batch["conflicts"]:
        click.echo("\n".join(labelled("not at once:", pair["text"])))
    if batch["conflicts"]:
        click.echo("    … and more.\n" if batch["more"] else "")
    many = len(batch["items"])
    click.echo(f"{many} can be done at the same time." if many else "Nothing is ready. Why: gemba ready --explain")
