"""`gemba-program NAME`: do one task without a model. Run by the built-in agent; by hand it prints what it would write.

The task is told in the environment (GEMBA_TASK_GOAL, GEMBA_TASK_TEXT, GEMBA_TASK_ACCEPTANCE), its text also by a file
or on stdin. What is found goes to the file $GEMBA_ARTIFACT, whole or not at all, and what may be told of it to
$GEMBA_EVIDENCE; without the first it is printed, and nothing is written. Exit code 0: done; 1: what was looked for is
not well (tests fail, an artifact names what is not there); 2: it was called wrongly.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from gemba.teams.programs.page import Work
from gemba.teams.programs.task import Task, task_in
from gemba.teams.programs.tree import Tree

# By name the module and the function that does it.
PROGRAMS = {
    "researcher": ("survey", "survey", "what a repository is made of, and where the words of the task occur"),
    "planner": ("breakdown", "breakdown", "steps in an order with the reason for each"),
    "designer": ("outline", "outline", "modules that are touched, their imports and dependents, risks"),
    "writer": ("drawing_together", "draw_together", "one report of what upstream tasks have written"),
    "analyst": ("findings", "analysis", "findings classed by severity, each with its place"),
    "tester": ("verification", "verification", "the project's tests, run, and what they show"),
    "general": ("general", "general", "a survey, and what is left for a person or a model"),
}
_CHECKS = "an artifact: whether it has a heading and substance, and what it names is there"
_LARGEST = 1024 * 1024  # bytes of a text


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    root = Path.cwd()
    if given.name == "check":
        return _check(Path(given.file), root)
    try:
        text = None if given.text is None else _read(given.text)
    except OSError as error:
        sys.stderr.write(f"gemba-program: {given.text}: {error.strerror}\n")
        return 2
    return run(given.name, task_in(os.environ, text), root)


def run(name: str, task: Task, root: Path) -> int:
    """Do a task in a folder; the exit code."""
    from gemba.teams.programs.page import evidence_of, render

    module, function, _ = PROGRAMS[name]
    work_of: Callable[[Task, Tree], Work] = getattr(import_module(f"gemba.teams.programs.{module}"), function)
    tree = Tree(root)
    work = work_of(task, tree)
    page = render(task, work, _met(task, tree))
    if not task.artifact:
        sys.stdout.write(page)
        return work.code
    _write(Path(task.artifact), page)
    if task.evidence:
        _write(Path(task.evidence), json.dumps(evidence_of(task, work)))
    sys.stdout.write("\n".join(work.in_short) + "\n")
    return work.code


def _met(task: Task, tree: Tree) -> list[str]:
    """What can be said of each criterion: where its words occur."""
    from gemba.teams.programs.page import code, many
    from gemba.teams.programs.words import narrowed, where, words_of

    told, every = [], where(tree, words_of(task.subject))
    for criterion in task.acceptance[:20]:
        hits = narrowed(every, words_of(criterion))
        shown = ", ".join(code(hit.path) for hit in hits[:2])
        told.append(f"its words occur in {many(len(hits), 'file')}: {shown}" if hits else "its words occur nowhere yet")
    return told


def _check(path: Path, root: Path) -> int:
    from gemba.teams.programs.check import faults_of

    faults = faults_of(path, root)
    for fault in faults:
        sys.stdout.write(f"{path}: {fault}\n")
    if not faults:
        sys.stdout.write(f"{path}: it has a heading and substance, and what it names is there\n")
    return 1 if faults else 0


def _read(name: str) -> str:
    if name == "-":
        return sys.stdin.buffer.read(_LARGEST).decode("utf-8", "replace")
    with Path(name).open("rb") as file:
        return file.read(_LARGEST).decode("utf-8", "replace")


def _write(path: Path, text: str) -> None:
    """A file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("wb", dir=path.parent, prefix=".", delete=False) as file:
        file.write(text.encode("utf-8", "replace"))
    Path(file.name).chmod(0o644)
    Path(file.name).replace(path)


def _parser() -> argparse.ArgumentParser:
    rows = [*((name, what) for name, (_, _, what) in PROGRAMS.items()), ("check", _CHECKS)]
    listed = "\n".join(f"  {name:<12}{what}" for name, what in rows)
    parser = argparse.ArgumentParser(
        prog="gemba-program",
        description="Do one task of a team without a model, in the folder it is called in.",
        epilog=f"programs:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = parser.add_subparsers(dest="name", required=True, metavar="NAME")
    for name in PROGRAMS:
        each = names.add_parser(name)
        each.add_argument("--text", metavar="FILE", help="a file with what is asked; - is standard input")
    names.add_parser("check").add_argument("file", metavar="FILE")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
