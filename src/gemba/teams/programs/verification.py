"""The tester: runs the project's tests, and tells what they show; a run with failures is not passed off as a success.

Where no test can be run here, the syntax of what can be read is checked, and the report says that nothing was tested.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import NamedTuple

from gemba import shell
from gemba.errors import Unusable
from gemba.teams.programs import project
from gemba.teams.programs.checks import findings_in
from gemba.teams.programs.page import Part, Work, block, bullets, code, many, table
from gemba.teams.programs.printed import Counts, read_output
from gemba.teams.programs.task import Task
from gemba.teams.programs.tree import Tree

SECONDS = 900.0
_MOST_OUTPUT = 1_000_000  # bytes
_SHOWN_LINES = 60
_NOT_FOUND = (126, 127)


class Ran(NamedTuple):
    """A run of the tests. `trouble`: why there is no exit code."""

    command: project.Command
    code: int | None
    output: str
    seconds: float
    trouble: str = ""


def verification(task: Task, tree: Tree) -> Work:
    tried: list[Ran] = []
    for command in project.ways_to_test(tree.paths, tree.text):
        tried.append(_run(command, tree))
        if tried[-1].code is not None:
            break
    ran = next((each for each in tried if each.code is not None), None)
    return _not_run(tree, tried) if ran is None else _told(tree, ran, tried)


def _run(command: project.Command, tree: Tree) -> Ran:
    env = {name: value for name, value in os.environ.items() if not name.startswith("GEMBA_")}
    env |= {"CI": "true", "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    began = time.monotonic()
    try:
        if command.needs and shell.run((command.words[0], "-c", f"import {command.needs}"), env=env, timeout=60).code:
            return Ran(command, None, "", 0.0, f"{command.needs} is not installed here")
        result = shell.run(command.words, cwd=tree.root, env=env, timeout=SECONDS, limit=_MOST_OUTPUT)
    except Unusable as fault:
        return Ran(command, None, "", time.monotonic() - began, fault.message)
    output, took = result.stdout + result.stderr, time.monotonic() - began
    if result.code in _NOT_FOUND:
        return Ran(command, None, output, took, "a program that it needs is not here")
    return Ran(command, result.code, output, took)


# ---- what it shows ---------------------------------------------------------------------------------------------------


def _told(tree: Tree, ran: Ran, tried: list[Ran]) -> Work:
    counts = read_output(ran.output)
    failed = ran.code != 0
    parts = [
        Part("The run", _run_table(ran, counts)),
        Part("What failed", bullets(code(name) for name in counts.failures) or ["No test."]),
        Part("The end of what it printed", block("\n".join(ran.output.splitlines()[-_SHOWN_LINES:]) or "nothing")),
    ]
    parts += _not_tried(tried)
    tests = [path for path in tree.paths if project.is_test(path)]
    return Work(
        "Test report",
        _short(ran, counts),
        parts,
        ["Anything that these tests do not run.", *([] if counts.coverage else ["Coverage: the run prints none."])],
        tests[:50],
        [f"tests as {ran.command.file} has them"],
        severity={"failed": counts.failed or 0, "passed": counts.passed or 0},
        code=1 if failed else 0,
        surveyed="not one test was run" if _ran_none(counts) else "",
        tested=not failed and not _ran_none(counts),
    )


def _ran_none(counts: Counts) -> bool:
    return counts.passed is not None and not counts.passed and not counts.failed


def _short(ran: Ran, counts: Counts) -> list[str]:
    outcome = "passed" if ran.code == 0 else f"failed, with exit code {ran.code}"
    told = [f"{code(ran.command.line)} {outcome}."]
    if counts.passed is not None or counts.failed is not None:
        skipped = f", {counts.skipped} skipped" if counts.skipped else ""
        told.append(f"{many(counts.passed or 0, 'test')} passed, {counts.failed or 0} failed{skipped}.")
    if counts.coverage:
        told.append(f"The coverage that it prints: {counts.coverage}.")
    return told + [f"Failed: {code(name)}." for name in counts.failures[:2]]


def _run_table(ran: Ran, counts: Counts) -> list[str]:
    told = {
        "command": code(ran.command.line),
        "found by": code(ran.command.file),
        "exit code": str(ran.code),
        "passed": _number(counts.passed),
        "failed": _number(counts.failed),
        "skipped": _number(counts.skipped),
        "coverage": counts.coverage or "not told",
        "time": f"{ran.seconds:.1f} s",
    }
    return table(("", ""), told.items())


def _number(value: int | None) -> str:
    return "not told" if value is None else str(value)


def _not_tried(tried: list[Ran]) -> list[Part]:
    lines = [f"{code(each.command.line)}: {each.trouble}" for each in tried if each.code is None]
    return [Part("What could not be run", bullets(lines))] if lines else []


def _not_run(tree: Tree, tried: list[Ran]) -> Work:
    """No test could be run: what can be said without one."""
    broken = [each for each in findings_in(tree) if each.severity == "critical"]
    python = [path for path in tree.paths if path.endswith(".py")]
    why = (
        f"{code(tried[0].command.line)} cannot be run: {tried[0].trouble}" if tried else "no file says how it is tested"
    )
    return Work(
        "Test report",
        [
            f"No test was run: {why}.",
            f"The syntax of {many(len(python), 'Python file')} was checked: {_broken(broken)}.",
        ],
        [
            Part(
                "Syntax", bullets(f"{code(f'{each.path}:{each.line}')} {each.what}" for each in broken) or ["No fault."]
            ),
            *_not_tried(tried),
            Part("Not verified", bullets(["That it works: nothing was run that would show it."])),
        ],
        tree.unseen(),
        python[:50],
        ["syntax of Python, without running it"],
        gaps=[f"No test was run: {why}."],
        severity={"critical": len(broken)},
        code=1 if broken else 0,
        surveyed="no test was run",
    )


def _broken(found: Sequence[object]) -> str:
    return many(len(found), "fault") if found else "no fault"
