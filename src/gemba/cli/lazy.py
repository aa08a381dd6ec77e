"""A group of commands that knows them by name and loads the one that is wanted, so that `gemba` starts quickly."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class LazyGroup(click.Group):
    """`rows`: name → (module, what it does). The module has a click command named `command`, unless another name stands
    behind a colon: several small commands may share a module."""

    def __init__(self, *arguments: Any, rows: Mapping[str, tuple[str, str]], **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._rows = rows

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        row = self._rows.get(cmd_name)
        if row is None:
            return None
        module, _, name = row[0].partition(":")
        found: click.Command = getattr(importlib.import_module(module), name or "command")
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in self._rows.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        fitting = [CompletionItem(name, help=row[1]) for name, row in self._rows.items() if name.startswith(incomplete)]
        return fitting + click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise click.UsageError(f"{error.message} Commands: {', '.join(self._rows)}.", ctx) from None
