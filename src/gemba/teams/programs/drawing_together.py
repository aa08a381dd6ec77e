"""The writer: one report of what the upstream tasks have found, decided, changed and verified, with links to each."""

from __future__ import annotations

from gemba import git
from gemba.errors import Unusable
from gemba.teams.programs.asked import NEEDS, is_report
from gemba.teams.programs.page import Part, Work, bullets, code, many, one_line, table
from gemba.teams.programs.survey import survey
from gemba.teams.programs.task import Task
from gemba.teams.programs.tree import Tree
from gemba.teams.programs.upstream import Artifact, artifacts_in, section

# What the tasks of a prefix contribute; any other is of what was done.
_FOUND, _DECIDED, _CHANGED, _VERIFIED = "What was found", "What was decided", "What was done", "What was verified"
_PART_OF = {
    "RESEARCH": _FOUND,
    "ANALYSIS": _FOUND,
    "PLAN": _DECIDED,
    "DESIGN": _DECIDED,
    "DRAFT": _CHANGED,
    "IMPL": _CHANGED,
    "TASK": _CHANGED,
    "TEST": _VERIFIED,
}
_OPEN = ("Open questions", "To decide", "Risks", "Not verified")
_WEIGHT = ("TEST", "ANALYSIS", "IMPL", "TASK", "DRAFT", "DESIGN", "PLAN", "RESEARCH")  # what a reader wants first
_MOST_CHANGES = 30


def draw_together(task: Task, tree: Tree) -> Work:
    upstream = artifacts_in(tree.root, task.artifact)
    if not upstream:
        found = survey(task, tree)
        first = "No task before this one has written anything: this is a survey."
        return found._replace(
            kind="Report", short=[first, *found.short], surveyed=f"to write what was asked for {NEEDS}"
        )
    changes = _changes(tree)
    parts = [Part(heading, _told(upstream, heading)) for heading in (_FOUND, _DECIDED, _CHANGED, _VERIFIED)]
    return Work(
        "Report",
        _short(upstream),
        [
            *(part for part in parts if part.lines),
            Part("Files that differ from the commit", bullets(changes) or ["None."]),
            Part("What is open", bullets(_open(upstream)) or ["Nothing that the artifacts name."]),
            Part("Sources", _sources(upstream)),
        ],
        ["Anything but the artifacts named above, and the state of the files by git."],
        [f".gemba/artifacts/{each.name}" for each in upstream],
        ["sections of upstream artifacts"],
        surveyed=_left(task, upstream),
    )


def _left(task: Task, upstream: list[Artifact]) -> str:
    """What others found is drawn together; what nobody found or decided is not made up."""
    if not is_report(task):
        return f"this draws together what others wrote; to write what was asked for {NEEDS}"
    if all(each.is_survey for each in upstream):
        return f"all that is drawn together are surveys; what was asked for {NEEDS}"
    return ""


def _short(upstream: list[Artifact]) -> list[str]:
    tasks = len({each.task_id for each in upstream})
    told = [f"{many(tasks, 'task')} before this one left {many(len(upstream), 'artifact')}."]
    by_weight = sorted(upstream, key=lambda each: _WEIGHT.index(each.prefix) if each.prefix in _WEIGHT else -1)
    return told + [f"{each.task_id}: {each.findings[0]}" for each in by_weight if each.findings][:4]


def _told(upstream: list[Artifact], heading: str) -> list[str]:
    lines: list[str] = []
    for each in upstream:
        if _PART_OF.get(each.prefix, _CHANGED) == heading:
            lines += [
                f"**{each.task_id}** — [{_words(one_line(each.title, 70))}]({each.name})",
                "",
                *bullets(each.findings),
                "",
            ]
    return lines[:-1]


def _open(upstream: list[Artifact]) -> list[str]:
    found = []
    for each in upstream:
        for heading in _OPEN:
            lines = [line[2:] for line in section(each.text, heading).splitlines() if line.startswith("- ")]
            found += [f"{each.task_id}, {heading.lower()}: {one_line(line, 240)}" for line in lines[:3]]
    return found[:20]


def _changes(tree: Tree) -> list[str]:
    if not tree.by_git:
        return []
    try:
        told = git.run(str(tree.root), "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    except Unusable:
        return []
    entries = [(entry[:2].strip(), entry[3:]) for entry in told.stdout.split("\0")[:-1]] if told.code == 0 else []
    shown = [(mark, path) for mark, path in entries if path in tree]
    lines = [f"{code(path)} {'is new' if mark in ('??', 'A') else 'is changed'}" for mark, path in sorted(shown)]
    more = len(lines) - _MOST_CHANGES
    return lines[:_MOST_CHANGES] + ([f"and {many(more, 'file')} more"] if more > 0 else [])


def _sources(upstream: list[Artifact]) -> list[str]:
    rows = [(each.task_id, f"[{_words(each.name)}]({each.name})", ", ".join(each.headings[:6])) for each in upstream]
    return table(("task", "artifact", "its parts"), rows)


def _words(text: str) -> str:
    """A link's text that cannot end the link."""
    return one_line(text, 120).replace("[", "(").replace("]", ")")
