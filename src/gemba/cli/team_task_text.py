"""One task of a team run for a terminal: what it is, and every attempt with its scores and what failed.

Called by `gemba team show`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from gemba.cli.show import body_lines, headline, labelled, local_time
from gemba.cli.team_found import short
from gemba.cli.team_picture import MARKS
from gemba.cli.team_text import cost_of

_MOST_ATTEMPTS = 20


def lines_of_task(run_id: str, detail: dict[str, Any], artifacts: Sequence[dict[str, Any]]) -> list[str]:
    task = detail["task"]
    facts = [task["owner"], task["agent"], f"version {task['version']}", _score(task["score"]), cost_of(task)]
    state = task["state"] if task["waiting_for"] is None else f"{task['state']} ({task['waiting_for']})"
    lines = headline(state, MARKS[task["state"]][1], task["id"], facts)
    lines += labelled("goal:", task["goal"])
    for label, text in (
        ("after:", ", ".join(task["blocked_by"])),
        ("revises:", task["revises"]),
        ("reason:", task["reason"]),
        ("merged:", task["merged"]),
    ):
        if text:
            lines += labelled(label, text)
    for words in detail["words"]:
        lines += labelled("told:", words)
    for artifact in artifacts:
        version = f" --version {artifact['version']}" if artifact["version"] != task["version"] else ""
        lines += labelled("wrote:", f"gemba team artifact {short(run_id)} {artifact['name']}{version}")
    attempts = detail["attempts"]
    for attempt in attempts[:_MOST_ATTEMPTS]:
        lines += ["", *_attempt(attempt)]
    if len(attempts) > _MOST_ATTEMPTS:
        lines.append(f"    … and {len(attempts) - _MOST_ATTEMPTS} earlier ones; --json has all")
    return lines if attempts else [*lines, *body_lines("Nobody has worked on it yet.")]


def _attempt(attempt: dict[str, Any]) -> list[str]:
    gate = attempt["gate"]
    facts = [
        (attempt["outcome"] or "under way").replace("_", " "),
        None if gate is None else _score(gate["score"]),
        f"version {attempt['version']}",
        f"began {local_time(attempt['started_at'])}",
        f"ended {local_time(attempt['ended_at'])}" if attempt["ended_at"] else None,
    ]
    lines = headline("", None, f"attempt {attempt['number']}", facts)
    if attempt["trouble"]:
        lines += _red("trouble:", attempt["trouble"])
    for each in () if gate is None else gate["dimensions"]:
        lines += labelled(f"{each['dimension'] + ':':<13} {each['score']:>5g}", each["reason"])
    for check in attempt["checks"]:
        if not check["passed"]:
            lines += _red(f"failed {check['name']} ({check['dimension']}):", check["evidence"] or "no evidence")
    if attempt["review"] is not None and attempt["review"]["note"]:
        lines += labelled(f"{attempt['review']['reviewer']} says:", attempt["review"]["note"])
    return [*lines, *labelled("session:", f"gemba session logs {attempt['session_id']}")]


def _red(label: str, text: str) -> list[str]:
    first, *rest = labelled(label, text)
    return [first.replace(label, click.style(label, fg="red"), 1), *rest]


def _score(score: float | None) -> str | None:
    return None if score is None else f"{score:g} of 100"
