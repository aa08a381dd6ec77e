"""The planner: steps in an order with the reason for each, and what the repository itself has open.

The steps follow the text, clause by clause, to the modules that its words lead to: within a step what others import
comes first, since a change there reaches them. Work items are not read: they lie in a database that a worktree does
not have.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gemba.teams.programs import project
from gemba.teams.programs.asked import NEEDS, is_dated
from gemba.teams.programs.imports import dependents_of, imports_in
from gemba.teams.programs.notes import Note, notes_in
from gemba.teams.programs.page import Part, Work, code, many, one_line, table
from gemba.teams.programs.task import Task
from gemba.teams.programs.tree import Tree
from gemba.teams.programs.upstream import Artifact, artifacts_in
from gemba.teams.programs.words import ACTIONS, narrowed, where, words_of

_CLAUSE = re.compile(
    r"[.;:!?]+(?:\s+|$)|\n+|,\s+(?:and|then)\s+|\s+and then\s+"
    rf"|(?:,|\s+and)\s+(?=(?:{'|'.join(ACTIONS)})\b)",
    re.IGNORECASE,
)
_MOST_CLAUSES = 12
_MOST_NOTES = 15


class PlanStep(NamedTuple):
    what: str
    files: tuple[str, ...]
    why: str


def breakdown(task: Task, tree: Tree) -> Work:
    upstream = artifacts_in(tree.root, task.artifact)
    tests = project.ways_to_test(tree.paths, tree.text)
    steps = _steps(task, tree, upstream, tests)
    words = words_of(task.subject)
    notes = _near_first(notes_in(tree), {hit.path for hit in where(tree, words)})
    named = [path for step in steps for path in step.files]
    return Work(
        "Steps",
        _short(steps, named, notes),
        [
            Part("Steps in order", _numbered(steps)),
            Part("What the repository has open already", _open(notes)),
        ],
        [*tree.unseen(), "Work items: they lie in the workspace's database. `gemba item list` shows them."],
        [*dict.fromkeys(named)],
        ["marked comments and open checklist items"],
        surveyed=_left(task, len(_clauses(task, tree)), named),
    )


def _left(task: Task, clauses: int, named: list[str]) -> str:
    """A text of several steps is put in an order; what is not in the text is not made up."""
    if clauses < 2 or not named:
        return f"the text has no steps of its own; to break it down {NEEDS}"
    return f"to say how long each step takes {NEEDS}" if is_dated(task) else ""


def _steps(task: Task, tree: Tree, upstream: list[Artifact], tests: list[project.Command]) -> list[PlanStep]:
    steps = []
    if upstream:
        titles = ", ".join(f"{each.task_id} ({one_line(each.title, 60)})" for each in upstream[:5])
        steps.append(
            PlanStep(f"Read what is there already: {titles}", (), "What was found out need not be found again.")
        )
    if tests:
        why = "What fails before the change is not the change's fault."
        steps.append(PlanStep(f"Run {code(tests[0].line)} and keep the result", (), why))
    steps += _clauses(task, tree)
    if task.acceptance:
        named = "; ".join(one_line(each, 120) for each in task.acceptance[:10])
        steps.append(PlanStep(f"Show that each criterion is met: {named}", (), "They say when the task is done."))
    if tests:
        why = "Compared with the first run it shows what the change did."
        steps.append(PlanStep(f"Run {code(tests[0].line)} again", (), why))
    else:
        why = "Nothing in the repository would show that it broke."
        steps.append(PlanStep("Add a first test, and a way to run it", (), why))
    return steps


def _clauses(task: Task, tree: Tree) -> list[PlanStep]:
    """A step a clause of the text, as they are written; in each, the files that more others import come first."""
    clauses = [one_line(each, 200) for each in _CLAUSE.split(task.text or task.goal) if each and words_of(each)]
    dependents, every = dependents_of(imports_in(tree)), where(tree, words_of(task.subject))
    steps = []
    for clause in clauses[:_MOST_CLAUSES]:
        found = narrowed(every, words_of(clause))
        hits = [hit.path for hit in found if not project.is_test(hit.path)][:3]
        weights = {path: len(dependents.get(path, ())) for path in hits}
        paths = sorted(hits, key=weights.__getitem__, reverse=True)
        steps.append(PlanStep(clause, tuple(paths), _reason([weights[path] for path in paths])))
    return steps


def _reason(weights: list[int]) -> str:
    if not weights:
        return "Nothing in the repository has its words: it begins something new."
    if weights[0]:
        return f"The first of them is imported by {many(weights[0], 'file')}, which a change there reaches."
    return "Its words lead there, and nothing imports these files."


def _near_first(notes: list[Note], near: set[str]) -> list[Note]:
    return sorted(notes, key=lambda note: (note.path not in near, note.path, note.line))


def _short(steps: list[PlanStep], named: list[str], notes: list[Note]) -> list[str]:
    files = len(set(named))
    told = [f"{many(len(steps), 'step')}, over {many(files, 'file')}."]
    first = next((step for step in steps if step.files), None)
    if first is not None:
        told.append(f"The first that touches files: {one_line(first.what, 120)}, in {code(first.files[0])}.")
    told.append(f"The repository has {many(len(notes), 'open note')} of its own.")
    return told


def _numbered(steps: list[PlanStep]) -> list[str]:
    lines = []
    for number, step in enumerate(steps, 1):
        files = f" — in {', '.join(code(path) for path in step.files)}" if step.files else ""
        lines.append(f"{number}. {step.what}{files}. {step.why}")
    return lines


def _open(notes: list[Note]) -> list[str]:
    rows = [
        (
            code(f"{note.path}:{note.line}"),
            note.mark if note.mark == "item" else code(note.mark),
            note.words or "no words",
        )
        for note in notes[:_MOST_NOTES]
    ]
    lines = table(("where", "mark", "what"), rows)
    more = len(notes) - _MOST_NOTES
    return [*lines, "", f"And {many(more, 'note')} more."] if more > 0 else lines
