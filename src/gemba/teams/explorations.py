"""The exploration cache: what was found out from an angle, with the digests of the files that were read for it.

An entry is stale as soon as one of its files is another, is gone, or cannot be read. Paths come from agents: what
leaves the worktree, by `..` or a link, is not looked at; sizes and numbers are bounded. Called around a turn.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from gemba.teams.guarded_folder import GuardedFolder, guarded
from gemba.teams.knowledge import LONGEST_WORDS, Exploration, angles_of, files_read_in, findings_of, line_of

LARGEST_FILE = 8 << 20  # bytes; a larger one is not watched
MOST_BYTES = 64 << 20  # read for one task's entries
_LINES = re.compile(r":\d[\d,:-]*$")
_OURS = frozenset({".git", ".gemba"})


def explore(folder: Path, document: Mapping[str, Any], goal: str, task_id: str | None = None) -> list[Exploration]:
    """The entries that an accepted envelope brings: one an angle, all with the files that it says were read.

    Without a file there is no entry: nothing would ever make it stale.
    """
    files: dict[str, str] = {}
    left = MOST_BYTES
    try:
        with guarded(folder) as root:
            for given in files_read_in(document):
                for path in dict.fromkeys((given, _LINES.sub("", given))):
                    found = _digest(root, path, min(left, LARGEST_FILE))
                    if found is not None:
                        left -= found[2]
                        files[found[0]] = found[1]
                        break
    except OSError:
        return []
    if not files:
        return []
    summary = line_of(" / ".join(findings_of(document)), LONGEST_WORDS)
    return [Exploration(angle, summary, dict(sorted(files.items())), task_id) for angle in angles_of(document, goal)]


def is_stale(entry: Exploration, folder: Path) -> bool:
    """Whether anything that the entry rests on is not as it was."""
    if not entry.files:
        return True
    try:
        with guarded(folder) as root:
            for path, digest in entry.files.items():
                found = _digest(root, path, LARGEST_FILE)
                if found is None or found[1] != digest:
                    return True
    except OSError:
        return True
    return False


def _digest(root: GuardedFolder, given: str, most: int) -> tuple[str, str, int] | None:
    """The normal form of the path, the digest and the size of a file in the worktree; None where there is none."""
    parts = PurePosixPath(given.strip()).parts
    if not parts or parts[0] == "/" or ".." in parts or parts[0] in _OURS:
        return None
    try:
        with root.inside(*parts[:-1]) as place:
            data = place.read(parts[-1], most)
    except (OSError, ValueError):
        return None
    return "/".join(parts), hashlib.sha256(data).hexdigest(), len(data)
