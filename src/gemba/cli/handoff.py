"""`gemba handoff`: the contract at the end of a turn, checked, explained and given as a template.

All of that needs neither a workspace nor a server. `check` exits with 1 only where there is a verdict and it refuses; a
file that cannot be read has none, and is the fault of the command line. A bulk audit holds one line in memory at a
time. What needs a workspace is in `handoff_dispatch` and `handoff_submit`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

import click

from gemba.cli.github import annotate
from gemba.cli.handoff_dispatch import dispatch, dispatches
from gemba.cli.handoff_submit import show, show_list, submit
from gemba.cli.handoff_text import STDIN, on_one_line, read_bounded, reading, shown_name
from gemba.cli.lines import bounded_lines
from gemba.cli.show import json_option, or_else, print_json
from gemba.errors import NotFound
from gemba.handoff import finding, rules
from gemba.handoff.block import MAX_TEXT, Found, find_block
from gemba.handoff.fields import PLAN_STATUSES
from gemba.handoff.verdict import Finding, Verdict, judge, judge_line, to_dict
from gemba.text import showable

_LARGEST_INPUT = 16 * 2**20
_LONGEST_LINE = 4 * MAX_TEXT  # bytes of a line of a bulk audit: the largest text, with escapes as JSON needs them


class _Status(click.Choice[str]):
    """A plan status in any case; shown as the table writes it."""

    def normalize_choice(self, choice: object, ctx: click.Context | None) -> str:
        return str(choice).strip().upper()


input_option = click.option("--input", "given_in", metavar="ENVELOPE", help="The input envelope of the turn, as JSON.")


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Give work to agents; check the contract in which a turn ends, and get one to fill in.

    To check one needs no workspace and no server. Without a command it is `template`.

    \b
    Example:
      gemba handoff template > turn.md
      gemba handoff check turn.md
      gemba handoff explain PLAN_STATUS
    """
    or_else(ctx, template, as_json)


command.add_command(dispatch)
command.add_command(dispatches)
command.add_command(submit)
command.add_command(show_list)
command.add_command(show)


@command.command(short_help="Say whether a turn's text is accepted.")
@click.argument("file")
@input_option
@click.option("--strict", is_flag=True, help="Refuse fields that are not known.")
@click.option("--jsonl", is_flag=True, help="Read lines of {text, input?}, write the verdict on each.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "github"]), help="How to tell it.  [default: text]"
)
@json_option
def check(file: str, given_in: str | None, strict: bool, jsonl: bool, form: str | None, as_json: bool) -> None:
    """Say whether the text in FILE (`-`: standard input) ends in a handoff that is accepted, and what is wrong with it.

    Exit codes: 0 accepted; 1 refused, with --jsonl if any was; 2 the command line is wrong, or a file cannot be read.

    \b
    Example:
      gemba handoff check turn.md
      gemba handoff check - --input envelope.json --json < turn.md
      gemba handoff check turns.jsonl --jsonl > verdicts.jsonl
    """
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json does not go with --format {form}.")
    if jsonl:
        _refuse_beside_jsonl(given_in, form)
        sys.exit(0 if _check_lines(file, strict) else 1)
    if file == given_in == STDIN:
        raise click.UsageError("FILE and --input cannot both be standard input.")
    given = _read_envelope(given_in)
    text = read_bounded(file, MAX_TEXT)
    verdict = judge(text, given, strict=strict)
    if as_json or form == "json":
        print_json(to_dict(verdict))
    elif form == "github":
        _annotate(file, text, verdict)
    else:
        _tell(file, text, verdict)
    sys.exit(0 if verdict.valid else 1)


@command.command(short_help="Print a handoff to fill in.")
@click.option(
    "--status",
    type=_Status(PLAN_STATUSES),
    default="COMPLETE",
    show_default=True,
    help="How the turn ends.",
)
@input_option
@json_option
def template(status: str = "COMPLETE", given_in: str | None = None, as_json: bool = False) -> None:
    """Print a handoff that is accepted as it is, to fill in; with --input, one that fits what the turn was given.

    \b
    Example:
      gemba handoff template --status NEEDS_INPUT
    """
    from gemba.handoff.template import template as block_for

    block = block_for(_read_envelope(given_in), status)
    if as_json:
        print_json({"plan_status": status, "text": block, "document": find_block(block).body})
    else:
        click.echo(block, nl=False)


@command.command(short_help="Say what a code means, and what helps.")
@click.argument("code", required=False)
@json_option
def explain(code: str | None, as_json: bool) -> None:
    """Say what the CODE of a verdict means, and what helps. Without one, list every code in a line.

    \b
    Example:
      gemba handoff explain PLAN_STATUS:DONE
      gemba handoff explain | grep warning
    """
    from gemba.handoff import reference

    try:
        rows = reference.ALL if code is None else reference.rows_of(code)
    except NotFound as error:
        raise _with_nearest(code or "", error) from None
    if as_json:
        print_json({"code": code, "rules": [rule._asdict() for rule in rows]})
    else:
        click.echo(reference.listing() if code is None else showable(reference.explain(code)))


@command.command(short_help="Print the JSON Schema of a handoff.")
@json_option
def schema(as_json: bool) -> None:
    """Print the JSON Schema (draft 2020-12) of the output envelope; with --json on one line.

    \b
    Example:
      gemba handoff schema > handoff.schema.json
    """
    from gemba.handoff.schema import json_schema

    if as_json:
        print_json(json_schema())
    else:
        click.echo(json.dumps(json_schema(), indent=2))


def _with_nearest(code: str, error: NotFound) -> NotFound:
    """The same refusal, with the codes that it might have meant: by their letters, else by a word that they have."""
    wanted = code.strip().partition(":")[0].upper()[:64]
    near = get_close_matches(wanted, error.allowed, 3) or [head for head in error.allowed if wanted and wanted in head]
    near = near[:3] or get_close_matches(wanted, error.allowed, 3, 0)
    message = f"no rule has the code {finding.quoted(code)}; the nearest: {', '.join(near)}"
    return NotFound(message, code=error.code, found=error.found, allowed=error.allowed)


# ---- reading ---------------------------------------------------------------------------------------------------------


def _read_envelope(name: str | None) -> dict[str, Any] | None:
    """An input envelope. One that cannot be read is no reason to ask for less."""
    if name is None:
        return None
    data = read_bounded(name, _LARGEST_INPUT)
    if len(data) > _LARGEST_INPUT:
        raise click.UsageError(f"--input {shown_name(name)} is larger than {_LARGEST_INPUT} bytes.")
    try:
        given = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"--input {shown_name(name)} is not JSON: {str(error)[:200]}.") from None
    if type(given) is not dict:
        raise click.UsageError(f"--input {shown_name(name)} is no input envelope: it holds no JSON object.")
    return given


# ---- many at once ----------------------------------------------------------------------------------------------------


def _refuse_beside_jsonl(given_in: str | None, form: str | None) -> None:
    if given_in is not None:
        raise click.UsageError("--input does not go with --jsonl: a line brings its own, as {text, input}.")
    if form not in (None, "json"):
        raise click.UsageError(f"--format {form} does not go with --jsonl, which writes JSON.")


def _check_lines(name: str, strict: bool) -> bool:
    """The verdict on every line, written before the next one is read; whether all were accepted."""
    is_all_accepted = True
    for line in _lines(name):
        verdict = _too_long() if len(line) > _LONGEST_LINE else judge_line(line, strict=strict)
        print_json(to_dict(verdict))
        is_all_accepted = is_all_accepted and verdict.valid
    return is_all_accepted


def _lines(name: str) -> Iterator[bytes]:
    """In here alone a fault is one of reading: what goes wrong with a verdict's way out is another."""
    with reading(name) as stream:
        yield from bounded_lines(stream, _LONGEST_LINE)


def _too_long() -> Verdict:
    found = finding.make(rules.BODY, "line", found=f"the line is longer than {_LONGEST_LINE} bytes")
    return Verdict(False, None, [], [found.code], [], [found], "repair")


# ---- for people and for GitHub ---------------------------------------------------------------------------------------


def _tell(name: str, text: bytes, verdict: Verdict) -> None:
    """A line that says how it went, one a finding, and what an agent would be told."""
    from gemba.handoff.repair import repair_text

    word = click.style("accepted", fg="green") if verdict.valid else click.style("refused", fg="red", bold=True)
    status = f", {verdict.plan_status}" if verdict.plan_status else ""
    block = find_block(text).line_of_block
    click.echo(f"{shown_name(name)}{f':{block}' if block else ''}: {word}{status}")
    for each in verdict.findings:
        where = f"{each.pointer}: " if each.pointer else ""
        click.echo(f"{each.severity:<7}  {on_one_line(f'{each.code}  {where}{each.message} ({each.hint})')}")
    if not verdict.valid:
        click.echo(f"\nWhat the agent is told:\n\n{showable(repair_text(verdict))}")


def _annotate(name: str, text: bytes, verdict: Verdict) -> None:
    """Workflow commands, which GitHub shows beside the line."""
    found = find_block(text) if verdict.findings else None
    for each in verdict.findings:
        kind = "warning" if each.severity == "warning" else "error"
        place = {} if found is None or name == STDIN else {"file": click.format_filename(name), **_place(each, found)}
        annotate(kind, f"{each.message} ({each.hint})", **place, title=each.code)


def _place(each: Finding, found: Found) -> dict[str, str]:
    """Where a finding lies: at the fault of a body that cannot be read, else at the block, or the text's beginning."""
    if found.line and each.code.partition(":")[0] == rules.BODY.head:
        return {"line": str(found.line), "col": str(found.column)}
    return {"line": str(found.line_of_block or 1)}
