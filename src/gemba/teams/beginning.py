"""A run begins, as an action: what its text asks for, its plan, its roles, and all of its tasks in one transaction.

Before the transaction: the analysis or the plan that was proposed, both judged by the same rules, the role-specs, and
whether the agents can run here; then, unless it is only planned, its branch. Nothing is started before all of that
passes. A text is a text: one that reads like a command begins a run like any other.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
from sqlalchemy import insert, select

from gemba import wire
from gemba.action import Action, Id, Nothing
from gemba.config import TeamSettings
from gemba.errors import GembaError, Invalid
from gemba.event import Draft
from gemba.handoff import audit
from gemba.personas import consults
from gemba.sessions.agents.agent import Agent, usable
from gemba.skills.consult import team_plan
from gemba.store.database import Transaction
from gemba.teams import branches, bus, command_tasks, commands, epics, graph, store, team_file
from gemba.teams.analysis import LONGEST_TEXT, MOST_ROLES, Analysis, analyse
from gemba.teams.capabilities import workspace_vocabulary
from gemba.teams.casting import Cast, cast_roles, kept_role
from gemba.teams.plan import Plan, PlanTask
from gemba.teams.planning import plan_from, read_plan
from gemba.teams.project_commands import project_commands
from gemba.teams.run import BUILTIN, COORDINATOR, PERSON, PlannedBy, RunSettings, RunState, RunView, check_id
from gemba.teams.tables import edges, runs, tasks
from gemba.teams.view import view_run
from gemba.text import one_line, storable
from gemba.work.item import Cause

_TITLE = 120


class NewTeam(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is to be done. `agent`: the type of agent of tasks that name none; `plan`: roles and tasks in place of those
    that the text is taken to ask for; `plan_only`: nothing begins before somebody says so."""

    text: Annotated[str, msgspec.Meta(max_length=LONGEST_TEXT)]
    epic_id: Id | None = None
    agent: Annotated[str, msgspec.Meta(min_length=1, max_length=wire.MAX_ID)] | None = None
    max_roles: int = MOST_ROLES
    plan: dict[str, Any] | None = None
    plan_only: bool = False
    settings: RunSettings | None = None


class Prepared(NamedTuple):
    """A wish that was looked into."""

    id: str
    wanted: NewTeam
    agent: str
    settings: RunSettings
    analysis: Analysis
    plan: Plan
    roles: dict[str, Cast]
    branch: branches.Opened | None


def prepare(surroundings: Mapping[str, Any], wanted: NewTeam) -> Prepared:
    root: Path = surroundings["workspace"]
    usual: TeamSettings = surroundings["teams"]
    analysis = _analysis(root, wanted)
    plan = plan_from(analysis) if wanted.plan is None else read_plan(wanted.plan, max_roles=wanted.max_roles)
    agent = wanted.agent or usual.agent
    declared = team_file.read_team_file(root)
    plan = command_tasks.with_programs(plan, declared.capability, agent)
    settings = _settings(root, wanted, usual, plan)
    agents = _checked_agents(surroundings, root, agent, plan)
    roles = cast_roles(root, plan, agents)
    id = f"team-{secrets.token_hex(6)}"
    branch = None if wanted.plan_only else branches.open_branch(str(root), id)
    return Prepared(id, wanted, agent, settings, analysis, plan, roles, branch)


def _analysis(root: Path, wanted: NewTeam) -> Analysis:
    """Where a plan is proposed, how many roles the words of the text ask for is no reason to refuse it."""
    most = wanted.max_roles if wanted.plan is None else max(wanted.max_roles, MOST_ROLES)
    least = most if wanted.max_roles > 0 else wanted.max_roles
    found = analyse(storable(wanted.text), max_roles=least, vocabulary=workspace_vocabulary(root))
    return msgspec.structs.replace(found, max_roles=wanted.max_roles)


def _settings(root: Path, wanted: NewTeam, usual: TeamSettings, plan: Plan) -> RunSettings:
    given = wanted.settings or RunSettings()
    names = [role.name for role in plan.roles]
    if given.reviewer not in (BUILTIN, PERSON, *names):
        allowed = [BUILTIN, PERSON, *names]
        raise Invalid(
            f"reviewer is {given.reviewer[:60]!r}; allowed: {', '.join(allowed)}",
            code="unknown_reviewer",
            pointer="/settings/reviewer",
            found=given.reviewer[:60],
            allowed=allowed,
        )
    for at, task in enumerate(plan.tasks):
        for each in task.options.reviewers:
            if each not in (PERSON, *names) or each == task.owner:
                raise Invalid(
                    f"{task.id} is to be discussed by {each[:60]!r}; allowed: {PERSON} or a role that is not its owner",
                    code="unknown_reviewer",
                    pointer=f"/plan/tasks/{at}/options/reviewers",
                    found=each[:60],
                )
    commands = given.commands or tuple(found.command for found in project_commands(root))
    return msgspec.structs.replace(given, commands=commands, max_parallel=given.max_parallel or usual.max_parallel)


def _checked_agents(surroundings: Mapping[str, Any], root: Path, agent: str, plan: Plan) -> set[str]:
    """The types that take part; an Invalid names the task whose agent cannot run here."""
    names = {agent: ("", "/agent")}
    for at, task in enumerate(plan.tasks):
        if task.options.agent is not None:
            names.setdefault(task.options.agent, (f"{task.id}: ", f"/plan/tasks/{at}/options/agent"))
    for name, (who, pointer) in names.items():
        try:
            found: Agent = surroundings["agent"](name)
        except GembaError as error:
            raise Invalid(f"{who}{error.message}", code=error.code, pointer=pointer, found=name) from None
        reason = usable(found, root) if found.takes_task else "nothing there reads a task"
        if reason is not None:
            words = f"{who}agent {name} cannot run here: {reason}; `gemba agents` shows which can"
            raise Invalid(words, code="agent_unusable", pointer=pointer, found=name)
    return set(names)


def begin_run(tx: Transaction, made: Prepared) -> RunView:
    planned = made.wanted.plan_only
    if not planned:
        for guard in tx.surroundings.get("dispatch_guards", ()):
            guard(tx)
    if made.wanted.epic_id is not None:
        epics.take(tx, made.wanted.epic_id, made.id, begins=not planned)
    _drop_earlier_plans(tx, made)
    tx.connection.execute(insert(runs), _run_row(tx, made))
    tx.insert_many(tasks, [_task_row(tx, made, at, task) for at, task in enumerate(made.plan.tasks)])
    pairs = [(before, task.id) for task in made.plan.tasks for before in task.blocked_by]
    if pairs:
        tx.insert_many(edges, [{"run_id": made.id, "blocker": one, "task": other} for one, other in pairs])
    told: dict[str, Any] = {"text": one_line(made.wanted.text, _TITLE), "tasks": len(made.plan.tasks), "by": tx.actor}
    told["agent"] = made.agent
    tx.emit(Draft("team.planned", told, ref=made.id) if planned else Draft("team.started", told, ref=made.id))
    audit.record(tx, "team.planned" if planned else "team.started", made.id, told)
    bus.post(tx, made.id, COORDINATOR, "progress", f"planned {len(made.plan.tasks)} tasks", {}, recipient="all")
    return view_run(tx.connection, made.id)


def _drop_earlier_plans(tx: Transaction, made: Prepared) -> None:
    """What was only planned for the same text and item is worth nothing beside this, and leaves nothing to be done."""
    same = (runs.c.text == storable(made.wanted.text), runs.c.epic_id.is_not_distinct_from(made.wanted.epic_id))
    here = (runs.c.workspace == str(tx.surroundings["workspace"]), runs.c.state == RunState.PLANNED)
    for id in tx.connection.execute(select(runs.c.id).where(*same, *here)).scalars().all():
        commands.cancel(tx, commands.Reason(f"{made.id} is of the same text"), id=id)


def start_run(tx: Transaction, opened: branches.Opened | None, *, id: str) -> RunView:
    """What was only planned begins."""
    run = store.lock_run(tx, id)
    for guard in tx.surroundings.get("dispatch_guards", ()):
        guard(tx)
    if run.epic_id is not None:
        epics.take(tx, run.epic_id, run.id, begins=True)
    branch = {"branch": None, "base": None} if opened is None else {"branch": opened.branch, "base": opened.base}
    store.move_run(tx, run, "started", started_at=tx.now, **branch)
    tx.emit(Draft("team.started", {"tasks": run.tasks, "by": tx.actor}, ref=id))
    audit.record(tx, "team.started", id, {"by": tx.actor})
    return view_run(tx.connection, id)


def prepare_start(surroundings: Mapping[str, Any], _body: Nothing, *, id: str) -> branches.Opened | None:
    return branches.open_branch(str(surroundings["workspace"]), check_id(id))


def _run_row(tx: Transaction, made: Prepared) -> dict[str, Any]:
    begins = not made.wanted.plan_only
    many = len(made.plan.tasks)
    planned_by = _planned_by(tx)
    return {
        "id": made.id,
        "state": RunState.RUNNING if begins else RunState.PLANNED,
        "workspace": str(tx.surroundings["workspace"]),
        "origin": tx.surroundings["origin"],
        "text": storable(made.wanted.text),
        "epic_id": made.wanted.epic_id,
        "agent": made.agent,
        "settings": store.json_of(made.settings),
        "analysis": store.json_of({**msgspec.to_builtins(made.analysis), **planned_by}),
        "roles": store.json_of([kept_role(role, made.roles[role.name]) for role in made.plan.roles]),
        "branch": None if made.branch is None else made.branch.branch,
        "base": None if made.branch is None else made.branch.base,
        "tasks": many,
        "unended": many,
        "messages": 0,
        "created_by": tx.actor,
        "created_at": tx.now,
        "started_at": tx.now if begins else None,
        "unwritten": True,
    }


def _planned_by(tx: Transaction) -> dict[str, Any]:
    """The consult whose plan it is, with who answered it and what there is to say of that; nothing for every other."""
    if not isinstance(tx.cause, Cause) or tx.cause.kind != "consult":
        return {}
    row = consults.find(tx.connection, tx.cause.id)
    if row is None or row.skill_id != team_plan.SKILL.id:
        return {}
    return {"planned_by": PlannedBy(row.id, None if row.by_advisor else row.agent_type, row.error)}


def _task_row(tx: Transaction, made: Prepared, at: int, task: PlanTask) -> dict[str, Any]:
    prefix = task.id.rpartition("-")[0]
    return graph.new_row(
        tx,
        run_id=made.id,
        id=task.id,
        place=(at + 1) * graph.STEP,
        owner=task.owner,
        prefix=prefix,
        goal=storable(task.goal),
        given=store.json_of(task.options),
        chain=task.chain,
        inner_loop=task.inner_loop,
        blocked_by=store.json_of(task.blocked_by),
        open_blockers=len(task.blocked_by),
    )


ACTIONS = (
    Action("/api/teams", begin_run, NewTeam, RunView, "Plan a team run, and start it", prepare=prepare, status=201),
    Action("/api/teams/{id}/start", start_run, Nothing, RunView, "Start what was planned", prepare=prepare_start),
)
