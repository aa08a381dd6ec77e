"""`gemba assumptions`: the decisions that agents took alone."""

from __future__ import annotations

import click

from gemba.cli.door import open_door
from gemba.cli.show import SHORT_ID, age, json_option, print_json
from gemba.text import one_line


@click.command()
@click.option("--session", help="Only those of one session.")
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
    for item in page["assumptions"]:
        facts = [item["agent_type"], item["session_id"], item["bead_id"], f"{age(item['recorded_at'])} ago"]
        shown = " · ".join(one_line(str(fact), 40) for fact in facts if fact)
        click.echo(f"{click.style(item['id'][-SHORT_ID:], bold=True)}  {shown}")
        click.echo(f"    {one_line(item['text'], 110)}\n    chose: {one_line(item['chose'], 100)}")
        if item["overturned"]:
            click.echo(f"    overturned: {one_line(item['overturned']['text'], 100)} ({item['delivery']})")
    click.echo(f"{page['total']} in all." if page["total"] else "No agent has decided anything alone.")
