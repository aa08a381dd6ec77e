"""`gemba persona record`, `comment`, `revoke` and `restore`: how advice fared, a persona's view of one thing, and its
authority."""

from __future__ import annotations

import contextlib
from typing import Any
from urllib.parse import quote

import click

from gemba.cli.door import Door, find_id, item_path, open_door
from gemba.cli.item_text import find_item
from gemba.cli.show import age, body_lines, headline, json_option, labelled, print_json, print_table, tell
from gemba.errors import NotFound
from gemba.text import showable


@click.command(short_help="Show how past rankings fared.")
@click.option("--persona", metavar="ID", help="Only of this persona.")
@click.option("--limit", type=click.IntRange(1, 500), default=200, show_default=True, help="Of so many rankings.")
@json_option
@click.pass_obj
def record(folder: str | None, persona: str | None, limit: int, as_json: bool) -> None:
    """Show how past rankings of epics fared, by persona and model.

    That is: the share of pairs that were finished in their order, how long epics waited for what they depend on, and
    conflicts of what was said to fit side by side.

    \b
    Example:
      gemba persona record --persona project-manager
    """
    with open_door(folder) as door:
        found = door.get("/api/personas/track-record", persona_id=persona, limit=limit)
    if as_json:
        print_json(found)
        return
    if not found["records"]:
        click.echo("No epics were ranked yet. Ask with: gemba consult start")
        return
    head = ("PERSONA", "MODEL", "RANKINGS", "APPLIED", "IN ORDER", "TAU", "WAITED", "CONFLICTS")
    print_table(head, [_row(one) for one in found["records"]])
    if found["more"]:
        click.echo(f"\nOf the newest {limit} rankings; --limit looks at more.")


def _row(one: dict[str, Any]) -> tuple[Any, ...]:
    agreement = "-" if one["agreement"] is None else f"{one['agreement']:.0%} of {one['pairs']}"
    tau = "-" if one["tau"] is None else f"{one['tau']:+.2f}"
    waited = "-" if one["blocked_hours"] is None else f"{one['blocked_hours']:,.1f} h"
    conflicts = f"{one['conflicts']} of {one['parallel_pairs']}"
    return one["persona_id"], one["model"], one["rankings"], one["applied"], agreement, tau, waited, conflicts


@click.command(short_help="Ask how something looks to a persona.")
@click.argument("persona")
@click.argument("ref")
@click.option("--agent", metavar="TYPE", help="Who answers.  [default: the persona's, or the workspace's]")
@click.option("--show", "only_show", is_flag=True, help="Ask nobody: show what was said of it so far.")
@json_option
@click.pass_obj
def comment(folder: str | None, persona: str, ref: str, agent: str | None, only_show: bool, as_json: bool) -> None:
    """Ask PERSONA how REF looks from where it stands: a work item, an escalation or a handoff, by the end of its id.

    The comment stands with the thing. It approves nothing and nothing waits for it.

    \b
    Example:
      gemba persona comment security shop-7f3k
      gemba persona comment security shop-7f3k --show
    """
    with open_door(folder) as door:
        id = _find(door, ref)
        if only_show:
            found = door.get("/api/perspectives", ref=id)
            print_json(found) if as_json else _tell(found)
            return
        body = {"persona_id": persona, "skill_id": "perspective", "raw_input": {"ref": id}}
        made = door.post("/api/consults", body | ({"agent_type": agent} if agent else {}))
    tell(made, as_json, f"{made['status']} {made['id']}: gemba persona comment {showable(persona)} {id} --show")


def _find(door: Door, given: str) -> str:
    """Of a work item, an escalation or a handoff."""
    with contextlib.suppress(NotFound):
        return find_item(door, given)
    for noun in ("escalation", "handoff"):
        try:
            id = find_id(door, noun, given)
            door.get(item_path(f"{noun}s", id))
        except NotFound:
            continue
        return id
    raise NotFound(f"no work item, escalation or handoff has the id {given}", code="not_found", found=given)


def _tell(found: dict[str, Any]) -> None:
    for one in found["perspectives"]:
        lines = headline(one["status"], None, one["persona_name"], [one["model"], f"{age(one['started_at'])} ago"])
        if one["ground"]:
            lines += body_lines(one["ground"])
        for finding in one["findings"]:
            lines += labelled("-", finding["text"])
        for label in ("summary", "error"):
            lines += labelled(f"{label}:", one[label]) if one[label] else []
        click.echo("\n".join(lines) + "\n")
    click.echo(f"{found['total']} in all." if found["total"] else "Nobody has said anything of it yet.")


def _change(folder: str | None, id: str, revoked: bool, reason: str, as_json: bool) -> None:
    with open_door(folder) as door:
        path = f"/api/personas/{quote(id, safe='')}/authority"
        done = door.post(path, {"revoked": revoked, "reason": reason})
    state = "applies nothing by itself any more" if revoked else "applies by itself what its mutation_authority lists"
    tell(done, as_json, f"{showable(id)} {state}")


@click.command(short_help="Take a manager's authority back.")
@click.argument("id")
@click.argument("reason", default="")
@json_option
@click.pass_obj
def revoke(folder: str | None, id: str, reason: str, as_json: bool) -> None:
    """Take back what the manager persona ID may apply by itself, at once; gemba item undo takes back what it applied.

    \b
    Example:
      gemba persona revoke security "not while I am away"
    """
    _change(folder, id, True, reason, as_json)


@click.command(short_help="Give a manager's authority again.")
@click.argument("id")
@click.argument("reason", default="")
@json_option
@click.pass_obj
def restore(folder: str | None, id: str, reason: str, as_json: bool) -> None:
    """Let the manager persona ID apply by itself again what its mutation_authority lists.

    \b
    Example:
      gemba persona restore security
    """
    _change(folder, id, False, reason, as_json)
