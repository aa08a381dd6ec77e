"""`gemba plan`: in which order to take epics on, by the built-in advisor: those of the workspace, or of a file."""

from __future__ import annotations

from typing import Any

import click

from gemba import typed
from gemba.cli.door import open_door
from gemba.cli.handoff_text import read_bounded, shown_name
from gemba.cli.show import body_lines, json_option, or_else, print_json, print_table
from gemba.errors import Invalid
from gemba.skills.advisor.advise import advise
from gemba.skills.consult.order_input import EpicOrderInput
from gemba.skills.consult.order_lines import (
    OrderDeferred,
    OrderLine,
    OrderRecommendation,
    OrderStrategy,
    OrderSummary,
    OrderWarning,
)
from gemba.skills.consult.reading import read_json
from gemba.text import one_line

_LARGEST = 64 * 2**20
_TITLE = 100


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Plan: put epics into an order, with reasons. Without a command it is `order`.

    \b
    Example:
      gemba plan order --input epics.json
    """
    or_else(ctx, order, as_json)


@command.command(short_help="Order epics, with reasons.")
@click.option(
    "--input",
    "given_in",
    metavar="FILE",
    help="The input of epic_order, as JSON; `-`: standard input. The workspace's epics, unless given.",
)
@click.option("--workers", type=click.IntRange(1, 1_000), help="So many agents work at once.  [default: as is known]")
@json_option
@click.pass_obj
def order(folder: str | None, given_in: str | None = None, workers: int | None = None, as_json: bool = False) -> None:
    """Put epics into the order in which to take them on: epic_order, answered by the built-in advisor, without a model.

    Without --input they are those of the workspace that are unstarted, staged or in progress, and what these wait for.

    With --json it prints the lines as the skill has them, one object a line: strategy, recommendations, warnings and
    deferrals, summary. Nothing is changed.

    \b
    Example:
      gemba plan order
      gemba plan order --input epics.json
      gemba plan order --input - --json < epics.json
    """
    given, known = _from_workspace(folder) if given_in is None else (_from_file(given_in), None)
    lines = advise(given, workers or known)
    if as_json:
        for line in lines:
            print_json(line)
    else:
        _tell(lines, {epic.epic_id: epic.title for epic in given.candidate_epics})


def _from_workspace(folder: str | None) -> tuple[EpicOrderInput, int | None]:
    """The epics, and how many agents may work at once, where that is known."""
    with open_door(folder) as door:
        given = typed.convert(door.get("/api/skills/epic_order/input"), EpicOrderInput)
        return given, door.get("/api/auto")["workers"]


def _from_file(name: str) -> EpicOrderInput:
    data = read_bounded(name, _LARGEST)
    if len(data) > _LARGEST:
        raise click.UsageError(f"--input {shown_name(name)} is larger than {_LARGEST} bytes.")
    try:
        return read_json(data, EpicOrderInput)
    except Invalid as error:
        raise click.ClickException(f"{shown_name(name)}: {error.message}") from None


def _tell(lines: list[OrderLine], titles: dict[str, str]) -> None:
    """A table of what is ranked, then what is in the way, then the sum. A reason that comes again is said once."""
    rows: list[tuple[Any, ...]] = []
    said: dict[str, int] = {}
    rest: list[str] = []
    end = ""
    for line in lines:
        match line:
            case OrderStrategy():
                click.echo("\n".join(text.strip() for text in body_lines(line.reasoning)))
                if line.filter_reason:
                    click.echo("\n".join(text.strip() for text in body_lines(f"Left out: {line.filter_reason}.")))
                click.echo()
            case OrderRecommendation():
                first = said.setdefault(line.rationale, line.rank)
                why = line.rationale if first == line.rank else f"The same as of {first}."
                what = f"{one_line(titles[line.epic_id], _TITLE)}: {why}" if titles.get(line.epic_id) else why
                rows.append((line.rank, line.epic_id, line.parallel_group or "", f"{line.confidence:.2f}", what))
            case OrderWarning():
                rest += body_lines(f"! {line.kind}: {line.detail} ({_some(line.epic_ids)})")
            case OrderDeferred():
                rest += body_lines(f"- {line.epic_id} is deferred: {line.reason}")
            case OrderSummary():
                end = line.notes
    if rows:
        print_table(("rank", "epic", "group", "sure", "what and why"), rows)
    if rest:
        click.echo("\n" + "\n".join(text.strip() for text in rest))
    click.echo("\n" + "\n".join(text.strip() for text in body_lines(end)))


def _some(ids: list[str]) -> str:
    return ", ".join(ids[:8]) + (f" and {len(ids) - 8} more" if len(ids) > 8 else "")
