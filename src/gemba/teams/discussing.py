"""What follows when the work of a task was discussed: it goes on, with or without a note, or it is held and revised
once before a person decides. Verbs, inside the transaction in which the task's gate was passed.
"""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import Row, select

from gemba.store.database import Transaction
from gemba.teams import attempts, bus, deciding, graph, reviewing, store
from gemba.teams.consensus import Consensus, agree
from gemba.teams.deciding import ACCEPT, RETRY, REVISE, SKIP
from gemba.teams.publishing import add_wisdom
from gemba.teams.run import COORDINATOR
from gemba.teams.tables import tasks
from gemba.teams.task import TaskState, WaitingFor
from gemba.text import one_line

_OPTIONS = (ACCEPT, RETRY, REVISE, SKIP)


def discuss(tx: Transaction, row: Row[Any]) -> bool:
    """Whether the task goes on: nobody discussed it, or nobody holds it."""
    given = reviewing.ratings_of(tx.connection, row)
    if not given:
        return True
    found = agree(given, revised=_was_revised(tx, row))
    said = {"task_id": row.id, "severity": found.severity, "mean": found.mean, "reason": found.reason}
    kind = "consensus_blocked" if found.holds else "consensus_reached"
    bus.post(tx, row.run_id, COORDINATOR, kind, f"{row.id}: {found.severity}, {found.reason}", said, recipient="all")
    if not found.holds:
        if found.follows == "go_on_and_log":
            add_wisdom(tx, row.run_id, "issues", f"{row.id}: {found.reason}", author=COORDINATOR, task_id=row.id)
        return True
    _hold(tx, row, found, "\n".join(f"- {each.reviewer} ({each.rating}): {each.note}" for each in given))
    return False


def _was_revised(tx: Transaction, row: Row[Any]) -> bool:
    """Whether it had its one revision: a task that was put behind it, or another version."""
    behind = select(tasks.c.id).where(tasks.c.run_id == row.run_id, tasks.c.revises == row.id)
    return row.version > 1 or tx.connection.execute(behind.limit(1)).first() is not None


def _hold(tx: Transaction, row: Row[Any], found: Consensus, said: str) -> None:
    attempts.change_latest(tx, row, outcome="held", ended_at=tx.now)
    reason = one_line(f"held by those who discuss it: {found.reason}", 300)
    if found.follows == "ask":
        deciding.ask(tx, row, f"{row.id} is held a second time", f"{found.reason}\n{said}", _OPTIONS)
        return
    goal = f"Revise the work of {row.id}, which is held: {found.reason}.\n{said}"[:4_000]
    options = msgspec.structs.replace(store.options_of(row), reviewers=())  # a person decides behind it
    added = graph.put_behind(tx, row, goal, options, commit_hash=row.commit_hash)
    store.move_task(tx, row, "held", WaitingFor.DECISION, executor=None, reason=f"{reason}; {added.id} revises it")


def ask_after_revision(tx: Transaction, ended: Row[Any]) -> None:
    """What was held has had its revision: a person decides about it now."""
    if ended.revises is None:
        return
    held = store.find_task(tx.connection, ended.run_id, ended.revises)
    if held is None or held.escalation_id is not None or held.state != TaskState.WAITING:
        return
    if held.waiting_for == WaitingFor.DECISION:
        text = f"It was held, and {ended.id} has revised it since. Take it as it is now, or not?"
        id = deciding.raise_card(tx, held, f"{held.id} was revised: what becomes of it?", text, _OPTIONS)
        store.change_task(tx, held, escalation_id=id)
