"""Runs and their tasks as they are shown. Reads alone; called by the API and by the verbs for their answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, func, select

from gemba import clock, typed
from gemba.errors import NotFound
from gemba.escalations.store import escalations
from gemba.sprints.tables import sums
from gemba.store import rows
from gemba.teams import store
from gemba.teams.attempts import Attempt, list_attempts
from gemba.teams.outputs import output_of
from gemba.teams.prompts import roles_of
from gemba.teams.run import PlannedBy, RunState, RunSummary, RunView, TaskView
from gemba.teams.surveyed import left_in_words, surveyed_by, surveyed_in
from gemba.teams.tables import artifacts, runs, tasks
from gemba.teams.task import DONE, TaskState

_NEEDS_PERSON = (TaskState.WAITING, TaskState.PARTIAL_COMPLETION)


class Took(msgspec.Struct, frozen=True):
    """What turns took; the cost is told where any of them had a price."""

    tokens: int = 0
    cost_usd: float | None = None


def list_runs(
    connection: Connection, workspace: str, limit: int, before: rows.Place | None, states: Sequence[str] = ()
) -> tuple[list[RunSummary], int, rows.Place | None]:
    """Newest first: (a page, how many there are in all, where the next page starts)."""
    chosen = [runs.c.workspace == workspace, *([runs.c.state.in_(states)] if states else [])]
    page = rows.newest(connection, runs.c.created_at, limit, before, chosen)
    counted = _states(connection, [row.id for row in page.rows])
    took = {row.id: took_of(connection, row.id) for row in page.rows}
    asked = asks_of(connection, [row.id for row in page.rows])
    many = Counter(run_id for run_id, _ in asked)
    surveyed = surveyed_in(connection, [row.id for row in page.rows])
    shown = [
        RunSummary(
            **_summary(row, counted.get(row.id, {}), total_of(took[row.id]), many[row.id], surveyed.get(row.id, []))
        )
        for row in page.rows
    ]
    return shown, page.total, page.next


def waiting_runs(connection: Connection, workspace: str, state: RunState) -> rows.Waiting:
    """How many runs are in a state in which they wait for a person."""
    return rows.waiting(connection, runs.c.created_at, runs.c.workspace == workspace, runs.c.state == state)


def view_run(connection: Connection, id: str) -> RunView:
    run = store.get_run(connection, id)
    found = store.all_tasks(connection, id)
    took = took_of(connection, id)
    counted: dict[str, int] = {}
    for row in found:
        counted[row.state] = counted.get(row.state, 0) + 1
    analysis = msgspec.json.decode(run.analysis)
    asked = asks_of(connection, [id])
    return RunView(
        **_summary(run, counted, total_of(took), len(asked), [row.id for row in found if surveyed_by(row)]),
        settings=store.settings_of(run),
        analysis=analysis,
        planned_by=planned_by(analysis),
        roles=[msgspec.to_builtins(role) for role in roles_of(run)],
        report=run.report,
        folder=f".gemba/teams/{run.id}",
        all_tasks=[
            view_task(run, row, took.get(store.ref_of(id, row.id), Took()), asked.get((id, row.id))) for row in found
        ],
    )


def planned_by(analysis: Mapping[str, Any]) -> PlannedBy | None:
    found = analysis.get("planned_by")
    return None if found is None else typed.convert(found, PlannedBy)


class TaskDetail(msgspec.Struct, frozen=True, kw_only=True):
    """A task with every attempt, newest first, and what was said to it."""

    task: TaskView
    words: list[str]
    attempts: list[Attempt]


def view_detail(connection: Connection, run_id: str, task_id: str) -> TaskDetail:
    run, row = store.get_run(connection, run_id), store.get_task(connection, run_id, task_id)
    took = took_of(connection, run_id).get(store.ref_of(run_id, task_id), Took())
    return TaskDetail(
        task=view_task(run, row, took, asks_of(connection, [run_id]).get((run_id, task_id))),
        words=store.words_of(row),
        attempts=list_attempts(connection, run_id, task_id),
    )


def asks_of(connection: Connection, run_ids: Sequence[str]) -> dict[tuple[str, str], str]:
    """By run and task what its agent asked in the middle of a turn, and waits for: the eldest that is open."""
    at_work = (tasks.c.run_id.in_(run_ids), tasks.c.state.in_(store.AT_WORK))
    query = (
        select(tasks.c.run_id, tasks.c.id, escalations.c.id.label("escalation_id"))
        .join(escalations, escalations.c.session_id == tasks.c.session_id)
        .where(*at_work, ~escalations.c.resolved)
    )
    found: dict[tuple[str, str], str] = {}
    for row in connection.execute(query.order_by(escalations.c.opened_at, escalations.c.id)):
        found.setdefault((row.run_id, row.id), row.escalation_id)
    return found


def view_task(run: Row[Any], row: Row[Any], took: Took, asked: str | None = None) -> TaskView:
    """`asked`: what its agent asks in the middle of its turn."""
    options = store.options_of(row)
    return TaskView(
        id=row.id,
        owner=row.owner,
        prefix=row.prefix,
        goal=row.goal,
        agent=options.agent or run.agent,
        output=output_of(row.prefix, options),
        chain=row.chain,
        inner_loop=row.inner_loop,
        blocked_by=store.blockers_of(row),
        open_blockers=row.open_blockers,
        state=TaskState(row.state),
        waiting_for=row.waiting_for,
        version=row.version,
        attempt=row.attempt,
        errors=row.errors,
        session_id=row.session_id,
        dispatch_id=row.dispatch_id,
        merged=row.merged,
        score=row.score,
        gate=None if row.gate is None else msgspec.json.decode(row.gate),
        reason=row.reason,
        surveyed=surveyed_by(row),
        revises=row.revises,
        escalation_id=row.escalation_id or asked,
        claimed_at=clock.told(row.claimed_at),
        started_at=clock.told(row.started_at),
        ended_at=clock.told(row.ended_at),
        tokens=took.tokens,
        cost_usd=took.cost_usd,
    )


def find_artifact(connection: Connection, run_id: str, name: str, version: int | None) -> Row[Any]:
    """An artifact by its name, as the latest version of its task left it unless another is asked for."""
    mine = [artifacts.c.run_id == run_id, artifacts.c.name == name]
    if version is not None:
        mine.append(artifacts.c.version == version)
    newest = select(artifacts).where(*mine).order_by(artifacts.c.version.desc()).limit(1)
    row = connection.execute(newest).first()
    if row is None:
        raise NotFound(f"{run_id} has no artifact {name[:120]}", code="not_found", found=name[:120])
    return row


def _summary(row: Row[Any], states: Mapping[str, int], took: Took, asks: int, surveyed: list[str]) -> dict[str, Any]:
    return {
        "id": row.id,
        "state": RunState(row.state),
        "text": row.text,
        "epic_id": row.epic_id,
        "agent": row.agent,
        "tasks": row.tasks,
        "states": dict(states),
        "waits_for_you": sum(states.get(state, 0) for state in _NEEDS_PERSON) + asks,
        "surveyed": surveyed,
        "left": left_in_words(surveyed, sum(states.get(state, 0) for state in DONE)),
        "branch": row.branch,
        "trouble": row.trouble,
        "created_by": row.created_by,
        "created_at": clock.rfc3339(row.created_at),
        "started_at": clock.told(row.started_at),
        "ended_at": clock.told(row.ended_at),
        "archived_at": clock.told(row.archived_at),
        "tokens": took.tokens,
        "cost_usd": took.cost_usd,
    }


def _states(connection: Connection, ids: Sequence[str]) -> dict[str, dict[str, int]]:
    counted = select(tasks.c.run_id, tasks.c.state, func.count()).where(tasks.c.run_id.in_(ids))
    found: dict[str, dict[str, int]] = {}
    for run_id, state, many in connection.execute(counted.group_by(tasks.c.run_id, tasks.c.state)):
        found.setdefault(run_id, {})[state] = many
    return found


def took_of(connection: Connection, run_id: str) -> dict[str, Took]:
    """By the refs of a run's tasks: their sums are kept under these, one beside the other."""
    mine = (sums.c.kind == "task", sums.c.key > f"{run_id}/", sums.c.key < f"{run_id}0")
    return {
        row.key: Took(row.tokens, row.cost_usd_micros / 1_000_000 if row.turns > row.unpriced else None)
        for row in connection.execute(select(sums).where(*mine))
    }


def total_of(took: Mapping[str, Took]) -> Took:
    priced = [each.cost_usd for each in took.values() if each.cost_usd is not None]
    return Took(sum(each.tokens for each in took.values()), sum(priced) if priced else None)
