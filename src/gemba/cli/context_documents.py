"""`gemba context merge` and `check`: what a section does with a document, for scripts; no workspace and no server.

`merge` is the very function that is used for the updates of an accepted handoff, `check` the one that warns of live
state. The JSON they print is ASCII: text that is no Unicode is told by its escapes, and none of it drives a terminal.
"""

from __future__ import annotations

import json
import sys
from typing import Any, BinaryIO

import click

from gemba.cli.lines import bounded_lines
from gemba.cli.show import json_option
from gemba.errors import Invalid
from gemba.handoff.live_state import live_values
from gemba.handoff.merge import merge as merged
from gemba.text import one_line

_LARGEST = 16 * 1024 * 1024  # bytes of a document
_LONGEST_LINE = 1_200  # a pointer has at most 1,000 characters


@click.command(short_help="Merge an update into a document.")
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
    for number, line in enumerate(bounded_lines(file, _LARGEST) if by_line else [file.read(_LARGEST + 1)], start=1):
        if by_line and not line.strip():
            continue
        result = _merged(line, f"line {number}" if by_line else "the input", strict)
        refused |= "error" in result
        _print(result)
    sys.stdout.buffer.flush()
    sys.exit(1 if refused else 0)


@click.command(short_help="Find values of a running system in a document.")
@click.argument("file", type=click.File("rb"))
@json_option
def check(file: BinaryIO, as_json: bool) -> None:
    """Find in the JSON document FILE (- for stdin) what belongs to a running system and not into a section.

    That is pod counts, states of instances, ids of live cloud resources, IP addresses, DNS names given out by a cloud
    and IAM bindings derived from OIDC. Exit 0 when there is nothing of the kind, 1 with a line for each.

    \b
    Example:
      gemba context check payload.json
      kubectl get pods -o json | gemba context check - --json
    """
    document = read_document(file.read(_LARGEST + 1), "the input")
    found = [_live(value.pointer, value.kind, value.shown) for value in live_values(document)]
    if as_json:
        _print({"warnings": found})
        sys.stdout.buffer.flush()
    else:
        for one in found:
            click.echo(
                one_line(f"LIVE_STATE {one['pointer'] or 'the whole document'}: {one['message']}", _LONGEST_LINE)
            )
        if not found:
            click.echo("Nothing in it belongs to a running system.")
    sys.exit(1 if found else 0)


def read_document(data: bytes, where: str) -> Any:
    """The JSON value of a file's bytes, or an Invalid that says what is wrong."""
    if len(data) > _LARGEST:
        raise Invalid(f"{where} is longer than {_LARGEST:,} bytes", code="too_large")
    try:
        return json.loads(data.decode("utf-8", "replace"), parse_constant=_refuse_constant)
    except ValueError as error:
        raise Invalid(f"{where} is not JSON: {error}", code="invalid_json") from None
    except RecursionError:
        raise Invalid(f"{where} is nested too deeply", code="invalid_json") from None


def _merged(data: bytes, where: str, strict: bool) -> dict[str, Any]:
    try:
        document = _before_and_payload(data, where)
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


def _before_and_payload(data: bytes, where: str) -> dict[str, Any]:
    document = read_document(data, where)
    if not isinstance(document, dict) or "payload" not in document or document.keys() - {"before", "payload"}:
        raise Invalid(f'{where} must be an object {{"before": …, "payload": …}} and nothing else', code="invalid_value")
    return document


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _live(pointer: str, kind: str, shown: str) -> dict[str, str]:
    return {"code": "LIVE_STATE", "pointer": pointer, "message": f"{kind.replace('_', ' ')} {shown}"}


def _print(result: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(result, separators=(",", ":")).encode() + b"\n")
