"""Where the repositories lie that references name: this one, and those that are checked out in the folders beside it.

What git knows of their remotes becomes identities (`references.normalise`); no address and none of its credentials
leaves this module. Called by `gemba context resolve`.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from gemba import git
from gemba.handoff.references import Identity, normalise

MOST_FOLDERS = 500  # that are looked at


def beside(root: Path) -> list[Path]:
    """This folder and its neighbours, those of them that are repositories, in the order of their names."""
    try:
        neighbours = sorted(
            islice((folder for folder in root.parent.iterdir() if _is_repository(folder)), MOST_FOLDERS)
        )
    except OSError:
        neighbours = []
    return [root, *(folder for folder in neighbours if folder != root)]


def known(folders: Iterable[Path]) -> dict[Identity, str]:
    """Where each repository lies; of several checkouts of one, the first."""
    found: dict[Identity, str] = {}
    for folder in folders:
        for remote in git.remotes(str(folder)):
            if (identity := normalise(remote)) is not None:
                found.setdefault(identity, str(folder))
    return found


def _is_repository(folder: Path) -> bool:
    try:
        return (folder / ".git").exists()
    except OSError:
        return False
