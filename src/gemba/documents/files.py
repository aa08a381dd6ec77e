"""Markdown files on disk: which there are in a folder, and their bytes or why they cannot be had. Reads only."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from gemba import wire


def files_in(folder: Path) -> Iterator[Path]:
    """Every Markdown file in and below a folder, in order of their paths; what is hidden, and a README, is none.

    Links to other folders are not followed. Of a folder that cannot be listed its own path stands for what is in it.
    """
    unlisted: list[OSError] = []
    for place, folders, files in os.walk(folder, onerror=unlisted.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if name.lower().endswith(".md") and not name.startswith(".") and name.lower() != "readme.md":
                yield Path(place, name)
    yield from (Path(error.filename) for error in unlisted if not isinstance(error, FileNotFoundError))


def content_of(path: Path, most_bytes: int) -> tuple[bytes, str | None]:
    """The bytes of a file, cut behind the limit, and why there are none."""
    try:
        return wire.read_file(str(path), most_bytes), None
    except OSError as error:
        return b"", error.strerror or str(error)
