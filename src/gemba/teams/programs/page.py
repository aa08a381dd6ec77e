"""An artifact as Markdown: a heading, what it is about, what was found in short, the parts, what was not looked at.

Pure. Whatever comes from a repository or a task stays text: it cannot end the code span, the table or the quotation
that it stands in. Called by `__main__` with what a program found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gemba.teams.programs.task import Task

LONGEST_LINE = 200
_LONGEST_QUOTE = 2_000  # characters of a goal or a text
_LONGEST_TITLE = 90
_MOST_SHORT = 5
_BACKTICKS = re.compile("`+")
SURVEYED = "Surveyed only"
_IS_OF_TESTS = re.compile(
    r"(?:(?:all|every|the|of|our|its|unit|integration|existing|project's|whole|and|old|new) )*(?:tests?|test suite)"
    r"(?: (?:still|all|now))* (?:pass|passes|are green|is green|succeeds?|runs?)\.?",
    re.IGNORECASE,
)


class Part(NamedTuple):
    """A heading and what stands below it."""

    heading: str
    lines: Sequence[str]


class Work(NamedTuple):
    """What a program found. `short`: at most five sentences. `code`: what the program exits with. `surveyed`: why what
    was asked for is not done by that, and what it needs; empty where it is. `tested`: tests ran, and passed."""

    kind: str
    short: Sequence[str]
    parts: Sequence[Part]
    unseen: Sequence[str] = ()
    files: Sequence[str] = ()
    patterns: Sequence[str] = ()
    impacts: Sequence[str] = ()
    gaps: Sequence[str] = ()
    severity: dict[str, int] = {}  # noqa: RUF012 - a NamedTuple's default, which nobody changes
    code: int = 0
    surveyed: str = ""
    tested: bool = False

    @property
    def in_short(self) -> list[str]:
        """What is told of it first, and that nothing more than a survey was made where that is so."""
        told = [f"{SURVEYED}: {self.surveyed}."] if self.surveyed else []
        return [*told, *self.short][:_MOST_SHORT]

    def unchecked(self, task: Task) -> list[str]:
        """The criteria of acceptance that nothing has checked: tests that passed settle what is said of tests alone."""
        return [each for each in task.acceptance if not (self.tested and _IS_OF_TESTS.fullmatch(each.strip()))]


def render(task: Task, work: Work, met: Sequence[str] = ()) -> str:
    """The whole artifact. `met` says of each criterion of acceptance what can be said of it. One that nothing has
    checked is quoted: to repeat it is not to speak of it."""
    about = task.text or task.goal
    title = one_line(about.strip().splitlines()[0] if about.strip() else "this repository", _LONGEST_TITLE)
    lines = [f"# {work.kind}: {title}", ""]
    lines += [
        *_said("The goal" + (f" of {task.id}" if task.id else ""), task.goal),
        *_said("What was asked", task.text),
    ]
    lines += ["## In short", "", *bullets(work.in_short), ""]
    for part in work.parts:
        lines += [f"## {part.heading}", "", *(part.lines or ["Nothing."]), ""]
    if task.acceptance:
        lines += ["## Acceptance criteria", "", *_criteria(task, work, met)]
    if task.notes:
        lines += ["## What was said of earlier work", "", *bullets(one_line(note, 400) for note in task.notes), ""]
    lines += ["## Not looked at", "", *bullets([*work.unseen, "What the code means: this was written by a program."])]
    return "\n".join(lines).rstrip() + "\n"


def _criteria(task: Task, work: Work, met: Sequence[str]) -> list[str]:
    unchecked, lines = work.unchecked(task), []
    for at, each in enumerate(task.acceptance):
        told = met[at] if at < len(met) else "a person judges it"
        words = one_line(each, 400)
        lines.append(
            f"> {words} — nothing has checked it; {told}" if each in unchecked else f"- {words} — the tests say so"
        )
    return [*lines, "", "A program counts and compares; whether a criterion is met, a person or a test says.", ""]


def evidence_of(task: Task, work: Work) -> dict[str, object]:
    """What the built-in agent tells of the work in its envelope."""
    return {
        "files_checked": list(work.files[:100]),
        "patterns_checked": list(work.patterns[:20]),
        "key_outputs": [plain(line) for line in work.in_short],
        "cross_layer_impacts": [plain(line) for line in work.impacts[:20]],
        "open_gaps": [plain(line) for line in work.gaps[:20]],
        "severity": work.severity,
        "summary": plain(" ".join(work.in_short[:2])),
        "surveyed": plain(work.surveyed),
        "unchecked": work.unchecked(task)[:50],
    }


def _said(what: str, text: str) -> list[str]:
    if not text.strip():
        return []
    cut = text.strip()[:_LONGEST_QUOTE]
    more = [] if cut == text.strip() else [f"> … ({len(text):,} characters in all)"]
    return [f"{what}:", "", *(f"> {printable(line)}" for line in cut.splitlines()), *more, ""]


# ---- pieces ----------------------------------------------------------------------------------------------------------


def printable(text: str) -> str:
    return "".join(char if char.isprintable() or char == "\t" else "\ufffd" for char in text)


def one_line(text: str, most: int = LONGEST_LINE) -> str:
    line = printable(" ".join(text.split()))
    return line if len(line) <= most else line[: most - 1] + "…"


def code(text: str) -> str:
    """A code span that nothing in it can end."""
    text = one_line(text)
    fence = "`" * (1 + max(map(len, _BACKTICKS.findall(text)), default=0))
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}"


def plain(line: str) -> str:
    """A line of an artifact without its marks."""
    return line.replace("`", "").replace("**", "")


def bullets(lines: Iterable[str]) -> list[str]:
    return [f"- {line}" for line in lines]


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table, or nothing where there is no row."""
    body = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads), *body] if body else []


def block(text: str) -> list[str]:
    """Lines as they are, in a fence that they cannot end."""
    shown = [printable(line) for line in text.splitlines()]
    most = max((len(found) for line in shown for found in _BACKTICKS.findall(line)), default=0)
    fence = "`" * max(3, most + 1)
    return [f"{fence}text", *shown, fence]


def many(count: int, noun: str, plural: str = "") -> str:
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
