"""A run's plan: who takes part, and tasks with what blocks each; their order and their chains. Types, no I/O."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import msgspec

MOST_TASKS = 5_000
_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
_Names = Annotated[tuple[_Name, ...], msgspec.Meta(max_length=500)]


class PlanRole(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`inner_loop` false forbids that one session takes several tasks of a chain; true allows it."""

    name: _Name
    prefix: _Name
    inner_loop: bool = True
    capabilities: _Names = ()


Output = Literal["artifact", "codebase", "mixed"]
_Line = Annotated[str, msgspec.Meta(min_length=1, max_length=4_000)]
_Lines = Annotated[tuple[_Line, ...], msgspec.Meta(max_length=100)]


class CommandTask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A program that the built-in worker runs in place of an agent: what it runs, the artifact that it writes (a plain
    name, given to it as $GEMBA_ARTIFACT), and what must exit with 0 afterwards."""

    run: _Line
    artifact: Annotated[str, msgspec.Meta(min_length=1, max_length=100)] = "report.md"
    verify: _Line | None = None


class DeclaredCommand(CommandTask, frozen=True, forbid_unknown_fields=True):
    """The command that a workspace declares for a capability, and what the gate of such a task looks at: its artifact,
    unless it is said."""

    output: Output | None = None

    @property
    def command(self) -> CommandTask:
        return CommandTask(self.run, self.artifact, self.verify)


class TaskOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a plan may say of a task beside its goal. `output`: what its gate looks at; unless it is said, code and an
    artifact for developers and testers, an artifact for the others. `reviewers` discuss its work: roles, or person."""

    agent: _Name | None = None
    output: Output | None = None
    acceptance: _Lines = ()
    targets: _Lines = ()
    command: CommandTask | None = None
    reviewers: _Names = ()
    seconds: Annotated[int, msgspec.Meta(ge=1, le=2_592_000)] | None = None  # of one turn


class ProposedTask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: _Name
    owner: _Name
    goal: _Line
    blocked_by: _Names = ()
    options: TaskOptions = TaskOptions()


class ProposedPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    roles: Annotated[tuple[PlanRole, ...], msgspec.Meta(max_length=100)]
    tasks: Annotated[tuple[ProposedTask, ...], msgspec.Meta(max_length=MOST_TASKS)]


class PlanTask(msgspec.Struct, frozen=True):
    """`chain` is the id of the first task of its chain, its own where it stands alone. With `inner_loop` the session
    of one task of the chain goes on with the next."""

    id: str
    owner: str
    goal: str
    blocked_by: tuple[str, ...]
    chain: str
    inner_loop: bool
    options: TaskOptions = TaskOptions()


class Plan(msgspec.Struct, frozen=True):
    roles: tuple[PlanRole, ...]
    tasks: tuple[PlanTask, ...]


def graph_order(blockers: Mapping[str, Sequence[str]]) -> list[str]:
    """The tasks, none before what blocks it, and else as they are given. What waits in a circle is left out."""
    place = {id: number for number, id in enumerate(blockers)}
    ids = list(blockers)
    open_ = {id: len(set(before)) for id, before in blockers.items()}
    after: dict[str, list[str]] = {id: [] for id in blockers}
    for id, before in blockers.items():
        for each in set(before):
            after.setdefault(each, []).append(id)
    ready = [place[id] for id, many in open_.items() if not many]
    order = []
    while ready:
        id = ids[heapq.heappop(ready)]
        order.append(id)
        for each in after[id]:
            open_[each] -= 1
            if not open_[each]:
                heapq.heappush(ready, place[each])
    return order


def prefix_of(task_id: str) -> str:
    return task_id.rpartition("-")[0]


def chains_of(blockers: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """By task the first of its chain, of tasks in graph order. A task continues the chain of what blocks it directly
    and has its prefix: the latest of them that no other task continues already."""
    place = {id: number for number, id in enumerate(blockers)}
    chains: dict[str, str] = {}
    ends: set[str] = set()
    for id, before in blockers.items():
        open_ = [each for each in before if each in ends and prefix_of(each) == prefix_of(id)]
        if open_:
            last = max(open_, key=place.__getitem__)
            ends.discard(last)
            chains[id] = chains[last]
        else:
            chains[id] = id
        ends.add(id)
    return chains
