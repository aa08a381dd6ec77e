"""For a task that nothing else fits: a survey, and plainly what nobody can do here without a model."""

from __future__ import annotations

from gemba.teams.programs.asked import NEEDS, is_count
from gemba.teams.programs.page import Part, Work, bullets
from gemba.teams.programs.survey import survey
from gemba.teams.programs.task import Task
from gemba.teams.programs.tree import Tree

_CANNOT = (
    "Understand what the text means, beyond where its words occur.",
    "Decide between two ways of doing it.",
    "Write or change code: give the built-in worker a command for it, or let a model do the task.",
    "Judge whether the result is what was meant.",
)


def general(task: Task, tree: Tree) -> Work:
    found = survey(task, tree)
    if is_count(task) and tree.paths:
        return found._replace(surveyed="")
    parts = [Part("What is left for a person or a model", bullets(_CANNOT)), *found.parts]
    return found._replace(parts=parts, surveyed=f"what the text asks for {NEEDS}")
