"""Whether what a task asks for is what a program does, by the words of its goal or its text. Pure.

A program that only looked says so as a fact, with what is left: it goes the whole way to the gate and the run's report.
What is not known to be done by one is not: to say too little of a program's work costs a look, to say too much a wrong
"done". Called by the programs.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

from gemba.teams.programs.task import Task

NEEDS = "needs a model or a person"
_GENERAL = "Do what the text of the run asks for, whole."

# What a program draws together, and what it would have to invent.
_REPORTS = re.compile(
    r"\b(?:reports?|reporting|summar\w+|overviews?|(?:draw|bring|put)(?:s|ing|n)? \w* ?together|sum up)\b"
)
_WRITTEN = re.compile(
    r"\b(?:document\w*|docs|expla\w+|descri\w+|tutorials?|changelogs?|notes|readme|translat\w+|articles?|guides?|manuals?"
    r"|letters?|posts?|proposals?|specifications?)\b"
)
# What only shows when something runs, or when somebody judges it.
_RUNS = re.compile(
    r"\b(?:why|slow\w*|fast\w*|quick\w*|performance|latency|memory|leak\w*|flaky|crash\w*|hang|hangs|profil\w+|diagnos\w+"
    r"|root causes?|benchmark\w*|measure\w*|feasib\w+|spikes?|reproduc\w+)\b"
)
_DATED = re.compile(r"\b(?:estimat\w+|schedul\w+|road ?maps?|milestones?|deadlines?)\b")
_COUNTS = re.compile(r"\b(?:count|how many|list)\b.*\b(?:files?|folders?|languages?|modules?|tests?)\b", re.DOTALL)


def is_report(task: Task) -> bool:
    """What is to be written is a report of what others found, and nothing else."""
    return _has(task, _REPORTS) and not _has(task, _WRITTEN)


def only_shows_when_run(task: Task) -> bool:
    return _has(task, _RUNS)


def is_dated(task: Task) -> bool:
    return _has(task, _DATED)


def is_count(task: Task) -> bool:
    return _has(task, _COUNTS)


def _has(task: Task, words: re.Pattern[str]) -> bool:
    return words.search(wanted_of(task)) is not None


def wanted_of(task: Task) -> str:
    """What says what this task is to reach: a goal of its own, else the text of the run."""
    own = task.goal.strip()
    return (own if own and own not in _usual_goals() else task.text).casefold()


@cache
def _usual_goals() -> frozenset[str]:
    """The goals that an analysis gives to every task of a kind, beside the text."""
    listed = tomllib.loads((Path(__file__).parents[1] / "capabilities.toml").read_text(encoding="utf-8"))
    return frozenset([_GENERAL, *(row["goal"] for row in listed.values())])
