"""A line that a person applied is taken back: its effect is undone, and it can be applied again.

Both in one transaction, with the event and the audit entry. An item that was changed gets back what it had, unless
somebody changed it since; one that was made is cancelled, since nothing that was made is unmade. What a manager applied
by itself is its consult's business: such a change is undone at the item. Called through `gemba.actions`.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from sqlalchemy import Row, delete, select

from gemba import typed
from gemba.action import Action, Nothing
from gemba.errors import Conflict, NotFound
from gemba.event import Draft
from gemba.handoff import audit
from gemba.personas import consults
from gemba.personas.acting import PERSONA
from gemba.personas.consult import ConsultOutcome, LineTakenBack
from gemba.skills.consult.suggested import SuggestedAction
from gemba.store.database import Transaction
from gemba.work.item import Cause
from gemba.work.undoing import take_back

_REASON = "its consult's line was taken back"
_ITEM = re.compile(r"/api/work-items(?:/[^/]+)?")


def take_back_line(tx: Transaction, _body: Nothing, *, id: str, idx: str) -> LineTakenBack:
    row = consults.get_locked(tx, id)
    mark = _mark(tx, id, idx)
    action = typed.convert(typed.decode(row.lines, list[dict[str, Any]])[mark.idx]["suggested_action"], SuggestedAction)
    _undo(tx, id, action, typed.decode(mark.outcome, ConsultOutcome))
    tx.connection.execute(delete(consults.applied).where(consults.applied.c.id == mark.id))
    consults.change(tx, row, unrecorded=row.ended_at is not None)
    told = {"idx": mark.idx, "action": msgspec.to_builtins(action), "by": tx.actor}
    tx.emit(Draft("consult.unapplied", told, ref=id))
    audit.record(tx, "consult.unapplied", id, told)
    return LineTakenBack(id, mark.idx, consults.applied_places(tx.connection, id))


def _mark(tx: Transaction, id: str, idx: str) -> Row[Any]:
    mark = tx.connection.execute(select(consults.applied).where(consults.applied.c.id == f"{id}/{idx[:20]}")).first()
    if mark is None:
        known = consults.applied_places(tx.connection, id)
        allowed = ", ".join(map(str, known)) or "none"
        told = f"line {idx[:20]} is not applied; applied are: {allowed}"
        raise NotFound(told, code="not_applied", found=idx[:20], allowed=known)
    if mark.by.startswith(PERSONA):
        told = f"{mark.by} applied line {mark.idx} by itself; undo the change at its item"
        raise Conflict(told, code="applied_by_itself", found=mark.by)
    return mark


def _undo(tx: Transaction, consult_id: str, action: SuggestedAction, outcome: ConsultOutcome) -> None:
    if not outcome.executed:
        return  # it was done by hand, and is undone so
    if not _ITEM.fullmatch(action.path):
        told = f"{action.verb} {action.path} cannot be taken back"
        raise Conflict(told, code="cannot_be_taken_back", found=action.path, allowed="a change of a work item")
    item, number, cause = outcome.answer["id"], outcome.answer["changes"], Cause("consult", consult_id)
    take_back(tx, item, number, cause, made=action.verb == "POST", reason=_REASON)


ACTIONS = (
    Action(
        "/api/consults/{id}/take-back/{idx}",
        take_back_line,
        Nothing,
        LineTakenBack,
        "Undo what an applied line did; it can be applied again",
    ),
)
