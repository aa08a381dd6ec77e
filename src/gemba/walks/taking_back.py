"""A decision of a walk is taken back, where its effect can be: in one transaction, and the item is on the table again.

An answer can be, as long as it is held back; an approval, as long as nobody has used it; a change of work, as long as
nobody changed the same since; a snooze, a hand-off, a memory and what was only noted, always. All else was done at
once: that is said in one sentence, and nothing changes. Called as an action.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec
from sqlalchemy import Row

from gemba.action import Action, Nothing
from gemba.errors import Conflict
from gemba.escalations import granting, verifier
from gemba.escalations.escalation import Channel, Delivery, State
from gemba.escalations.store import already, get_locked, move, unsettle
from gemba.handoff import audit
from gemba.handoff.remembering import reopen_memory
from gemba.personas import consults
from gemba.personas.consult import ConsultStatus
from gemba.personas.consulting import cancel_consult
from gemba.store.database import Transaction
from gemba.walks import store
from gemba.walks.deciding import spoken
from gemba.walks.walk import Decision, WalkAction, WalkDetail
from gemba.work.item import Cause
from gemba.work.undoing import take_back as take_back_work

_REASON = "the decision of a walk was taken back"
_ANSWER: Final = re.compile(r"/api/escalations/([^/]+)/(?:respond|dismiss)")
_SNOOZE: Final = re.compile(r"/api/escalations/([^/]+)/snooze")
_APPROVE: Final = re.compile(r"/api/approvals/[^/]+/approve")
_MEMORY: Final = re.compile(r"/api/memories/[^/]+/(?:accept|reject)")
_ITEM: Final = re.compile(r"/api/work-items(?:/[^/]+)?")
# What is said of the others: by the beginning of the path, the first that fits.
_DONE: Final = (
    ("/api/approvals/", "the agent was told which command to run instead"),
    ("/api/sessions", "the session was started; it can be stopped"),
    ("/api/teams/", "the team goes on from there"),
    ("", "it was done at once"),
)


def take_back(tx: Transaction, _body: Nothing, *, id: str, item: str) -> WalkDetail:
    walk = store.locked(tx, id)
    row = store.item(tx.connection, id, item)
    decision = store.decision_of(row)
    if decision is None:
        raise Conflict(
            f"nothing was decided of it: it is {row.status}", code="not_decided", found=row.status, allowed="decided"
        )
    _undo(tx, row, decision)
    active = store.on_the_table(tx.connection, id)
    if active is not None and active.id != item:
        store.move_item(tx, active, "put back")
    store.move_item(tx, row, "taken back", decision=None)
    store.say(tx, id, "operator", tx.actor, f"Taken back: {spoken(decision)}", item)
    told = {"item": item, "kind": decision.kind, "source": {"kind": row.kind, "ref": row.ref}}
    store.tell_of_walk(tx, "walk.taken_back", id, **told)
    audit.record(tx, "walk.taken_back", id, {**told, "topic": row.topic, "decision": msgspec.to_builtins(decision)})
    store.take_up(tx, walk, store.item(tx.connection, id, item))
    return store.detail(tx.connection, id, tx.now)


def _undo(tx: Transaction, row: Row[Any], decision: Decision) -> None:
    action = decision.action
    if decision.consult_id is not None:
        _stop_asking(tx, decision.consult_id)
    if action is None or decision.applied is None:
        return  # it was noted, and nothing else
    if found := _ANSWER.fullmatch(action.path):
        _undo_answer(tx, row, decision.applied.ref or found[1])
    elif found := _SNOOZE.fullmatch(action.path):
        _wake(tx, decision.applied.ref or found[1])
    elif _APPROVE.fullmatch(action.path):
        _undo_answer(tx, row, row.ref)
    elif _MEMORY.fullmatch(action.path):
        reopen_memory(tx, Nothing(), id=row.ref)
    elif _ITEM.fullmatch(action.path) and decision.applied.ref and decision.applied.change:
        made, cause = action.verb == "POST", Cause("walk", row.walk_id)
        take_back_work(tx, decision.applied.ref, decision.applied.change, cause, made=made, reason=_REASON)
    else:
        raise _done(action)


def _stop_asking(tx: Transaction, consult_id: str) -> None:
    """What was handed on is not answered any more; what came is kept."""
    if consults.get(tx.connection, consult_id).status == ConsultStatus.RUNNING:
        cancel_consult(tx, Nothing(), id=consult_id)


def _wake(tx: Transaction, id: str) -> None:
    row = get_locked(tx, id)
    if row.resolved:
        raise already(row)
    if row.state == State.SNOOZED:
        move(tx, row, "reopened", {"snoozed_until": None})


def _undo_answer(tx: Transaction, item: Row[Any], id: str) -> None:
    row = get_locked(tx, id)
    if not row.resolved:  # only proposed, or opened again already
        if verifier.is_proposed_by(row, tx.actor):
            verifier.reject(tx, row, _REASON)
        return
    if row.walk_id != item.walk_id:
        raise already(row)
    is_approved = row.kind == granting.KIND and row.decision == "yes"
    if is_approved:
        granting.take_back(tx, row)
    elif row.held_until is not None and row.held_until > tx.now and not row.late:
        unsettle(tx, row)
    else:
        raise _not(_why_not(row), row.state)


def _why_not(row: Row[Any]) -> str:
    if row.kind == granting.KIND:
        return "the agent was told that the command is refused"
    if row.channel == Channel.SYSTEM:
        return "what the card offers was done at once"
    if row.delivery == Delivery.DELIVERED:
        return "the agent has read the answer"
    if row.channel == Channel.HANDOFF or row.late:
        return "the agent's next turn has begun with the answer"
    return "the answer was sent, and the agent may have read it"


def _done(action: WalkAction) -> Conflict:
    why = next(words for start, words in _DONE if action.path.startswith(start))
    return _not(f"{action.label}: {why}", f"{action.verb} {action.path}"[:200])


def _not(why: str, found: str) -> Conflict:
    return Conflict(f"{why}, so it cannot be taken back", code="cannot_be_taken_back", found=found)


ACTIONS = (
    Action(
        "/api/walks/{id}/take-back/{item}",
        take_back,
        Nothing,
        WalkDetail,
        "Take a decision back, where its effect can be; the item is on the table again",
    ),
)
