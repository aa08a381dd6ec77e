"""Applying a line of a consult: its action carried out, as the operator who says so, and recorded with its effect.

The action is one row of the table that the API mounts, run in this very transaction: effect, outcome, event and audit
entry commit together or not at all, so that nothing is applied twice and nothing is applied unrecorded. A line is
applied once: the row of its place is unique. What its own route refuses leaves the line unapplied, to be tried again,
and an entry of the audit log. The allow-list of the skill is asked here once more.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from sqlalchemy import Row

from gemba import typed
from gemba.action import Action
from gemba.errors import Conflict, GembaError, NotFound
from gemba.event import Draft
from gemba.fit import fit
from gemba.handoff import audit
from gemba.personas import consults
from gemba.personas.consult import (
    APPLICABLE,
    ApplyLine,
    ApplyQuery,
    ConsultOutcome,
    ConsultStatus,
    LineApplied,
    NotAllowed,
    NotApplicable,
    refused_by,
)
from gemba.personas.consulting import applicable_since
from gemba.skills.consult.registry import SKILLS
from gemba.skills.consult.suggested import SuggestedAction, item_path, refusal
from gemba.store.database import Transaction
from gemba.work.item import Cause

_MOST_NAMED = 20  # lines, in a refusal


def apply_line(tx: Transaction, body: ApplyLine, *, id: str, idx: str) -> LineApplied:
    row = consults.get_locked(tx, id)
    _check_applicable(tx, row)
    lines: list[dict[str, Any]] = msgspec.json.decode(row.lines)
    place = _place(idx, len(lines))
    line = lines[place]
    action = _action_of(lines, place)
    # First the place: of two that apply it at once the second waits here, and finds it taken.
    mark = {"id": f"{id}/{place}", "consult_id": id, "idx": place, "at": tx.now, "by": tx.actor, "outcome": ""}
    if not tx.insert_new(consults.applied, [mark], "id"):
        raise Conflict(f"line {place} is applied already", code="already_applied", pointer="/idx", found=place)
    _check_allowed(row, line, action)
    outcome = ConsultOutcome(False) if body.record_only else _carried_out(tx, row, place, action)
    done = {"outcome": consults.as_json(outcome)}
    tx.connection.execute(consults.applied.update().where(consults.applied.c.id == mark["id"]).values(done))
    consults.change(tx, row, unrecorded=row.ended_at is not None)
    told = {"idx": place, "action": msgspec.to_builtins(action), "executed": outcome.executed, "by": tx.actor}
    if row.walk_id is not None:
        told["walk_id"] = row.walk_id
    tx.emit(Draft("consult.applied", told, ref=id))
    audit.record(tx, "consult.applied", id, {**told, "outcome": msgspec.to_builtins(outcome)})
    return LineApplied(id, place, line, consults.applied_places(tx.connection, id), outcome)


def _check_applicable(tx: Transaction, row: Row[Any]) -> None:
    status = ConsultStatus(row.status)
    over = status is ConsultStatus.COMPLETED and row.ended_at < applicable_since(tx, tx.now)
    if status not in APPLICABLE or over:
        word = "closed" if over else status
        allowed = ", ".join(sorted(APPLICABLE))
        raise NotFound(
            f"the consult {row.id} is {word}: nothing of it can be applied",
            code="not_found",
            found=word,
            allowed=allowed,
        )


def _place(idx: str, many: int) -> int:
    if idx.isascii() and idx.isdecimal() and len(idx) < 10 and int(idx) < many:
        return int(idx)
    allowed = f"0 to {many - 1}" if many else "none: it has no lines yet"
    raise NotFound(
        f"there is no line {idx[:20]}; allowed: {allowed}", code="not_found", found=idx[:20], allowed=allowed
    )


def _action_of(lines: list[dict[str, Any]], place: int) -> SuggestedAction:
    line = lines[place]
    if line.get("suggested_action") is None:
        have = [str(at) for at, each in enumerate(lines) if each.get("suggested_action") is not None]
        allowed = ", ".join(have[:_MOST_NAMED]) + (" …" if len(have) > _MOST_NAMED else "") if have else "none has one"
        told = f"line {place} is a {line['type']}, which has no action; lines that have one: {allowed}"
        raise NotApplicable(told, code="line_not_applicable", pointer="/idx", found=line["type"])
    return typed.convert(line["suggested_action"], SuggestedAction)


def _check_allowed(row: Row[Any], line: dict[str, Any], action: SuggestedAction) -> None:
    skill = SKILLS[row.skill_id]
    reason = refusal(action, skill.allowed, consults.given_of(row))
    own = line.get("epic_id")
    if reason is None and own is not None and action.verb == "PATCH" and action.path != item_path(own):
        reason = f"the line is about {own}, and its action about another item"
    if reason is not None:
        raise NotAllowed(reason, code="action_not_allowed", found=f"{action.verb} {action.path}"[:200])


def _carried_out(tx: Transaction, row: Row[Any], place: int, suggested: SuggestedAction) -> ConsultOutcome:
    tx.cause = Cause("consult", row.id)
    try:
        return run_action(tx, suggested)
    except GembaError as error:
        told = {"idx": place, "action": msgspec.to_builtins(suggested), "by": tx.actor, "error": error.message}
        refused = refused_by(error, f"{suggested.verb} {suggested.path}")
        tx.refuse(refused, lambda later: audit.record(later, "consult.apply_refused", row.id, told))


def run_action(tx: Transaction, suggested: SuggestedAction) -> ConsultOutcome:
    """Carry out a request in this transaction, by the row of the API that it is for; raises what that one refuses."""
    action, ids = _route(tx.surroundings["actions"], suggested)
    body = action.prepared(tx.surroundings, fit(suggested.body, action.body), **ids)
    return ConsultOutcome(True, action.status, msgspec.to_builtins(action.verb(tx, body, **ids)))


def _route(actions: Iterable[Action], suggested: SuggestedAction) -> tuple[Action, dict[str, str]]:
    for action in actions:
        if action.method == suggested.verb and (ids := action.ids_in(suggested.path)) is not None:
            return action, ids
    raise NotFound(f"there is nothing at {suggested.verb} {suggested.path}", code="not_found", found=suggested.path)


ACTIONS = (
    Action(
        "/api/consults/{id}/apply/{idx}",
        apply_line,
        ApplyLine,
        LineApplied,
        "Carry out what a line suggests, once",
        in_query=ApplyQuery,
    ),
)
