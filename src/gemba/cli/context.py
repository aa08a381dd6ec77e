"""`gemba context`: the sections of project knowledge that this workspace declares, and the merge of updates to them.

`merge` is the very function that is used for the updates of an accepted handoff; it needs neither a workspace nor a
server.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import click

from gemba.cli.show import json_option, labelled, print_json
from gemba.config import open_workspace
from gemba.errors import Invalid
from gemba.handoff.live_state import live_values
from gemba.handoff.merge import merge as merged
from gemba.handoff.sections import read_sections
from gemba.text import showable

_LARGEST = 16 * 1024 * 1024  # bytes of a document


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """What is known of this project, in sections: which there are, who writes them, how updates are merged.

    They are declared in .gemba/context.toml. Without a command it is `sections`.

    \b
    Example:
      gemba context
      gemba context merge update.json
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(sections, as_json=as_json)
    elif as_json:
        raise click.UsageError(f"--json goes behind {ctx.invoked_subcommand}.")


@command.command(short_help="Show the sections of this workspace.")
@json_option
@click.pass_obj
def sections(folder: str | None, as_json: bool) -> None:
    """Show the sections: the paths each is about, and the roles that may write it.

    \b
    Example:
      gemba context sections --json
    """
    found = read_sections(open_workspace(None if folder is None else Path(folder)))
    if as_json:
        print_json({"sections": found})
        return
    for section in found:
        click.echo(showable(section.name) + (" (strict)" if section.strict else ""))
        for label, words in (("paths:", section.paths), ("writers:", section.writers)):
            click.echo("\n".join(labelled(label, ", ".join(words) or "none")))
    if not found:
        click.echo("No section is declared in .gemba/context.toml.")


@command.command(short_help="Merge an update into a document.")
@click.argument("file", type=click.File("rb"))
@click.option("--jsonl", "by_line", is_flag=True, help="Each line is such an object; one line a result, in order.")
@click.option("--strict", is_flag=True, help="Refuse a payload with values of a running system.")
@click.option("--json", "_as_json", is_flag=True, help="Print JSON, which it does anyway.")
def merge(file: BinaryIO, by_line: bool, strict: bool, _as_json: bool) -> None:
    """Merge {"before": …, "payload": …} of FILE (- for stdin) and print {"after", "changes", "warnings"}.

    Keys are added, objects merged, lists united, other values overwritten; nothing is deleted that the payload does
    not mention. Exit 1 if anything was refused: it has an "error" then, and "after" is what was before.

    \b
    Example:
      echo '{"before": {"ports": [80]}, "payload": {"ports": [443]}}' | gemba context merge -
      gemba context merge updates.jsonl --jsonl
    """
    refused = False
    for number, line in enumerate(_lines(file) if by_line else [file.read(_LARGEST + 1)], start=1):
        result = _merged(line, f"line {number}" if by_line else "the input", strict)
        refused |= "error" in result
        # ASCII alone: text that is no Unicode is told by its escapes, and none of it drives a terminal.
        sys.stdout.buffer.write(json.dumps(result, separators=(",", ":")).encode() + b"\n")
    sys.stdout.buffer.flush()
    sys.exit(1 if refused else 0)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Lines that say anything, each cut behind its limit; the rest of one that is too long is skipped."""
    while line := file.readline(_LARGEST + 1):
        rest = line
        while len(rest) > _LARGEST and not rest.endswith(b"\n"):
            rest = file.readline(_LARGEST + 1)
        if line.strip():
            yield line


def _merged(data: bytes, where: str, strict: bool) -> dict[str, Any]:
    try:
        document = _document(data, where)
        live = [_live(value.pointer, value.kind, value.shown) for value in live_values(document["payload"])]
        if live and strict:
            message = f"{where}: payload{live[0]['pointer']} is of a running system: {live[0]['message']}"
            raise Invalid(message, code="live_state")
        after, changes, warnings = merged(document.get("before"), document["payload"])
        result = {"after": after, "changes": changes, "warnings": [*warnings, *live]}
        json.dumps(result)
    except Invalid as error:
        return {"error": error.message}
    except RecursionError:
        return {"error": f"{where} is nested too deeply"}
    return result


def _document(data: bytes, where: str) -> dict[str, Any]:
    if len(data) > _LARGEST:
        raise Invalid(f"{where} is longer than {_LARGEST:,} bytes", code="too_large")
    try:
        document = json.loads(data.decode("utf-8", "replace"), parse_constant=_refuse_constant)
    except ValueError as error:
        raise Invalid(f"{where} is not JSON: {error}", code="invalid_json") from None
    if not isinstance(document, dict) or "payload" not in document or document.keys() - {"before", "payload"}:
        raise Invalid(f'{where} must be an object {{"before": …, "payload": …}} and nothing else', code="invalid_value")
    return document


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _live(pointer: str, kind: str, shown: str) -> dict[str, str]:
    return {"code": "LIVE_STATE", "pointer": pointer, "message": f"{kind.replace('_', ' ')} {shown}"}
