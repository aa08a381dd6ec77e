"""`gemba audit`: the log of what was decided, checked against what is remembered outside of it, and exported."""

from __future__ import annotations

import sys
from typing import Any

import click

from gemba.cli.door import open_door
from gemba.cli.show import json_option, local_time, or_else, print_json, tell
from gemba.text import showable

_PAGE = 500


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Check and export the audit log: what was decided and applied, each entry chained to the one before.

    Without a command it is `verify`.

    \b
    Example:
      gemba audit verify
      gemba audit export > audit.jsonl
    """
    or_else(ctx, verify, as_json)


@command.command(short_help="Is the log as it was written?")
@json_option
@click.pass_obj
def verify(folder: str | None, as_json: bool) -> None:
    """Check every entry, and the whole against the anchors kept in the home folder. Exit 1 names the first bad entry.

    \b
    Example:
      gemba audit verify
    """
    with open_door(folder) as door:
        found: dict[str, Any] = door.get("/api/audit/verdict")
    if as_json:
        print_json(found)
    elif found["ok"]:
        click.echo(f"{_how_many(found)}, checked against {found['anchors']} anchors: all as they were written")
    else:
        click.echo(f"entry {found['number']} is bad ({found['what']}): {found['detail']}")
        click.echo(f"→ {showable(found['hint'])}")
    if found["begun"]:
        click.echo(showable(_beginning(found["begun"])))
    sys.exit(0 if found["ok"] else 1)


def _how_many(found: dict[str, Any]) -> str:
    before = found["begun"]["number"] - 1 if found["begun"] else 0
    return f"{found['entries'] - before} entries"


def _beginning(begun: dict[str, Any]) -> str:
    since = f"This log began anew with entry {begun['number']}, by {begun['by']} at {local_time(begun['at'])}"
    before = "" if begun["number"] == 1 else " The entries before it are kept, and not vouched for."
    return f"{since}: {begun['reason']}{'' if begun['reason'].endswith('.') else '.'}{before}"


@command.command(short_help="Begin a new log after one that is gone.")
@click.option("--reason", required=True, help="What happened to the log before; the new one says so.")
@json_option
@click.pass_obj
def begin(folder: str | None, reason: str, as_json: bool) -> None:
    """Begin a new log where `verify` finds the one there gone or changed. Nothing is removed: old entries and anchors
    stay, and the first entry of the new log says who began it, why, and what was wrong.

    \b
    Example:
      gemba audit begin --reason "the workspace was cloned anew, without .gemba/"
    """
    with open_door(folder) as door:
        begun: dict[str, Any] = door.post("/api/audit/begin", {"reason": reason})
    tell(begun, as_json, f"a new audit log begins with entry {begun['number']}; `gemba audit verify` checks it")


@command.command(short_help="Print the log, a line of JSON for each entry.")
@click.option("--json", "_as_json", is_flag=True, help="Print JSON, as it does anyway.")
@click.pass_obj
def export(folder: str | None, _as_json: bool) -> None:
    """Print every entry as one line of JSON, with its hash and the one before: whoever has them can check them again.

    \b
    Example:
      gemba audit export > audit.jsonl
    """
    with open_door(folder) as door:
        after = 0
        while entries := door.get("/api/audit", after=after, limit=_PAGE)["entries"]:
            for entry in entries:
                print_json(entry)
            after = entries[-1]["number"]
