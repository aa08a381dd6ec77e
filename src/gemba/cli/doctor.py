"""`gemba doctor`: what works and what does not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

import gemba
from gemba.cli.door import open_door
from gemba.cli.show import json_option, print_json, width
from gemba.config import open_workspace
from gemba.errors import GembaError
from gemba.text import fold, showable

_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


@click.command()
@json_option
@click.pass_obj
def command(folder: str | None, as_json: bool) -> None:
    """Check the workspace, the session logs, the database and the server; exit 1 if something is broken.

    \b
    Example:
      gemba doctor
    """
    try:
        with open_door(folder) as door:
            found = door.get("/api/doctor")
            server = "running" if door.is_server else "not running: `gemba serve` starts it"
    except GembaError as error:
        found, server = _nothing_works(error, folder), "unknown"
    if as_json:
        print_json(found)
    else:
        _show(found, server)
    sys.exit(1 if found["status"] == "fail" else 0)


def _nothing_works(error: GembaError, folder: str | None) -> dict[str, Any]:
    """A diagnosis where not even the workspace or its database can be opened."""
    hint = _copies(folder) if error.code == "database" and "gemba.db" in error.message else None
    check = {"id": error.code, "label": "Workspace", "status": "fail", "detail": error.message, "hint": hint}
    return {
        "status": "fail",
        "checks": [check],
        "counters": {},
        "version": gemba.__version__,
        "started_at": None,
        "workspace": "",
        "executors": [],
        "demo": False,
    }


def _copies(folder: str | None) -> str:
    """What there is to restore a database file from."""
    backups = open_workspace(None if folder is None else Path(folder)).backups
    copies = sorted(backups.glob("*.db"), key=lambda copy: copy.stat().st_mtime_ns)
    made = f"{copies[-1]} is the newest copy that Gemba made" if copies else f"there is nothing to restore in {backups}"
    return f"{made}; docs/how-to/back-up.md tells how, from it or from a copy of yours"


def _show(found: dict[str, Any], server: str) -> None:
    if server != "unknown":
        _line("ok", f"Server: {server}")
    for check in found["checks"]:
        _line(check["status"], f"{check['label']}: {showable(check['detail'])}")
        if check["hint"]:
            click.echo(f"      → {showable(check['hint'])}")
    if found["counters"]:
        counters = " · ".join(f"{name} {value}" for name, value in sorted(found["counters"].items()))
        click.echo("\n" + "\n".join(fold(counters, width())))


def _line(status: str, text: str) -> None:
    word = status.upper() if status == "fail" else status
    click.echo(f"{click.style(f'{word:>4}', fg=_COLOURS[status])}  {text}")
