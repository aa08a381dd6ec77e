"""What team_plan answers with: four types of lines, told apart by `type`, which together are the plan of a team run.

A line is judged by its shape and its place alone. Whether the roles and tasks make a plan is judged once, of all of
them together, by the rules of team runs: those lie above the skills and are handed in, see `gemba.personas.expert`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

import msgspec

from gemba.skills.consult.judge import Line
from gemba.skills.consult.suggested import SuggestedAction

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Names = Annotated[list[Name], msgspec.Meta(max_length=500)]
Words = Annotated[str, msgspec.Meta(min_length=1, max_length=4_000)]
Criteria = Annotated[list[Words], msgspec.Meta(max_length=100)]
Output = Literal["artifact", "codebase", "mixed"]


class PlanStrategy(msgspec.Struct, frozen=True, tag="strategy", tag_field="type"):
    """First: how the text was understood, and why it is cut in this way."""

    reasoning: str = ""


class PlanRoleLine(msgspec.Struct, frozen=True, kw_only=True, tag="role", tag_field="type"):
    """Somebody who takes part: a name in small letters, the prefix of its tasks in capitals, and what it can do."""

    name: Name
    prefix: Name
    capabilities: Names = []


class PlanTaskLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="task", tag_field="type"):
    """A task of a role: its id is the role's prefix and a number, `blocked_by` names the tasks that it builds on."""

    id: Name
    owner: Name
    goal: Words
    blocked_by: Names = []
    acceptance: Criteria = []
    output: Output | None = None


class PlanSummary(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="summary", tag_field="type"):
    """Last. Its action plans a run with the lines before it; that is composed from them, whatever stands there."""

    notes: str
    suggested_action: SuggestedAction | None = None


def plan_of(lines: Iterable[Line]) -> dict[str, Any]:
    """The plan that lines make, as a document, in the form in which a person proposes one too."""
    given = list(lines)
    roles = [
        {"name": line.name, "prefix": line.prefix, "capabilities": list(line.capabilities)}
        for line in given
        if isinstance(line, PlanRoleLine)
    ]
    return {"roles": roles, "tasks": [_task(line) for line in given if isinstance(line, PlanTaskLine)]}


def _task(line: PlanTaskLine) -> dict[str, Any]:
    said = {"acceptance": list(line.acceptance), "output": line.output}
    options = {name: value for name, value in said.items() if value}
    about: dict[str, Any] = {"id": line.id, "owner": line.owner, "goal": line.goal, "blocked_by": list(line.blocked_by)}
    return {**about, "options": options} if options else about
