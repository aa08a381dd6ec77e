"""What a client is handed for one run, so that nothing has to be written into the user's repository or settings.

Pure: types alone. Each profile (`hooks` of a type) has a module that makes one of these: see `profiles`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple


class Where(NamedTuple):
    """Where a client is about to run, and with what in its environment."""

    run: Path  # its run's folder, in which its files will lie
    workspace: Path
    cwd: Path  # the workspace, or a worktree of it
    home: Path
    environment: Mapping[str, str]


class Given(NamedTuple):
    """`words` stand for `{hooks}` in its command. `files`, by name, lie in its run's folder: each a text, or the place
    to which a link leads. None of it is secret."""

    words: tuple[str, ...] = ()
    environment: Mapping[str, str] = MappingProxyType({})
    files: Mapping[str, str | Path] = MappingProxyType({})
