"""`gemba sync`: what changes in a `.beads` folder is imported as it changes."""

from __future__ import annotations

import contextlib
import hashlib
import signal
import sys
from pathlib import Path
from typing import Any

import click

from gemba.cli.bringing import Brought, bring, nothing, read_text
from gemba.cli.door import open_door
from gemba.cli.show import json_option, print_json
from gemba.config import Settings, open_workspace
from gemba.errors import GembaError, NotFound
from gemba.escalations.policy_check import checked_settings
from gemba.text import one_line
from gemba.watch import FolderWatch

_ISSUES = ("issues.jsonl", "beads.jsonl")  # the second is an older name: where there are both, it is a leftover
_DEPENDENCIES = ("dependencies.jsonl", "deps.jsonl")
_QUIET_SECONDS = 0.1  # a file that was not written to for so long is whole
_MOST_WAITS = 20  # for one that is written to all the time


@click.command()
@click.argument("beads_folder", required=False, metavar="[FOLDER]", type=click.Path(file_okay=False))
@click.option("--once", is_flag=True, help="Import what is there, and end.")
@json_option
@click.pass_obj
def command(folder: str | None, beads_folder: str | None, once: bool, as_json: bool) -> None:
    """Import the issues in FOLDER (.beads of the workspace), and then every change of them, until Ctrl-C.

    One line tells of each item that was made or changed, and of each line that could not be imported. Nothing is
    written to the folder: `gemba export beads` does that.

    \b
    Example:
      gemba sync
      gemba sync --once
    """
    workspace = open_workspace(None if folder is None else Path(folder))
    path = Path(beads_folder) if beads_folder else workspace.root / ".beads"
    sync = _Sync(folder, path, checked_settings(workspace), as_json)
    if once:
        if not beads_files(path):
            raise NotFound(f"{path} has no {_ISSUES[0]}", code="not_found", found=str(path), allowed=_ISSUES[0])
        if sync.look().bad:
            sys.exit(1)
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt), FolderWatch(str(path)) as watch:
        if not as_json:
            click.echo(f"Watching {path}; Ctrl-C ends it.")
        sync.look_patiently()
        while True:
            changed = watch.wait(None)
            for _ in range(_MOST_WAITS):
                more = watch.wait(_QUIET_SECONDS)
                changed = None if changed is None or more is None else changed | more
                if more == set():
                    break
            if changed is None or changed & {*_ISSUES, *_DEPENDENCIES}:
                sync.look_patiently()


class _Sync:
    """A folder, and what its files held when they were imported last."""

    def __init__(self, folder: str | None, path: Path, settings: Settings, as_json: bool) -> None:
        self._folder = folder
        self._path = path
        self._settings = settings
        self._as_json = as_json
        self._seen = b""

    def look_patiently(self) -> None:
        """What cannot be done now is told; the next change tries it again."""
        try:
            self.look()
        except (GembaError, OSError) as error:
            click.echo(f"gemba: {one_line(getattr(error, 'message', str(error)), 400)}", err=True)

    def look(self) -> Brought:
        from gemba.work.interchange.lines import read_lines

        files = [(file.name, read_text(str(file))) for file in beads_files(self._path)]
        seen = hashlib.sha256("\0".join(part for file in files for part in file).encode(errors="replace")).digest()
        if not files or seen == self._seen:
            return nothing()
        with open_door(self._folder) as door:
            brought = bring(door, read_lines(files), self._path.name, self._settings)
        self._seen = seen
        for row in _rows(brought):
            if self._as_json:
                print_json(row)
            else:
                click.echo(row["text"])
        if not self._as_json:
            click.echo(f"{brought.counted()}.")
        sys.stdout.flush()
        return brought


def beads_files(path: Path) -> list[Path]:
    """The files of a folder that have its issues, and dependencies that stand apart from them."""
    issues = next(([path / name] for name in _ISSUES if (path / name).is_file()), [])
    return [*issues, *(path / name for name in _DEPENDENCIES if (path / name).is_file())]


def _rows(brought: Brought) -> list[dict[str, Any]]:
    """One for each change, with the line that tells of it."""
    made = [(row, "created", f"made {row['id']}: {one_line(row['title'], 80)}") for row in brought.created]
    made += [(row, "changed", f"changed {row['id']}: {', '.join(row['fields'])}") for row in brought.changed]
    rows = [{**row, "outcome": outcome, "text": text} for row, outcome, text in made]
    return [*rows, *({"outcome": "trouble", "text": line} for line in brought.trouble())]
