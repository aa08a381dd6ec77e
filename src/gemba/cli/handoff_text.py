"""The text of a turn as a command line names it: a file or standard input, read up to a limit, its name shown safely.

Called by the commands of `gemba handoff`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import click

from gemba.text import showable

STDIN = "-"


@contextmanager
def reading(name: str) -> Iterator[IO[bytes]]:
    """A file or standard input. What cannot be opened or read is a wrong command line: there is no verdict on it."""
    if name == STDIN and sys.stdin is None:
        raise click.UsageError("standard input is closed.")
    try:
        with click.open_file(name, "rb") as stream:
            yield stream
    except OSError as error:
        raise click.UsageError(f"{shown_name(name)}: {error.strerror or error}.") from None
    except ValueError:  # a NUL in the name
        raise click.UsageError(f"{shown_name(name)}: this cannot be the name of a file.") from None


def read_bounded(name: str, limit: int) -> bytes:
    """All of it, or one byte more than the limit, by which whoever judges it sees that it is too large."""
    with reading(name) as stream:
        return stream.read(limit + 1)


def shown_name(name: str) -> str:
    return on_one_line("standard input" if name == STDIN else click.format_filename(name))


def on_one_line(text: str) -> str:
    return " ".join(showable(text).splitlines())
