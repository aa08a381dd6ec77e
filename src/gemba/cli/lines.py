"""Lines of a file that may be of any size, one in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

_SKIPPED_AT_ONCE = 2**20


def bounded_lines(stream: IO[bytes], longest: int) -> Iterator[bytes]:
    """The lines, with their ends; of one that is too long its beginning, a byte longer than it may be."""
    while line := stream.readline(longest + 1):
        yield line
        rest = line
        while len(line) > longest and rest and not rest.endswith(b"\n"):
            rest = stream.readline(_SKIPPED_AT_ONCE)
