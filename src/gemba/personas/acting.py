"""What a manager persona applies by itself: lines of its own consult, each only as its mutation_authority lists.

Wanted with the end of the consult, and done line by line, each in a transaction of its own in which the authority is
asked anew: verb and path, phase, how many it has applied, what the consult cost, whether a person took it back. A use
is confirmed by that rule, made in the persona's name with the consult as its cause, and stands in the audit log with
the rule. What is not allowed stays for a person to apply, with the reasons in the audit log. A line is applied once,
whoever does it, so that a step may run again after a crash.
"""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import Connection, Row, func, select

from gemba import typed
from gemba.errors import GembaError
from gemba.event import Draft
from gemba.handoff import audit
from gemba.personas import applying, consults, phases, reservations, revoking
from gemba.personas.authority import Ruling, Use, may_apply
from gemba.personas.consult import ApplyLine, ConsultStatus
from gemba.personas.file import Personas
from gemba.personas.persona import Persona
from gemba.skills.consult.suggested import SuggestedAction
from gemba.store import rows
from gemba.store.database import Transaction

PERSONA = "persona:"  # before its id, in whose name it applies


def actor_of(persona: Persona) -> str:
    return f"{PERSONA}{persona.id}"


def lines_to_apply(connection: Connection, id: str) -> list[int]:
    """The places of a consult's lines that have an action."""
    row = consults.find(connection, id)
    lines = [] if row is None else typed.decode(row.lines, list[dict[str, Any]])
    return [place for place, line in enumerate(lines) if line.get("suggested_action") is not None]


def apply_own_line(tx: Transaction, id: str, place: int) -> bool:
    """Apply one line in the persona's name if it may; whether it did."""
    row = consults.get_locked(tx, id)
    personas: Personas = tx.surroundings["personas"]
    persona = personas.by_id.get(row.persona_id)
    if persona is None or row.status != ConsultStatus.COMPLETED or _is_applied(tx.connection, id, place):
        return False
    line = typed.decode(row.lines, list[dict[str, Any]])[place]
    action = typed.convert(line["suggested_action"], SuggestedAction)
    ruling = may_apply(persona, _use(tx, row, persona, action))
    told = {
        "persona_id": persona.id,
        "consult_id": id,
        "idx": place,
        "action": msgspec.to_builtins(action),
        "reasons": list(ruling.reasons),
    }
    actor, tx.actor = tx.actor, actor_of(persona)
    try:
        if ruling.allowed:
            ruling = _applied(tx, id, place, ruling)
            told["reasons"] = list(ruling.reasons)
        event = Draft("authority.used", told, ref=id) if ruling.allowed else Draft("authority.refused", told, ref=id)
        audit.record(tx, event.name, id, told)
        tx.emit(event)
    finally:
        tx.actor = actor
    return ruling.allowed


def _applied(tx: Transaction, id: str, place: int, ruling: Ruling) -> Ruling:
    """What its own route refuses is left to a person, too."""
    try:
        with tx.part():
            applying.apply_line(tx, ApplyLine(), id=id, idx=str(place))
    except GembaError as error:
        return Ruling(False, (*ruling.reasons, error.message))
    return ruling


def _use(tx: Transaction, row: Row[Any], persona: Persona, action: SuggestedAction) -> Use:
    own = (consults.applied.c.consult_id == row.id, consults.applied.c.by == actor_of(persona))
    so_far = tx.connection.execute(select(func.count()).select_from(consults.applied).where(*own)).scalar_one()
    reserved = rows.find(tx.connection, reservations.reservations, row.id)
    # A cost that nobody told is charged as the cap.
    spent = (reserved.settled_micros if reserved is not None else row.cost_micros) or 0
    return Use(
        action.verb,
        action.path,
        phases.current(tx.connection),
        so_far,
        spent,
        revoked=revoking.locked(tx, persona.id).revoked_at is not None,
    )


def _is_applied(connection: Connection, id: str, place: int) -> bool:
    return place in consults.applied_places(connection, id)
