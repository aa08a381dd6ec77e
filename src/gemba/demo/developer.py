"""The developer of the demo's team: a program that knows one change by heart, and must be told what nobody has said.

Without a word of the operator's it guesses; what the gate says of that it does not understand, so that a person is
asked. `team.toml` beside this has the change in all its forms. Run by the built-in worker of a team as
`python -m gemba.demo.developer`, in the worktree and the environment of its task.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from gemba import typed
from gemba.demo.story import read_data

GUESSED, USUAL = "guessed", "above"
_SPOKEN = re.compile(r"\S+: (.*)")  # a note that somebody signed; a gate signs none


class Change(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One form of the change, and what is told of it. `said`: words of the operator's that mean this form."""

    summary: str
    outputs: list[str]
    page: str
    gaps: list[str] = []
    said: list[str] = []


class TeamWork(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`text` starts the run. A place: its `file`, what stands there `before`, and by the name of each form after it."""

    text: str
    change: dict[str, Change]
    place: list[dict[str, str]]


def load_team_work() -> TeamWork:
    return typed.convert(read_data("team.toml"), TeamWork)


def form_of(notes: Iterable[str], changes: dict[str, Change]) -> str:
    """Which form of the change the notes of a task ask for: what the operator said last counts."""
    spoken = [found[1].casefold() for note in notes if (found := _SPOKEN.match(note))]
    if not spoken:
        return GUESSED
    return next((name for name, one in changes.items() if any(words in spoken[-1] for words in one.said)), USUAL)


def changed(text: str, place: dict[str, str], form: str) -> str:
    """A file's text with the change in one form, whichever form it has now."""
    forms = {name: words for name, words in place.items() if name != "file"}
    for words in sorted(forms.values(), key=len, reverse=True):  # some begin with another
        if words in text:
            return text.replace(words, forms.get(form, forms["before"]))
    return text


def main() -> None:
    work = load_team_work()
    form = form_of(os.environ["GEMBA_TASK_NOTES"].splitlines(), work.change)
    change = work.change[form]
    for place in work.place:
        file = Path(place["file"])
        file.write_text(changed(file.read_text(encoding="utf-8"), place, form), encoding="utf-8")
    Path(os.environ["GEMBA_ARTIFACT"]).write_text(change.page.lstrip(), encoding="utf-8")
    told = {
        "summary": change.summary,
        "key_outputs": change.outputs,
        "open_gaps": change.gaps,
        "files_checked": sorted({place["file"] for place in work.place}),
    }
    Path(os.environ["GEMBA_EVIDENCE"]).write_text(json.dumps(told), encoding="utf-8")
    print(change.summary)


if __name__ == "__main__":
    main()
