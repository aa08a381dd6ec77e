"""`gemba rules`: answers that are given by rule: seen, made and revoked."""

from __future__ import annotations

from typing import Any

import click

from gemba.cli.answer import parsed_value, standard_input
from gemba.cli.complete import ids_of
from gemba.cli.door import find_id, item_path, open_door
from gemba.cli.show import age, headline, json_option, labelled, or_else, print_items, print_json
from gemba.text import one_line


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Show, make and revoke rules: an answer that every ask of the same wording gets at once.

    A rule is made from an escalation and its wording; politeness, case and word endings make no difference, numbers,
    names and options do. What waits already is not answered by it. Without a command it is `list`.

    \b
    Example:
      gemba rules
      gemba rules add 3fa9c1 "use UTC everywhere"
      gemba rules revoke 77b0e2
    """
    or_else(ctx, show, as_json)


@command.command("list", short_help="Show the rules there are.")
@click.option("--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="At most this many.")
@json_option
@click.pass_obj
def show(folder: str | None, limit: int = 50, as_json: bool = False) -> None:
    """Show the rules there are and how often each was used: the live ones first, the newest first within.

    \b
    Example:
      gemba rules list --json
    """
    with open_door(folder) as door:
        page = door.get("/api/rules", limit=limit)
    if as_json:
        print_json(page)
        return
    print_items(page["rules"], _lines)
    click.echo(_summary(page))


@command.command(short_help="Always answer this so.")
@click.argument("escalation", shell_complete=ids_of("escalations", order="recent"))
@click.argument("text", required=False)
@click.option("-o", "--option", type=int, metavar="N", help="Always choose this option, by its number.")
@click.option("--value", metavar="JSON", help="Always answer with this value, where the ask has a schema for it.")
@json_option
@click.pass_obj
def add(
    folder: str | None, escalation: str, text: str | None, option: int | None, value: str | None, as_json: bool
) -> None:
    """From now on answer every ask of the same wording as ESCALATION with TEXT (`-` reads standard input).

    ESCALATION may wait or be settled. It is not answered by this, nor are others that wait already.

    \b
    Example:
      gemba rules add 3fa9c1 "use UTC everywhere"
      gemba rules add 3fa9c1 --option 2
    """
    if text == "-":
        text = standard_input()
    body: dict[str, Any] = {"text": text, "option": option}
    body = {name: word for name, word in body.items() if word is not None}
    if value is not None:
        body["value"] = parsed_value(value)
    if not body:
        raise click.UsageError("what is the answer? Give TEXT, --option N or --value JSON.")
    with open_door(folder) as door:
        target = find_id(door, "escalation", escalation)
        made = door.post("/api/rules", {"escalation_id": target, **body})
    if as_json:
        print_json(made)
        return
    click.echo(f"rule {made['id']}: every like {made['kind']} is answered: {one_line(made['answer']['text'], 80)}")
    if made["waiting"]:
        waits = "1 waits" if made["waiting"] == 1 else f"{made['waiting']} wait"
        click.echo(f"{waits} already, which it does not answer: gemba answer ID TEXT --group")


@command.command(short_help="Answer nothing by a rule any more.")
@click.argument("id", shell_complete=ids_of("rules"))
@json_option
@click.pass_obj
def revoke(folder: str | None, id: str, as_json: bool) -> None:
    """Answer nothing by the rule ID any more. What it has answered stays answered.

    \b
    Example:
      gemba rules revoke 77b0e2
    """
    with open_door(folder) as door:
        revoked = door.post(item_path("rules", find_id(door, "rule", id), "revoke"), {})
    if as_json:
        print_json(revoked)
    else:
        click.echo(f"revoked {revoked['id']}, used {_times(revoked['uses'])}")


def _lines(rule: dict[str, Any], id: str) -> list[str]:
    mark, colour = ("rule", "cyan") if rule["revoked_at"] is None else ("revoked", "bright_black")
    used = f"used {_times(rule['uses'])}" + (f", last {age(rule['last_used_at'])} ago" if rule["uses"] else "")
    facts = [rule["kind"], f"by {rule['made_by']}", f"{age(rule['made_at'])} ago", used]
    if rule["revoked_at"] is not None:
        facts.append(f"revoked by {rule['revoked_by']} {age(rule['revoked_at'])} ago")
    lines = headline(mark, colour, id, facts)
    lines += labelled("asked:", rule["text"], whole=False)
    return lines + labelled("answered:", rule["answer"]["text"], whole=False)


def _times(count: int) -> str:
    return {0: "never", 1: "once"}.get(count, f"{count} times")


def _summary(page: dict[str, Any]) -> str:
    shown, total = len(page["rules"]), page["total"]
    if not total:
        return "There are no rules. Make one with: gemba rules add ESCALATION TEXT"
    rest = f", {shown} of them shown" if shown < total else ""
    return f"{total} in all{rest}. Take one back with: gemba rules revoke ID"
