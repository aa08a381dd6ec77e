"""Ids for the shell's completion: what an operator could mean, each with its first words. Never an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def ids_of(
    plural: str, *, whole: bool = False, **query: str
) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Completes a parameter with the ids of a list, in the short form that `gemba inbox` shows, or as they are."""

    def complete(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        try:
            rows = _rows(ctx.find_root().params.get("workspace"), plural, query)
        except Exception:  # noqa: BLE001 - whatever is wrong, a shell's prompt is no place to say it
            return []
        from gemba.cli.show import short_length
        from gemba.text import letters_in_line

        length = short_length(row["id"] for row in rows)
        named = [(row["id"] if whole else row["id"][-length:], letters_in_line(_words(row), 60)) for row in rows]
        return [CompletionItem(id, help=words) for id, words in named if id.startswith(incomplete)]

    return complete


def _words(row: dict[str, Any]) -> str:
    """What a row is about, under whichever name it says so."""
    return next((row[name] for name in ("title", "text", "command", "description", "goal") if row.get(name)), "")


def _rows(folder: str | None, plural: str, query: dict[str, str]) -> list[dict[str, Any]]:
    from gemba.cli.door import open_door

    with open_door(folder) as door:
        rows: list[dict[str, Any]] = door.get(f"/api/{plural}", limit=50, **query)[plural]
    return rows
