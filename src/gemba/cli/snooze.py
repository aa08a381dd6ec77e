"""`gemba snooze`: see it again later."""

from __future__ import annotations

import re

import click

from gemba.cli.complete import ids_of
from gemba.cli.door import act
from gemba.cli.show import json_option, local_time, tell

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def seconds(_ctx: click.Context, _param: click.Parameter, value: str) -> int:
    found = re.fullmatch(r"(\d{1,7})([smhd]?)", value)
    if found is None:
        raise click.BadParameter(f"{value!r} is not a time; write 90s, 15m, 2h or 1d")
    return int(found[1]) * _UNITS[found[2] or "s"]


@click.command()
@click.argument("id", shell_complete=ids_of("escalations", state="unresolved"))
@click.argument("for_", metavar="TIME", default="15m", callback=seconds)
@json_option
@click.pass_obj
def command(folder: str | None, id: str, for_: int, as_json: bool) -> None:
    """Put the escalation ID away for a TIME (90s, 15m, 2h, 1d; 15m if you say nothing). The asker goes on waiting.

    \b
    Example:
      gemba snooze 3fa9c1 2h
    """
    snoozed = act(folder, "escalation", id, "snooze", {"seconds": for_}, state="unresolved")
    tell(snoozed, as_json, f"snoozed {snoozed['id']} until {local_time(snoozed['snoozed_until'])}")
