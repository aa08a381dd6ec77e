"""A team run: its states, how it is to run, and how it and its tasks are shown. Types and tables, no I/O.

A run that has ended goes on when something of it begins anew. Called by the verbs and reads of team runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec

from gemba.errors import Invalid
from gemba.machine import Machine
from gemba.teams.task import DONE, TaskState

_ID = re.compile(r"team-[0-9a-f]{12}")
COORDINATOR = "coordinator"
BUILTIN = "builtin"
PERSON = "person"


class RunState(StrEnum):
    PLANNED = "planned"  # nothing is begun before somebody says so
    RUNNING = "running"
    PAUSED = "paused"  # turns that run come to their end, and nothing new begins
    COMPLETED = "completed"
    COMPLETED_WITH_WARNINGS = "completed_with_warnings"  # something was accepted as it is, or left out by a person
    FAILED = "failed"  # something failed, and what waited for it was skipped
    CANCELLED = "cancelled"


S = RunState
RUN = Machine(
    "the run",
    {
        (S.PLANNED, "started"): S.RUNNING,
        (S.PLANNED, "cancelled"): S.CANCELLED,
        (S.RUNNING, "paused"): S.PAUSED,
        (S.RUNNING, "completed"): S.COMPLETED,
        (S.RUNNING, "completed_with_warnings"): S.COMPLETED_WITH_WARNINGS,
        (S.RUNNING, "failed"): S.FAILED,
        (S.RUNNING, "cancelled"): S.CANCELLED,
        (S.PAUSED, "resumed"): S.RUNNING,
        (S.PAUSED, "completed"): S.COMPLETED,
        (S.PAUSED, "completed_with_warnings"): S.COMPLETED_WITH_WARNINGS,
        (S.PAUSED, "failed"): S.FAILED,
        (S.PAUSED, "cancelled"): S.CANCELLED,
        (S.COMPLETED, "reopened"): S.RUNNING,
        (S.COMPLETED_WITH_WARNINGS, "reopened"): S.RUNNING,
        (S.FAILED, "reopened"): S.RUNNING,
    },
)
OPEN = frozenset({S.PLANNED, S.RUNNING, S.PAUSED})


def ending_of(states: Iterable[TaskState]) -> str:
    """The event with which a run ends whose tasks have all ended so."""
    found = set(states)
    if TaskState.FAILED in found or not found & DONE:
        return "failed"
    return "completed" if found == {TaskState.COMPLETED} else "completed_with_warnings"


def check_id(id: str) -> str:
    """The id of a run as it may stand in a path; whatever else is refused before anything is looked for."""
    if not _ID.fullmatch(id):
        rule = "team- and twelve hexadecimal digits"
        raise Invalid(f"{id[:80]!r} is no id of a team run; allowed: {rule}", code="invalid_id", pointer="/id")
    return id


Name = Annotated[str, msgspec.Meta(min_length=1, max_length=128)]


class ProjectCommand(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A command of the project whose exit code is evidence at every gate of a task that changes code."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=60)]
    run: Annotated[str, msgspec.Meta(min_length=1, max_length=4_000)]
    dimension: Literal["completeness", "consistency", "accuracy", "depth"] = "accuracy"
    seconds: Annotated[int, msgspec.Meta(ge=1, le=3_600)] = 300


class RunSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a run runs. `reviewer`: builtin, person, or a role of the plan, for the work of the others."""

    max_parallel: Annotated[int, msgspec.Meta(ge=0, le=1_000)] = 0  # tasks at once; 0: as the workspace has it
    reviewer: Name = BUILTIN
    commands: Annotated[tuple[ProjectCommand, ...], msgspec.Meta(max_length=20)] = ()
    task_seconds: Annotated[int, msgspec.Meta(ge=0, le=2_592_000)] = 0  # of one turn; 0: no deadline
    on_complete: Literal["keep", "merge", "archive"] = "keep"


class TaskView(msgspec.Struct, frozen=True, kw_only=True):
    """A task as the API, the page and the command line show it. `surveyed`: it is done with a survey in the place of
    what was asked for, and why."""

    id: str
    owner: str
    prefix: str
    goal: str
    agent: str
    output: str
    chain: str
    inner_loop: bool
    blocked_by: list[str]
    open_blockers: int
    state: TaskState
    waiting_for: str | None
    version: int
    attempt: int
    errors: int
    session_id: str | None
    dispatch_id: str | None
    merged: str | None
    score: float | None
    gate: dict[str, Any] | None
    reason: str | None
    surveyed: str | None
    revises: str | None
    escalation_id: str | None
    claimed_at: str | None
    started_at: str | None
    ended_at: str | None
    tokens: int
    cost_usd: float | None


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A run in a list. `states` counts its tasks by their state, `waits_for_you` what only a person lets go on.
    `surveyed` are its tasks that only surveyed what was asked for, `left` says so in a sentence."""

    id: str
    state: RunState
    text: str
    epic_id: str | None
    agent: str
    tasks: int
    states: dict[str, int]
    waits_for_you: int
    surveyed: list[str]
    left: str | None
    branch: str | None
    trouble: str | None
    created_by: str
    created_at: str
    started_at: str | None
    ended_at: str | None
    archived_at: str | None
    tokens: int
    cost_usd: float | None


class PlannedBy(msgspec.Struct, frozen=True):
    """The consult that a run's plan is from: the type of agent whose lines it is, none where the analysis answered, and
    why that is another one than was asked."""

    consult_id: str
    agent: str | None
    note: str | None


class RunView(RunSummary, frozen=True, kw_only=True):
    """A run whole: how it was planned, and every task in graph order."""

    settings: RunSettings
    analysis: dict[str, Any]
    planned_by: PlannedBy | None
    roles: list[dict[str, Any]]
    report: str | None
    folder: str
    all_tasks: list[TaskView]
