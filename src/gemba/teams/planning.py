"""How a plan comes to be: from an analysis, or as a model or a person proposes it. Pure.

Every plan passes `plan_check`, whoever made it. A plan's tasks stand in graph order: none before what blocks it. Called
by whoever starts a run, and by the engine where a revision is inserted.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import Any

import msgspec

from gemba.errors import Invalid, NotFound
from gemba.fit import fit
from gemba.teams.analysis import MOST_ROLES, Analysis
from gemba.teams.plan import Plan, PlanRole, PlanTask, ProposedPlan, ProposedTask, chains_of, graph_order, prefix_of
from gemba.teams.plan_check import faults_of


def read_plan(document: Any, *, max_roles: int = MOST_ROLES) -> Plan:
    """A plan that a model or a person proposes, or an Invalid that names what is wrong with it."""
    return accept(fit(document, ProposedPlan, whole="the plan"), max_roles=max_roles)


def plan_from(analysis: Analysis) -> Plan:
    """A task a capability. Each waits for all of the tier before its own, and in one role for the one before it."""
    found = {each.name: each for each in analysis.capabilities}
    roles = {capability: role for role in analysis.roles for capability in role.capabilities}
    many = dict.fromkeys((role.prefix for role in analysis.roles), 0)
    last: dict[str, str] = {}  # of a role, in this tier
    above: tuple[str, ...] = ()
    tasks: list[ProposedTask] = []
    for _, tier in groupby(analysis.capabilities, key=lambda each: each.tier):
        last.clear()
        here = []
        for name in (each.name for each in tier):
            role = roles[name]
            many[role.prefix] += 1
            id = f"{role.prefix}-{many[role.prefix]:03}"
            before = (last[role.name],) if role.name in last else ()
            tasks.append(ProposedTask(id, role.name, found[name].goal, above + before))
            last[role.name] = id
            here.append(id)
        above = tuple(here)
    taking_part = tuple(PlanRole(role.name, role.prefix, capabilities=role.capabilities) for role in analysis.roles)
    return accept(ProposedPlan(taking_part, tuple(tasks)), max_roles=analysis.max_roles)


def accept(proposed: ProposedPlan, *, max_roles: int = MOST_ROLES) -> Plan:
    """The plan in graph order with its chains; an Invalid has the first fault, and all of them as `findings`."""
    if faults := faults_of(proposed, max_roles=max_roles):
        first, more = faults[0], len(faults) - 1
        raise Invalid(
            first.message + (f" (and {more} more)" if more else ""),
            code=first.code,
            pointer=first.pointer,
            found=first.found,
            allowed=first.allowed,
            findings=faults,
        )
    tasks = {task.id: task for task in proposed.tasks}
    blockers = {id: tuple(dict.fromkeys(task.blocked_by)) for id, task in tasks.items()}
    order = graph_order(blockers)
    roles = {role.name: role for role in proposed.roles}
    chains = chains_of({id: blockers[id] for id in order})
    sizes = Counter(chains.values())
    return Plan(
        proposed.roles,
        tuple(
            PlanTask(
                id,
                tasks[id].owner,
                tasks[id].goal,
                blockers[id],
                chains[id],
                sizes[chains[id]] > 1 and roles[tasks[id].owner].inner_loop,
                tasks[id].options,
            )
            for id in order
        ),
    )


def with_revision(plan: Plan, task_id: str, goal: str) -> tuple[Plan, str]:
    """The plan with one more task of the same role that revises a held one, and the new task's id.

    It can begin at once, since it waits for no more than the held task did, and all that waits for the held one waits
    for it too."""
    held = next((task for task in plan.tasks if task.id == task_id), None)
    if held is None:
        raise NotFound(f"the plan has no task {task_id[:60]}", code="unknown_task", found=task_id[:60])
    prefix = prefix_of(held.id)
    highest = max(int(task.id.rpartition("-")[2]) for task in plan.tasks if prefix_of(task.id) == prefix)
    added = PlanTask(
        f"{prefix}-{highest + 1:03}", held.owner, goal, held.blocked_by, held.chain, held.inner_loop, held.options
    )
    tasks: list[PlanTask] = []
    for task in plan.tasks:
        waits = task_id in task.blocked_by
        tasks.append(msgspec.structs.replace(task, blocked_by=(*task.blocked_by, added.id)) if waits else task)
        if task is held:
            tasks.append(added)
    return Plan(plan.roles, tuple(tasks)), added.id
