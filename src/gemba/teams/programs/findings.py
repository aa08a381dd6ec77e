"""The analyst: what the checks find, classed by how bad it is, with what lies in the task's own files first."""

from __future__ import annotations

from collections import Counter

from gemba.teams.programs.asked import NEEDS, only_shows_when_run
from gemba.teams.programs.checks import SEVERITIES, Finding, findings_in
from gemba.teams.programs.page import Part, Work, bullets, code, many, one_line, table
from gemba.teams.programs.task import Task
from gemba.teams.programs.tree import Tree
from gemba.teams.programs.words import where, words_of

_MOST_SHOWN = 25  # of one severity
_MOST_NEAR = 30  # files that the task is about
_CHECKED = (
    "syntax of Python",
    "marks of conflicts and private keys",
    "long functions and files",
    "lines that stand twice",
    "modules that no test names",
    "links of Markdown",
    "marked comments",
    "defaults that can be changed, and except without a type, in Python",
)


def analysis(task: Task, tree: Tree) -> Work:
    found = findings_in(tree)
    counts = Counter(each.severity for each in found)
    words = words_of(task.subject)
    near = {hit.path for hit in where(tree, words, tree.code_files())[:_MOST_NEAR]}
    own = [each for each in found if each.path in near]
    parts = [Part("In the files that the task is about", _rows(own))] if own else []
    parts += [
        Part(f"{severity.capitalize()}{', elsewhere' if own else ''}", _rows(these))
        for severity in SEVERITIES
        if (these := [each for each in found if each.severity == severity and each.path not in near])
    ]
    return Work(
        "Findings",
        _short(tree, found, own, counts),
        [*parts, Part("What was looked for", bullets(_CHECKED))],
        [*tree.unseen(), "What only shows when the code runs."],
        list(dict.fromkeys([*(each.path for each in found), *tree.code_files()])),
        _CHECKED,
        severity={severity: counts[severity] for severity in SEVERITIES},
        surveyed=_left(task, tree, bool(words) and not near),
    )


def _left(task: Task, tree: Tree, is_elsewhere: bool) -> str:
    if not tree.code_files():
        return f"there is no code that the checks could read; what was asked for {NEEDS}"
    if is_elsewhere:
        return f"no file of code has a word of the task; to judge what was asked for {NEEDS}"
    return f"what was asked shows when something runs, and {NEEDS}" if only_shows_when_run(task) else ""


def _short(tree: Tree, found: list[Finding], own: list[Finding], counts: Counter[str]) -> list[str]:
    if not found:
        return [f"None of the checks found anything in {many(len(tree.paths), 'file')}."]
    told = [", ".join(f"{counts[severity]} {severity}" for severity in SEVERITIES) + "."]
    told.append(f"{many(len(own), 'of them is', 'of them are')} in the files that the task is about.")
    worst = own[0] if own and own[0].severity == found[0].severity else found[0]
    told.append(f"The worst: {code(f'{worst.path}:{worst.line}')}, {one_line(worst.what, 100)}.")
    return told


def _rows(found: list[Finding]) -> list[str]:
    rows = [
        (code(f"{each.path}:{each.line}"), each.severity, one_line(each.what, 160), each.why)
        for each in found[:_MOST_SHOWN]
    ]
    lines = table(("where", "severity", "what", "why it matters"), rows)
    more = len(found) - _MOST_SHOWN
    return [*lines, "", f"And {many(more, 'finding')} more."] if more > 0 else lines
