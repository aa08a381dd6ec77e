"""What a `capability_gap` on the bus does, in the transaction of the message: one more task before what waits for the
task that said so, by a role that is there or one that is cast for it; or a card that asks a person.

Once for a task and a capability, however often it is said: the row of the gap is unique. The task that said so goes on
meanwhile; what waits for it waits for both. Called where messages are posted, where a card is answered, and where a
task or its run ends.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, Row, select, update

from gemba.errors import Conflict, GembaError
from gemba.escalations.escalation import Reply
from gemba.escalations.store import get_locked as lock_escalation
from gemba.escalations.store import settle
from gemba.store.database import Transaction
from gemba.teams import bus, command_tasks, deciding, graph, store, team_file
from gemba.teams.capabilities import workspace_vocabulary
from gemba.teams.casting import cast_roles, kept_role
from gemba.teams.deciding import SKIP
from gemba.teams.gap import Closing, Gap, close, name_of
from gemba.teams.message import CapabilityGap, Message
from gemba.teams.plan import Plan, PlanRole, PlanTask, TaskOptions
from gemba.teams.prompts import roles_of
from gemba.teams.run import COORDINATOR, OPEN, RunState
from gemba.teams.tables import gaps, tasks
from gemba.teams.task import ENDED, TaskState
from gemba.text import one_line

TYPE: Final = "capability_gap"
GO_ON: Final = "go on"
_LONGEST_GOAL = 4_000


def take(tx: Transaction, run_id: str, message: Message, session_id: str | None) -> None:
    """A message that says that a skill is missing. Of a task that has ended, or of none, it stays a message."""
    about = message.about
    if message.type != TYPE or not isinstance(about, CapabilityGap):
        return
    run = store.lock_run(tx, run_id)
    row = _task(tx, run_id, about.task_id, message.sender)
    capability = name_of(about.capability)
    if row is None or not capability or RunState(run.state) not in OPEN or TaskState(row.state) in ENDED:
        return
    if session_id is not None and row.session_id != session_id:
        raise Conflict(
            f"{row.id} is not this session's task, and what it misses is another's to say",
            code="not_its_task",
            found=row.id,
        )
    known = {"run_id": run_id, "task_id": row.id, "capability": capability}
    if _find(tx.connection, known) is not None:
        return
    reason = about.reason or message.summary
    closing = _closing(tx, run, row, capability)
    closed = _added(tx, run, row, capability, reason, closing) if closing.role is not None else closing
    if isinstance(closed, Closing):
        asked = _asked(tx, row, capability, reason, closed.reason)
        tx.insert_many(gaps, [{**known, "escalation_id": asked, "reason": closed.reason, "at": tx.now}])
    else:
        tx.insert_many(gaps, [{**known, "added": closed.id, "reason": closing.reason, "at": tx.now}])


def _task(tx: Transaction, run_id: str, task_id: str | None, sender: str) -> Row[Any] | None:
    """The task that is named; else the one that the sender is, or whose role it is and that alone is at work."""
    if task_id is not None:
        return store.lock_task(tx, run_id, task_id)
    if (mine := store.find_task(tx.connection, run_id, sender)) is not None:
        return store.lock_task(tx, run_id, mine.id)
    at_work = (tasks.c.run_id == run_id, tasks.c.owner == sender, tasks.c.state.in_(store.AT_WORK))
    found = tx.connection.execute(select(tasks.c.id).where(*at_work)).scalars().all()
    return store.lock_task(tx, run_id, found[0]) if len(found) == 1 else None


def _closing(tx: Transaction, run: Row[Any], row: Row[Any], capability: str) -> Closing:
    added = select(gaps.c.task_id).where(gaps.c.run_id == run.id, gaps.c.added == row.id)
    roles = [PlanRole(each.name, each.prefix, each.inner_loop, each.capabilities) for each in roles_of(run)]
    limit: int = msgspec.json.decode(run.analysis)["max_roles"]
    gap = Gap(capability, row.owner, tx.connection.execute(added.limit(1)).first() is not None, roles, limit)
    try:
        return close(gap, workspace_vocabulary(_root(tx)))
    except GembaError as error:
        return Closing(error.message)


def _root(tx: Transaction) -> Path:
    root: Path = tx.surroundings["workspace"]
    return root


# ---- one more task ---------------------------------------------------------------------------------------------------


def _added(
    tx: Transaction, run: Row[Any], row: Row[Any], capability: str, reason: str, closing: Closing
) -> Row[Any] | Closing:
    """The task that was added; why a person is to be asked, where the role cannot be cast."""
    role = closing.role
    assert role is not None  # noqa: S101 - of whoever calls
    goal = f"{row.id} misses {capability}: {reason}\n\n{closing.goal}".strip()[:_LONGEST_GOAL]
    try:
        options = _options(tx, run, role, goal)
        if closing.is_new:
            cast = cast_roles(_root(tx), Plan((role,), ()), {run.agent})[role.name]
            kept = [*msgspec.json.decode(run.roles), kept_role(role, cast)]
            store.change_run(tx, run.id, roles=store.json_of(kept))
    except GembaError as error:
        return Closing(error.message)
    added = graph.put_behind(tx, row, goal, options, owner=role.name, prefix=role.prefix)
    words = one_line(f"{row.id} misses {capability}: {added.id} of {role.name} does it, since {closing.reason}", 200)
    said = {"task_id": row.id, "added": added.id, "role": role.name, "capability": capability}
    bus.post(tx, run.id, COORDINATOR, "progress", words, said, recipient="all")
    return added


def _options(tx: Transaction, run: Row[Any], role: PlanRole, goal: str) -> TaskOptions:
    """With a program for it where the built-in worker does the run's tasks."""
    task = PlanTask(f"{role.prefix}-001", role.name, goal, (), f"{role.prefix}-001", inner_loop=False)
    declared = team_file.read_team_file(_root(tx))
    made = command_tasks.with_programs(Plan((role,), (task,)), declared.capability, run.agent)
    return made.tasks[0].options


# ---- a person --------------------------------------------------------------------------------------------------------


def _asked(tx: Transaction, row: Row[Any], capability: str, reason: str, why: str) -> str:
    """A card of its own; one is enough for a task, until it is answered."""
    open_ = _open_card(tx, row)
    if open_ is not None:
        return open_
    text = (
        f"{row.id} says that it misses {capability}: {reason}\n\nNobody was added for that: {why}. "
        f"Its work goes on meanwhile. `{GO_ON}` leaves it so, and what you write with it is told to the task; "
        f"`{SKIP}` leaves the task out, and all that depends on it."
    )
    title = one_line(f"{row.id} misses {capability}", 200)
    return deciding.raise_card(tx, row, title, text, (GO_ON, SKIP), session_id=row.run_id)


def _open_card(tx: Transaction, row: Row[Any]) -> str | None:
    mine = (gaps.c.run_id == row.run_id, gaps.c.task_id == row.id, gaps.c.escalation_id.is_not(None))
    ids = tx.connection.execute(select(gaps.c.escalation_id).where(*mine).distinct()).scalars().all()
    return next((id for id in ids if not lock_escalation(tx, id).resolved), None)


def find_by_card(connection: Connection, escalation_id: str) -> Row[Any] | None:
    """The gap that a card asks about."""
    return connection.execute(select(gaps).where(gaps.c.escalation_id == escalation_id).limit(1)).first()


def settle_card(tx: Transaction, escalation_id: str) -> None:
    """Nobody need answer it any more; of what it asked nothing is asked again."""
    tx.connection.execute(update(gaps).where(gaps.c.escalation_id == escalation_id).values(escalation_id=None))


def withdraw_cards(tx: Transaction, run_id: str, why: str, task_id: str | None = None) -> None:
    """What a person was asked about gaps of a task, or of a whole run, and need not answer any more."""
    mine = [gaps.c.run_id == run_id, gaps.c.escalation_id.is_not(None)]
    if task_id is not None:
        mine.append(gaps.c.task_id == task_id)
    for id in sorted(set(tx.connection.execute(select(gaps.c.escalation_id).where(*mine)).scalars())):
        card = lock_escalation(tx, id)
        if not card.resolved:
            settle(tx, card, "withdrawn", Reply("withdrawn", why, "session"))
        settle_card(tx, id)


def _find(connection: Connection, known: dict[str, str]) -> Row[Any] | None:
    same = [gaps.c[name] == value for name, value in known.items()]
    return connection.execute(select(gaps).where(*same)).first()
