"""What a task comes to when its turn did not end in work that can be judged: a wait, a rest, an error and what the
error protocol makes of it. Verbs, each under the number of a claim. Called where turns are concluded.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Row, bindparam, select

from gemba import clock
from gemba.escalations.escalation import Reply
from gemba.escalations.raised import raise_escalation
from gemba.escalations.store import get_locked as lock_escalation
from gemba.escalations.store import options_of, settle
from gemba.store.database import Transaction
from gemba.teams import attempts, bus, graph, store
from gemba.teams.error_protocol import Errors, respond
from gemba.teams.run import COORDINATOR
from gemba.teams.standing import Next
from gemba.teams.tables import tasks
from gemba.teams.task import TaskState, WaitingFor
from gemba.text import one_line, storable

KIND: Final = "gate_failure"
ACCEPT, RETRY, REVISE, SKIP = "accept", "retry", "revise", "skip"
_BACK_OFF = 2 * clock.SECOND
_LONGEST_BACK_OFF = 600 * clock.SECOND
_LONGEST = 300

Claim = tuple[str, str, int]


def held(tx: Transaction, claim: Claim) -> Row[Any] | None:
    """The task, locked after its run, as long as the claim is the one that works on it."""
    run_id, task_id, fence = claim
    store.lock_run(tx, run_id)
    row = store.lock_task(tx, run_id, task_id)
    return row if store.is_held(row, fence) else None


def keeps_turn(tx: Transaction, dispatch: Row[Any]) -> bool:
    """Whether a dispatch is the one of a task that is at work: the engine gives it its next turn, or asks a person."""
    mine = select(tasks.c.id).where(tasks.c.dispatch_id == dispatch.id, tasks.c.state == TaskState.RUNNING)
    return tx.connection.execute(mine.limit(1)).first() is not None


def checks_turn(tx: Transaction, dispatch: Row[Any]) -> bool:
    """Whether the stint of a task waits for what a dispatch hands over, in the home that has its folder."""
    given = {"dispatch_id": dispatch.id, "origin": dispatch.origin}
    return tx.connection.execute(_at_work_here, given).first() is not None


# Made once: to make it takes several times as long as to run it.
_at_work_here = (
    select(tasks.c.id)
    .where(
        tasks.c.dispatch_id == bindparam("dispatch_id"),
        tasks.c.state == TaskState.RUNNING,
        tasks.c.origin == bindparam("origin"),
        tasks.c.executor.is_not(None),
    )
    .limit(1)
)


def wait(tx: Transaction, claim: Claim, found: Next) -> None:
    """A person has to answer first; until then nobody holds the task."""
    row = held(tx, claim)
    if row is None or row.state != TaskState.RUNNING or found.waiting_for is None:
        return
    attempts.change_latest(tx, row, outcome="held", ended_at=tx.now)
    waits = store.move_task(tx, row, "held", found.waiting_for, escalation_id=found.escalation_id, executor=None)
    said = {"task_id": row.id, "waiting_for": found.waiting_for}
    bus.post(tx, row.run_id, row.owner, "blocker", f"{row.id} waits for {waits.waiting_for}", said)


def rest(tx: Transaction, claim: Claim, reason: str, rest: int) -> None:
    """It cannot begin now for a reason that passes: no error, and tried again after a while."""
    row = held(tx, claim)
    if row is not None:
        _released(tx, row, reason, tx.now + rest)


def _released(tx: Transaction, row: Row[Any], reason: str, not_before: int, **values: Any) -> Row[Any]:
    free = store.move_task(
        tx, row, "released", reason=one_line(reason, _LONGEST), not_before=not_before, executor=None, **values
    )
    kept_back = graph.skip_if_kept_back(tx, free)
    return free if kept_back is None else kept_back.task


def break_off(tx: Transaction, claim: Claim, trouble: str, kind: str) -> None:
    """The attempt broke: another way, a person, or the end of its chain, as the error protocol says."""
    row = held(tx, claim)
    if row is None:
        return
    errors = Errors(row.errors, graph.chain_errors(tx, row)).one_more()
    follows = respond(errors)
    attempts.change_latest(tx, row, outcome="error" if kind == "broken" else kind, trouble=trouble, ended_at=tx.now)
    graph.put_chain(tx, row, errors.chain, stopped=follows.stops_chain)
    reason = f"{one_line(trouble, _LONGEST)} ({follows.reason})"
    bus.post(tx, row.run_id, row.owner, "error", one_line(f"{row.id}: {trouble}", 200), {"task_id": row.id})
    back_off = min(_BACK_OFF << max(0, errors.task - 1), _LONGEST_BACK_OFF)
    free = _released(tx, row, reason, tx.now + back_off if follows.another_way else 0, errors=errors.task)
    if follows.escalates and free.state == TaskState.PENDING:
        ask(tx, free, f"{row.id} broke {errors.task} times", f"{trouble}\n\n{follows.reason}", (RETRY, REVISE, SKIP))


def ask(tx: Transaction, row: Row[Any], title: str, text: str, options: tuple[str, ...]) -> Row[Any]:
    """A person decides what is to become of a task; a card of its own says so."""
    id = raise_card(tx, row, title, text, options)
    if row.state == TaskState.PARTIAL_COMPLETION:
        return store.change_task(tx, row, escalation_id=id)
    return store.move_task(tx, row, "held", WaitingFor.DECISION, escalation_id=id, reason=one_line(text, _LONGEST))


def raise_card(
    tx: Transaction, row: Row[Any], title: str, text: str, options: tuple[str, ...], session_id: str | None = None
) -> str:
    """Of the task's session, unless another is said: what is asked of that one keeps it from being given up."""
    run = store.get_run(tx.connection, row.run_id)
    id = raise_escalation(
        tx,
        KIND,
        f"{text}\n\nTask {row.id} of {row.run_id}: {row.goal}",
        session_id=session_id or row.session_id or row.run_id,
        title=title,
        options=options,
        agent_type=store.options_of(row).agent or run.agent,
        bead_id=run.epic_id,
        origin=run.origin,
    )
    bus.post(tx, row.run_id, COORDINATOR, "blocker", title, {"task_id": row.id, "escalation_id": id})
    return id


def settle_card(tx: Transaction, row: Row[Any], action: str, words: str) -> None:
    """What a person was asked to decide of a task and decided by a command: it is an answer like one on the card."""
    card = None if row.escalation_id is None else lock_escalation(tx, row.escalation_id)
    if card is not None and not card.resolved and action in options_of(card):
        said = storable(words).strip() or action
        settle(tx, card, "resolved", Reply("answered", said, "operator", action=action, who=tx.actor))


def withdraw_card(tx: Transaction, row: Row[Any], why: str) -> None:
    """What a person was asked for a task, and need not answer any more."""
    if row.escalation_id is None:
        return
    card = lock_escalation(tx, row.escalation_id)
    if not card.resolved:
        settle(tx, card, "withdrawn", Reply("withdrawn", why, "session"))
