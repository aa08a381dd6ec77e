"""`gemba assumptions`: the decisions that agents took alone."""

from __future__ import annotations

from typing import Any

import click

from gemba.cli.door import open_door
from gemba.cli.show import age, headline, json_option, labelled, print_items, print_json


@click.command()
@click.option("--session", metavar="ID", help="Only those of one session.")
@click.option("--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="At most this many.")
@json_option
@click.pass_obj
def command(folder: str | None, session: str | None, limit: int, as_json: bool) -> None:
    """Show what agents decided alone, newest first.

    \b
    Example:
      gemba assumptions --session worker-1
    """
    with open_door(folder) as door:
        page = door.get("/api/assumptions", session=session, limit=limit)
    if as_json:
        print_json(page)
        return
    print_items(page["assumptions"], _lines)
    click.echo(_summary(page))


def _lines(item: dict[str, Any], id: str) -> list[str]:
    facts = [item["agent_type"], item["session_id"], item["bead_id"], f"{age(item['recorded_at'])} ago"]
    lines = headline("", None, id, facts)
    lines += labelled("asked itself:", item["text"], whole=False)
    lines += labelled("chose:", item["chose"], whole=False)
    if item["overturned"]:
        read = {"delivered": "the agent has read it", "undelivered": "the agent could not be told"}
        lines += labelled("overturned:", item["overturned"]["text"], whole=False)
        lines += labelled("", f"({read.get(item['delivery'], 'the agent has not read it yet')})")
    return lines


def _summary(page: dict[str, Any]) -> str:
    shown, total = len(page["assumptions"]), page["total"]
    if not total:
        return "No agent has decided anything alone."
    rest = f", the newest {shown} shown" if shown < total else ""
    return f"{total} in all{rest}. Decide otherwise with: gemba overturn ID TEXT"
