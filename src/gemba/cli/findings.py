"""What linters find, as text for people, as JSON for programs and as annotations for GitHub. For their commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from gemba.cli.github import annotate
from gemba.cli.show import labelled, print_json
from gemba.text import showable

if TYPE_CHECKING:
    from gemba.documents.finding import DocumentFinding

_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}
_AT_GITHUB = {"error": "error", "warning": "warning", "note": "notice"}

format_option = click.option(
    "--format", "form", type=click.Choice(["text", "json", "github"]), help="How to tell it.  [default: text]"
)


def tell_findings(
    findings: Sequence[DocumentFinding], form: str | None, as_json: bool, beside: dict[str, Any], summary: str
) -> int:
    """Tell them; `beside` goes with them as JSON, `summary` with the counts as text. The exit code: 1 with an error."""
    errors = sum(each.severity == "error" for each in findings)
    if as_json or form == "json":
        print_json({"ok": not errors, **beside, "findings": findings})
    elif form == "github":
        for each in findings:
            place = {"file": each.file, "line": str(each.line), "title": each.rule}
            annotate(_AT_GITHUB[each.severity], f"{each.message} ({each.hint})", **place)
    else:
        for each in findings:
            click.echo("\n".join(_lines(each)))
        counts = [count(sum(each.severity == name for each in findings), name) for name in ("error", "warning")]
        click.echo(f"{summary}: {', '.join(counts)}")
    return 1 if errors else 0


def refuse_two_formats(form: str | None, as_json: bool) -> None:
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json does not go with --format {form}.")


def count(many: int, noun: str) -> str:
    return f"{many or 'no'} {noun}{'' if many == 1 else 's'}"


def _lines(found: DocumentFinding) -> list[str]:
    mark = click.style(found.severity, fg=_COLOURS[found.severity])
    place = " ".join(showable(f"{found.file}:{found.line}").split("\n"))
    return [f"{place}: {mark}: {showable(found.message)} [{found.rule}]", *labelled("→", found.hint)]
