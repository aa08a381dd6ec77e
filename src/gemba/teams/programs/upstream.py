"""What upstream tasks have written: the artifacts that lie in `.gemba/artifacts/`, each by its id, title and findings.

Input of others: bounded, read as text, never followed anywhere.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import NamedTuple

from gemba.teams.programs.page import SURVEYED, one_line

FOLDER = ".gemba/artifacts"
MOST_ARTIFACTS = 200
_LARGEST = 512 * 1024
_NAME = re.compile(r"([A-Z][A-Z0-9]{0,19}-[0-9]{3,5})-([A-Za-z0-9][A-Za-z0-9_.-]{0,100})\.md")
_HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*$", re.MULTILINE)
_BULLET = re.compile(r"^\s{0,3}[-*] (.+)$", re.MULTILINE)
_MOST_FINDINGS = 5


class Artifact(NamedTuple):
    """An artifact of another task. `findings`: what it says in short, else its first items or sentence."""

    task_id: str
    name: str
    title: str
    findings: tuple[str, ...]
    headings: tuple[str, ...]
    text: str

    @property
    def prefix(self) -> str:
        return self.task_id.rpartition("-")[0]

    @property
    def is_survey(self) -> bool:
        """A program says of it that it is one in place of what was asked for."""
        return bool(self.findings) and self.findings[0].startswith(f"{SURVEYED}:")


def artifacts_in(root: Path, own: str = "") -> list[Artifact]:
    """The artifacts that lie there but for one's own, by task."""
    folder = root / FOLDER
    try:
        names = sorted(entry.name for entry in os.scandir(folder))
    except OSError:
        return []
    found = []
    for name in names[:MOST_ARTIFACTS]:
        match = _NAME.fullmatch(name)
        if match is not None and name != Path(own).name and (text := _read(folder / name)) is not None:
            found.append(_artifact(match[1], name, text))
    return found


def _read(path: Path) -> str | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            return file.read(_LARGEST).decode("utf-8", "replace")
    except OSError:
        return None


def _artifact(task_id: str, name: str, text: str) -> Artifact:
    headings = [(len(found[1]), one_line(found[2], 120)) for found in _HEADING.finditer(text)]
    title = next((words for level, words in headings if level == 1), name)
    below = tuple(words for level, words in headings if level == 2)
    return Artifact(task_id, name, title, _findings(text), below, text)


def _findings(text: str) -> tuple[str, ...]:
    part = section(text, "In short") or text
    items = [one_line(found[1], 240) for found in _BULLET.finditer(part)]
    if not items:
        items = [one_line(line, 240) for line in part.splitlines() if line.strip() and not line.startswith(("#", ">"))]
    return tuple(items[:_MOST_FINDINGS])


def section(text: str, heading: str) -> str:
    """What stands below a heading of the second level, up to the next one."""
    found = re.search(rf"^## {re.escape(heading)}\s*$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""
