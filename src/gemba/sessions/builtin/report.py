"""The artifact of a team's task whose commands wrote none: what was run, how it ended, what it printed. Pure.

Called by the built-in agent at the end of such a turn. Standard library only.
"""

from gemba.sessions.builtin.steps import Outcome, Task

_LONGEST_TITLE = 100
_CHECKS = (
    "test",
    "tests",
    "pytest",
    "unittest",
    "lint",
    "check",
    "ruff",
    "mypy",
    "eslint",
    "vet",
    "clippy",
    "tox",
    "nox",
)
_LONGEST_SHOWN = 20_000  # characters of a command's output, its end


def report_of(task: Task, outcomes: list[Outcome]) -> str:
    """Markdown with a heading; no output can leave the block that it stands in."""
    went_well = not any(outcome.gap for outcome in outcomes)
    parts = [f"# {task.id or 'Task'}: {_line(task.goal) or 'what was run'}", ""]
    if task.goal.strip():
        parts += [*(f"> {line}" for line in task.goal.strip().splitlines()), ""]
    parts += ["## Result", "", "Everything that was run went well." if went_well else "Something did not go well.", ""]
    parts += ["| what | how it ended | time |", "|---|---|---|"]
    parts += [f"| {_cell(each.step.text)} | {_cell(_ending(each))} | {_time(each)} |" for each in outcomes]
    parts.append("")
    if task.acceptance:
        verified = any(each.step.word == "verify" or _is_check(each.step.text) for each in outcomes)
        # To repeat what nothing has checked is not to speak of it: it is quoted.
        mark = "-" if verified and went_well else ">"
        parts += ["## Acceptance", "", *(f"{mark} {_line(each, 400)}" for each in task.acceptance), ""]
        parts += [_judged(verified, went_well), ""]
    for each in outcomes:
        if each.code is not None:
            parts += [f"## What it printed: {_code(_line(each.step.text))}", "", *_shown(each.said), ""]
    return "\n".join(parts).rstrip() + "\n"


def _is_check(command: str) -> bool:
    """A command that tests or lints shows by its exit code what it is run for."""
    words = "".join([char if char.isalnum() else " " for char in command.lower()]).split()
    return any(word in _CHECKS for word in words)


def _judged(verified: bool, went_well: bool) -> str:
    if not went_well:
        return "They are not shown to be met: look at what went wrong above."
    if verified:
        return "The verification above went well; whether that shows each of them, a person judges."
    return "No verification was declared for this task: a person judges them."


def _ending(outcome: Outcome) -> str:
    return outcome.gap or (f"exit code {outcome.code}" if outcome.code is not None else outcome.said)


def _time(outcome: Outcome) -> str:
    return "" if outcome.seconds is None else f"{outcome.seconds:.1f} s"


def _shown(output: str) -> list[str]:
    if not output.strip():
        return ["Nothing."]
    text = output[-_LONGEST_SHOWN:]
    first = [] if text == output else [f"The last {_LONGEST_SHOWN:,} of {len(output):,} characters:", ""]
    text = "".join([char if char.isprintable() or char in "\n\t" else "\ufffd" for char in text])
    fence = "`" * max(3, 1 + _most_backticks(text))
    return [*first, f"{fence}text", text, fence]


def _most_backticks(text: str) -> int:
    most = many = 0
    for char in text:
        many = many + 1 if char == "`" else 0
        most = max(most, many)
    return most


def _line(text: str, most: int = _LONGEST_TITLE) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _code(text: str) -> str:
    fence = "`" * (1 + _most_backticks(text))
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}"


def _cell(text: str) -> str:
    return _code(_line(text, 200).replace("|", "\\|"))
