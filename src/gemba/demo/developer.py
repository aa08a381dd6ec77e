"""The designer and the developer of the demo's team: a program that knows one change by heart, and must be told what
nobody has said.

Without a word of the operator's it guesses; what the gate says of that it does not understand, so that a person is
asked. Of any other change it says that it cannot make it. `team.toml` beside this has the change in all its forms. Run
by the built-in worker of a team as `python -m gemba.demo.developer`, and with `design` before it is made, in the
worktree and the environment of its task.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec

from gemba import typed
from gemba.demo.story import read_data

GUESSED, USUAL = "guessed", "above"
OTHER = """\
# Not done

In this demo a program stands in for those who design and write code. It knows one change by heart, a discount for large
orders, and this is another one: nothing was changed.

## What it takes

- a model: `gemba agents` shows who can run here, and a run is started with one of them by `--agent NAME`;
- or a person, who makes the change in the branch of the run.
"""
_CANNOT = "the demo's program knows one change by heart, and this is another; it needs a model or a person"
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
    design: Change
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
    if os.environ["GEMBA_TASK_TEXT"].strip() != work.text.strip():
        leave(Change(summary="Nothing was changed.", outputs=["Nothing was changed"], page=OTHER), surveyed=_CANNOT)
    elif "design" in sys.argv[1:]:
        leave(work.design, sorted({place["file"] for place in work.place}))
    else:
        make(work)


def make(work: TeamWork) -> None:
    form = form_of(os.environ["GEMBA_TASK_NOTES"].splitlines(), work.change)
    change = work.change[form]
    for place in work.place:
        file = Path(place["file"])
        file.write_text(changed(file.read_text(encoding="utf-8"), place, form), encoding="utf-8")
    leave(change, sorted({place["file"] for place in work.place}))


def leave(change: Change, files: Iterable[str] = (), surveyed: str = "") -> None:
    """What is told of the work, and its artifact."""
    Path(os.environ["GEMBA_ARTIFACT"]).write_text(change.page.lstrip(), encoding="utf-8")
    told = {
        "summary": change.summary,
        "key_outputs": change.outputs,
        "open_gaps": change.gaps,
        "files_checked": list(files),
        "surveyed": surveyed,
    }
    Path(os.environ["GEMBA_EVIDENCE"]).write_text(json.dumps(told), encoding="utf-8")
    print(change.summary)


if __name__ == "__main__":
    main()
