"""`gemba export`: work items in the words of another tracker."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import click
import msgspec

from gemba import wire
from gemba.cli.door import Door, open_door
from gemba.cli.show import json_option, or_else, print_json
from gemba.errors import Unusable
from gemba.text import showable

_PAGE = 500


_output = click.option("--output", metavar="FILE", type=click.Path(dir_okay=False), help="Write there, in one step.")


@click.group(invoke_without_command=True)
@_output
@json_option
@click.pass_context
def command(ctx: click.Context, output: str | None, as_json: bool) -> None:
    """Write work items for another tracker. Without a command it is `beads`.

    \b
    Example:
      gemba export beads --output issues.jsonl
    """
    or_else(ctx, beads, as_json, output=output)


@command.command(short_help="As issues of the bd tracker (JSONL).")
@_output
@json_option
@click.pass_obj
def beads(folder: str | None, output: str | None, as_json: bool) -> None:
    """Write every work item as an issue of the bd tracker, one a line, in the order of their ids.

    What was imported goes out as it came, with what was changed here. The lines are JSON with --json or without; with
    --output and --json the number of them is printed.

    \b
    Example:
      gemba export beads | jq -r .title
      gemba export beads --output .beads/issues.jsonl
    """
    with open_door(folder) as door:
        issues = sorted(_issues(door), key=lambda pair: pair[0])
    data = b"".join(line + b"\n" for _, line in issues)
    if output is None:
        if sys.stdout is None:
            raise Unusable("stdout is closed", code="no_output")
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    _write(Path(output), data)
    if as_json:
        print_json({"file": output, "issues": len(issues)})
    else:
        click.echo(f"{len(issues):,} issues in {showable(output)}")


def _issues(door: Door) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    after: str | None = ""
    while after is not None:
        page = door.get("/api/work-items/export", after=after or None, limit=_PAGE)
        found += [(issue["id"], msgspec.json.encode(issue)) for issue in page["issues"]]
        after = page["next_after"]
    return found


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all: whoever watches the file never reads half of it."""
    if not path.parent.is_dir():
        what = "is no folder" if path.parent.exists() else "is not there"
        raise Unusable(f"the folder {showable(str(path.parent))} {what}", code="no_folder", found=str(path.parent))
    descriptor, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fchmod(descriptor, path.stat().st_mode & 0o777 if path.exists() else 0o644)
            os.fsync(descriptor)
        Path(partial).replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(partial).unlink()
        raise
    wire.sync_folder(str(path.parent))
