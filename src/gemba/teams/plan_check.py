"""What no plan may have, a row a rule: each fault has a code, a pointer, and names what is wrong. Pure, near linear.

Plans that a model proposes and those of an analysis are judged by the same rows. Called by `plan.accept`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

from gemba.skills.consult.graph import cycle_in, knots
from gemba.teams.analysis import MOST_ROLES
from gemba.teams.command_tasks import command_faults
from gemba.teams.plan import PlanRole, ProposedPlan, ProposedTask, graph_order, prefix_of
from gemba.toml import nearest, quoted

_ROLE = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_PREFIX = re.compile(r"[A-Z][A-Z0-9]{0,19}")
_ID = re.compile(r"[A-Z][A-Z0-9]{0,19}-(?!000)(?:[0-9]{3}|[1-9][0-9]{3,4})")
_MOST_SHOWN = 20  # ids in a message


class PlanFault(NamedTuple):
    code: str
    pointer: str
    message: str
    found: Any = None
    allowed: Any = None


class _Looked:
    """A proposed plan, and what several rules need to know of it."""

    def __init__(self, plan: ProposedPlan, max_roles: int) -> None:
        self.roles, self.tasks, self.max_roles = plan.roles, plan.tasks, max_roles
        self.role_of: dict[str, PlanRole] = {}
        for role in plan.roles:
            self.role_of.setdefault(role.name, role)
        self.task_of: dict[str, ProposedTask] = {}
        self.place: dict[str, int] = {}
        for at, task in enumerate(plan.tasks):
            if self.task_of.setdefault(task.id, task) is task:
                self.place[task.id] = at

    @cached_property
    def graph(self) -> dict[str, tuple[str, ...]]:
        """By task what blocks it, each once, of what the plan has."""
        return {
            id: tuple(dict.fromkeys(each for each in task.blocked_by if each in self.task_of))
            for id, task in self.task_of.items()
        }

    @cached_property
    def knots(self) -> list[list[str]]:
        return knots(self.graph)


class PlanRule(NamedTuple):
    code: str
    sentence: str
    faults: Callable[[_Looked], Iterator[PlanFault]]


def faults_of(plan: ProposedPlan, *, max_roles: int = MOST_ROLES) -> list[PlanFault]:
    """Everything that is wrong with a plan, rule by rule; empty when it can be run."""
    looked = _Looked(plan, max_roles)
    return [fault for rule in RULES for fault in rule.faults(looked)]


# ---- roles -----------------------------------------------------------------------------------------------------------


def _empty(plan: _Looked) -> Iterator[PlanFault]:
    for name, parts in (("roles", plan.roles), ("tasks", plan.tasks)):
        if not parts:
            yield PlanFault("empty_plan", f"/{name}", f"the plan has no {name}; allowed: at least one", 0)


def _too_many_roles(plan: _Looked) -> Iterator[PlanFault]:
    for at in range(plan.max_roles, len(plan.roles)):
        yield PlanFault(
            "too_many_roles",
            f"/roles/{at}",
            f"{quoted(plan.roles[at].name)} is role {at + 1}; allowed: {plan.max_roles}",
            at + 1,
            plan.max_roles,
        )


def _names(plan: _Looked) -> Iterator[PlanFault]:
    for at, role in enumerate(plan.roles):
        if not _ROLE.fullmatch(role.name):
            yield _unfit(
                "invalid_role", f"/roles/{at}/name", role.name, "small letters, digits, - and _, as in developer"
            )
        if not _PREFIX.fullmatch(role.prefix):
            yield _unfit("invalid_prefix", f"/roles/{at}/prefix", role.prefix, "capital letters and digits, as in IMPL")


def _unfit(code: str, pointer: str, found: str, allowed: str) -> PlanFault:
    return PlanFault(code, pointer, f"{pointer[1:]} is {quoted(found)}; allowed: {allowed}", found, allowed)


def _duplicate_roles(plan: _Looked) -> Iterator[PlanFault]:
    yield from _twice("duplicate_role", "role", "roles", "name", (role.name for role in plan.roles))
    yield from _twice("duplicate_prefix", "prefix", "roles", "prefix", (role.prefix for role in plan.roles))


def _duplicate_ids(plan: _Looked) -> Iterator[PlanFault]:
    yield from _twice("duplicate_id", "task", "tasks", "id", (task.id for task in plan.tasks))


def _twice(code: str, noun: str, part: str, key: str, names: Iterable[str]) -> Iterator[PlanFault]:
    first: dict[str, int] = {}
    for at, name in enumerate(names):
        if first.setdefault(name, at) != at:
            words = f"{noun} {quoted(name)} is there already, as {part}/{first[name]}; allowed: each once"
            yield PlanFault(code, f"/{part}/{at}/{key}", words, name)


# ---- tasks -----------------------------------------------------------------------------------------------------------


def _ids(plan: _Looked) -> Iterator[PlanFault]:
    for at, task in enumerate(plan.tasks):
        if not _ID.fullmatch(task.id):
            yield _unfit(
                "invalid_id", f"/tasks/{at}/id", task.id, "a prefix, - and a number of three digits, as in IMPL-001"
            )


def _owners(plan: _Looked) -> Iterator[PlanFault]:
    for at, task in enumerate(plan.tasks):
        if task.owner not in plan.role_of:
            words = f"the owner of {quoted(task.id)} is {quoted(task.owner)}, which is no role of the plan"
            known = list(plan.role_of)
            more = nearest(task.owner, known[:_MOST_SHOWN])
            yield PlanFault("unknown_owner", f"/tasks/{at}/owner", words + more, task.owner, known)


def _prefixes(plan: _Looked) -> Iterator[PlanFault]:
    for at, task in enumerate(plan.tasks):
        role = plan.role_of.get(task.owner)
        if role is None or not _ID.fullmatch(task.id) or not _PREFIX.fullmatch(role.prefix):
            continue  # which is told already
        if prefix_of(task.id) != role.prefix:
            words = f"{quoted(task.id)} belongs to {role.name}; allowed: an id that begins with {role.prefix}-"
            yield PlanFault("wrong_prefix", f"/tasks/{at}/id", words, prefix_of(task.id), role.prefix)


def _blockers(plan: _Looked) -> Iterator[PlanFault]:
    for at, task in enumerate(plan.tasks):
        for number, each in enumerate(task.blocked_by):
            if each not in plan.task_of:
                words = f"{quoted(task.id)} is blocked by {quoted(each)}; allowed: tasks of the plan"
                yield PlanFault("missing_blocker", f"/tasks/{at}/blocked_by/{number}", words, each)


def _commands(plan: _Looked) -> Iterator[PlanFault]:
    for at, task in enumerate(plan.tasks):
        for fault in command_faults(task.options.command) if task.options.command is not None else ():
            pointer = f"/tasks/{at}/options/command/{fault.field}"
            yield _unfit("invalid_command", pointer, fault.found, fault.allowed)


def _cycles(plan: _Looked) -> Iterator[PlanFault]:
    for knot in plan.knots:
        cycle = cycle_in(plan.graph, knot)
        shown = cycle if len(cycle) <= _MOST_SHOWN else [*cycle[: _MOST_SHOWN - 1], "…", cycle[-1]]
        words = f"tasks wait for each other in a circle: {' → '.join(shown)}; allowed: a graph without one"
        yield PlanFault("cycle", f"/tasks/{plan.place[knot[0]]}/blocked_by", words, cycle)


def _unreachable(plan: _Looked) -> Iterator[PlanFault]:
    """What is in no circle itself and waits for one, or for what is not there; and roles that have nothing to do."""
    full = {id: task.blocked_by for id, task in plan.task_of.items()}
    reached = set(graph_order(full))
    in_circles = {id for knot in plan.knots for id in knot}
    for id in full:
        if id not in reached and id not in in_circles and all(each in plan.task_of for each in full[id]):
            before = next(each for each in full[id] if each not in reached)
            words = f"{quoted(id)} can never begin: it waits for {quoted(before)}, which cannot"
            yield PlanFault("unreachable_part", f"/tasks/{plan.place[id]}", words, id)
    owners = {task.owner for task in plan.tasks}
    for at, role in enumerate(plan.roles):
        if role.name not in owners:
            words = f"role {quoted(role.name)} owns no task; allowed: roles that have something to do"
            yield PlanFault("unreachable_part", f"/roles/{at}", words, role.name)


RULES = (
    PlanRule("empty_plan", "A plan has a role and a task.", _empty),
    PlanRule("too_many_roles", "A plan has no more roles than the limit.", _too_many_roles),
    PlanRule("invalid_role", "Roles and prefixes are spelled so that they can name files and messages.", _names),
    PlanRule("duplicate_role", "A role and a prefix are there once.", _duplicate_roles),
    PlanRule("duplicate_id", "An id names one task.", _duplicate_ids),
    PlanRule("invalid_id", "An id is a prefix and a number.", _ids),
    PlanRule("unknown_owner", "A task's owner is a role of the plan.", _owners),
    PlanRule("wrong_prefix", "A task's id begins with its owner's prefix.", _prefixes),
    PlanRule("missing_blocker", "What blocks a task is a task of the plan.", _blockers),
    PlanRule("invalid_command", "What a program runs is one line, and its artifact a plain name.", _commands),
    PlanRule("cycle", "No task waits for itself, over whatever others.", _cycles),
    PlanRule("unreachable_part", "Every task can begin at some time, and every role has one.", _unreachable),
)
