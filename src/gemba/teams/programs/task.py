"""The task that a program does, as it finds it in its environment. Total: what is not there is empty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

_LONGEST = 100_000  # characters of a text


class Task(NamedTuple):
    """`artifact` and `evidence` are paths of files to write, "" where the work is only printed."""

    id: str = ""
    goal: str = ""
    text: str = ""
    acceptance: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    artifact: str = ""
    evidence: str = ""

    @property
    def subject(self) -> str:
        """What it is about: all the words that say so."""
        return "\n".join([self.text or self.goal, *self.acceptance, *self.notes])


def task_in(environment: Mapping[str, str], text: str | None = None) -> Task:
    """The task of an environment; a text that was given goes before the one in there."""
    found = {name: _plain(environment.get(f"GEMBA_{name}", "")) for name in NAMES}
    return Task(
        found["TASK_ID"].strip(),
        found["TASK_GOAL"].strip(),
        (_plain(text) if text is not None else found["TASK_TEXT"]).strip(),
        _lines(found["TASK_ACCEPTANCE"]),
        _lines(found["TASK_NOTES"]),
        found["ARTIFACT"],
        found["EVIDENCE"],
    )


NAMES = ("TASK_ID", "TASK_GOAL", "TASK_TEXT", "TASK_ACCEPTANCE", "TASK_NOTES", "ARTIFACT", "EVIDENCE")


def _plain(text: str) -> str:
    """Without what is no text: a variable may hold any bytes."""
    return text[:_LONGEST].encode("utf-8", "replace").decode()


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())
