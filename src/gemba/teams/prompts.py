"""What a task's agent is told: its role, the work, what is to be otherwise this time. Pure.

The envelope of its dispatch says the rest: what is known, and how a turn ends. What people and agents wrote stands as
quoted lines, so that no goal can end its quotation or speak for the engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Row

from gemba import typed
from gemba.teams.gates import WARNINGS_FROM, ComputedCheck, Gate, Review
from gemba.teams.run import BUILTIN
from gemba.text import one_line, showable

_LONGEST_TEXT = 8_000
_LONGEST_EVIDENCE = 300
_HOW_TO_REVIEW = """\
Then say what you found with the MCP tool team_msg, twice: first a rating from 1 (unusable) to 5, with critical true \
for an issue that must not pass; then your points of 100 for each dimension:"""
_MOST_FAILED = 10  # of a dimension
_FULL = 100
_GAP = """\
Where your task needs a skill that is not yours, do what is yours and say so with the MCP tool team_msg: operation \
log, type capability_gap, data {"capability": "<a word, as in tester>", "reason": "<what it is needed for>"}."""
_ARTIFACTS = """\
Write what you find out or decide into .gemba/artifacts/{task_id}-report.md, and name it in artifacts_written. What \
others found lies in .gemba/artifacts; leave that as it is. Work in this folder alone."""


class KeptRole(msgspec.Struct, frozen=True):
    """A role of a run, as it was when the run was planned."""

    name: str
    prefix: str
    inner_loop: bool = True
    capabilities: tuple[str, ...] = ()
    title: str = ""
    loads: tuple[str, ...] = ()
    spec: str = ""


_roles = typed.decoder(list[KeptRole])


def roles_of(run: Row[Any]) -> list[KeptRole]:
    return _roles.decode(run.roles)


def role_of(run: Row[Any], name: str) -> KeptRole:
    return next(role for role in roles_of(run) if role.name == name)


def goal_of(run: Row[Any], row: Row[Any]) -> str:
    """The goal of a task's dispatch: its own, and what the whole run is for."""
    return f"{row.id}: {row.goal}\n\nIt is part of a team's work:\n{run.text[:_LONGEST_TEXT]}"


def told(
    run: Row[Any], row: Row[Any], role: KeptRole, notes: Sequence[str], answered: Sequence[tuple[str, str]] = ()
) -> str:
    """The prompt of an agent that reads words. `answered`: what was asked for its task, whoever asked, with the answers
    to it, the eldest first: a new session knows nothing of what one before it was told."""
    parts = [
        f"You are {role.title or role.name} in a team of agents. Your task is {row.id}; others do the other tasks.",
        f"Your role:\n\n{role.spec.strip()}",
        f"Your task:\n{_quoted(row.goal)}",
        f"The whole of the team's work, of which you do your task alone:\n{_quoted(run.text[:_LONGEST_TEXT])}",
        *(f"Said of it since:\n{_quoted(note)}" for note in notes),
        *(
            f"Asked for your task:\n{_quoted(question[:_LONGEST_TEXT])}\n\nThe answer:\n{_quoted(answer)}"
            for question, answer in answered
        ),
        _ARTIFACTS.format(task_id=row.id),
        _GAP,
    ]
    return "\n\n".join(part for part in parts if part)


def sent_back(gate: Gate, checks: Sequence[ComputedCheck], review: Review) -> str:
    """What an agent is told whose work did not pass: which dimension had which score, and what was found there."""
    needed = f"Your work got {gate.score:g} of {_FULL} at its gate, and {WARNINGS_FROM} are needed."
    return "\n".join([f"{needed} Mend this, then hand over again:", *_lacking(gate, checks, review)])


def given_up(
    task_id: str, dependents: Sequence[str], gate: Gate, checks: Sequence[ComputedCheck], review: Review
) -> str:
    """What a person is told of work that did not pass: what is missing, and what each choice does."""
    needed = (
        f"It got {gate.score:g} of {_FULL} in attempt {gate.attempt}, and {WARNINGS_FROM} are needed. What is missing:"
    )
    behind = f", and with it {_some(dependents)}" if dependents else ""
    choices = [
        "accept: take it as it is, with a warning",
        "retry: have it done once more as it is",
        "revise: have it done otherwise; your words say how",
        f"skip: leave it out{behind}",
    ]
    lacking = _lacking(gate, checks, review if review.reviewer != BUILTIN else None)
    return "\n".join([needed, *lacking, "", f"What becomes of {task_id}?", *(f"- {each}" for each in choices)])


def _lacking(gate: Gate, checks: Sequence[ComputedCheck], review: Review | None) -> list[str]:
    lines = []
    for one in sorted(gate.dimensions, key=lambda one: one.score):
        if one.score < _FULL:
            failed = [each for each in checks if each.dimension is one.dimension and not each.passed]
            lines.append(f"- {one.dimension} {one.score:g}" + ("" if failed else f": {one.reason}"))
            lines += [
                f"  - {each.name}: {one_line(each.evidence, _LONGEST_EVIDENCE)}" for each in failed[:_MOST_FAILED]
            ]
    if review is not None and review.note.strip():
        lines.append(f"{review.reviewer} says: {review.note.strip()}")
    return lines


def _some(ids: Sequence[str], most: int = 5) -> str:
    more = f" and {len(ids) - most} more" if len(ids) > most else ""
    return ", ".join(ids[:most]) + more


def review_asked(run: Row[Any], row: Row[Any], role: KeptRole) -> str:
    """The prompt of a role that reviews another one's work."""
    call = {"operation": "log", "session_id": run.id, "type": "review", "summary": f"my review of {row.id}"}
    points = {"task_id": row.id, "completeness": 0, "consistency": 0, "accuracy": 0, "depth": 0, "note": ""}
    rating = {"task_id": row.id, "rating": 0, "critical": False, "note": ""}
    examples = [_json({**call, "type": "rating", "data": rating}), _json({**call, "data": points})]
    parts = [
        f"You are {role.title or role.name} in a team of agents, and you review the work of {row.owner}: {row.id}.",
        f"What it was to do:\n{_quoted(row.goal)}",
        f"What the team does:\n{_quoted(run.text[:_LONGEST_TEXT])}",
        "This folder has its work; read it, run its checks, and change nothing.",
        "\n".join([_HOW_TO_REVIEW, *examples]),
        "Then end your turn.",
    ]
    return "\n\n".join(parts)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


GO_ON = "Go on with your task; end the turn with a handoff."


def repaired(refusal: str) -> str:
    return f"Your handoff was not accepted:\n\n{showable(refusal)}"


def broken(trouble: str) -> str:
    """For the next attempt after one that broke."""
    return f"The attempt before this one broke ({one_line(trouble, 300)}). Try another way; what it left lies here."


def _quoted(words: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in showable(words).splitlines() or [""])
