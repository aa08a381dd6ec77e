"""Plans of team runs as consults propose them: answered without a model by the analysis, and judged by the one
validator.

Handed in as the expert of `team_plan`, which lies below: there is one set of rules for a plan, whoever makes it, and it
stays with the runs that have to obey it. Called by consults, through `app`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from gemba.errors import Invalid
from gemba.fit import fit
from gemba.personas.expert import Expert
from gemba.skills.consult.judge import OrderError
from gemba.skills.consult.team_plan import TeamPlanInput
from gemba.skills.consult.team_plan_lines import PlanRoleLine, PlanStrategy, PlanSummary, PlanTaskLine, plan_of
from gemba.teams.analysis import Analysis, analyse
from gemba.teams.capabilities import workspace_vocabulary
from gemba.teams.plan import ProposedPlan
from gemba.teams.plan_check import faults_of
from gemba.teams.planning import plan_from
from gemba.text import storable

_MOST_FAULTS = 50


def expert_of(root: Path) -> Expert:
    return Expert(lambda given, _: advise(root, given), faults)


def advise(root: Path, given: TeamPlanInput) -> list[msgspec.Struct]:
    """The plan that the words of a text ask for, as lines; an Invalid where they ask for more than the limit."""
    analysis = analyse(storable(given.text), max_roles=given.max_roles, vocabulary=workspace_vocabulary(root))
    plan = plan_from(analysis)
    return [
        PlanStrategy(_reasoning(analysis)),
        *(
            PlanRoleLine(name=each.name, prefix=each.prefix, capabilities=list(each.capabilities))
            for each in plan.roles
        ),
        *(
            PlanTaskLine(id=task.id, owner=task.owner, goal=task.goal, blocked_by=list(task.blocked_by))
            for task in plan.tasks
        ),
        PlanSummary(notes=f"{len(plan.tasks)} tasks for {len(plan.roles)} roles, by the words of the text alone."),
    ]


def _reasoning(analysis: Analysis) -> str:
    why = [f"{each.name}: {each.reason}" for each in analysis.capabilities]
    joined = [each.reason for each in analysis.merges]
    level = f"complexity {analysis.complexity.score} ({analysis.complexity.level}): {analysis.complexity.reason}"
    return "; ".join([*why, *joined, level])


def faults(given: TeamPlanInput, lines: Sequence[msgspec.Struct]) -> list[OrderError]:
    """What no plan may have, with its place in the plan, as the rules of team runs say it."""
    try:
        proposed = fit(plan_of(lines), ProposedPlan, whole="the plan")
    except Invalid as error:
        return [OrderError(error.code, f"{error.pointer or '/'}: {error.message}")]
    found = faults_of(proposed, max_roles=given.max_roles)
    return [OrderError(each.code, f"{each.pointer}: {each.message}") for each in found[:_MOST_FAULTS]]
