"""A manager's mutation_authority, taken back by a person and given again: stored, and in effect at once.

Who applies by authority holds the persona's row until its transaction ends: of a use and a revocation at one moment one
is the first, and after a revocation that was acknowledged there is no use. Each change is an entry of the audit log
and an event. Called by the surfaces, and by `acting`.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from sqlalchemy import BigInteger, Column, Connection, Row, Table, Text, select, update

from gemba import clock
from gemba.action import Action
from gemba.errors import Conflict
from gemba.event import Draft
from gemba.handoff import audit
from gemba.personas.file import Personas
from gemba.store.database import Transaction
from gemba.store.schema import metadata
from gemba.text import storable

authority = Table(
    "persona_authority",
    metadata,
    Column("persona_id", Text, primary_key=True),
    Column("revoked_at", BigInteger),
    Column("revoked_by", Text),
    Column("reason", Text, nullable=False),
    Column("changed_at", BigInteger, nullable=False),
)


class ChangeAuthority(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whether a manager's authority is taken back; and why, for the record."""

    revoked: bool
    reason: Annotated[str, msgspec.Meta(max_length=2_000)] = ""


class PersonaAuthority(msgspec.Struct, frozen=True):
    """Whether a persona may use what its mutation_authority lists; since when it may not, who took it back and why."""

    persona_id: str
    revoked: bool
    revoked_at: str | None
    revoked_by: str | None
    reason: str


def change_authority(tx: Transaction, body: ChangeAuthority, *, id: str) -> PersonaAuthority:
    personas: Personas = tx.surroundings["personas"]
    persona = personas.find(id)
    if persona.mutation_authority is None and body.revoked:
        told = f"{persona.name} has no mutation_authority: there is nothing to take back"
        raise Conflict(told, code="no_authority", found=id)
    row = locked(tx, id)
    if (row.revoked_at is not None) == body.revoked:
        return _view(row)
    values = {
        "revoked_at": tx.now if body.revoked else None,
        "revoked_by": tx.actor if body.revoked else None,
        "reason": storable(body.reason).strip(),
        "changed_at": tx.now,
    }
    tx.connection.execute(update(authority).where(authority.c.persona_id == id).values(values))
    said = {"persona_id": id, "reason": values["reason"], "by": tx.actor}
    event = Draft("authority.revoked", said, ref=id) if body.revoked else Draft("authority.restored", said, ref=id)
    audit.record(tx, event.name, id, said)
    tx.emit(event)
    return _view(locked(tx, id))


def locked(tx: Transaction, persona_id: str) -> Row[Any]:
    """The persona's row, which is nobody else's until the transaction ends."""
    new = {"persona_id": persona_id, "revoked_at": None, "revoked_by": None, "reason": "", "changed_at": tx.now}
    tx.insert_new(authority, [new], "persona_id")
    query = select(authority).where(authority.c.persona_id == persona_id).with_for_update()
    return tx.connection.execute(query).one()


def read(connection: Connection, persona_id: str) -> PersonaAuthority:
    row = connection.execute(select(authority).where(authority.c.persona_id == persona_id)).first()
    return PersonaAuthority(persona_id, False, None, None, "") if row is None else _view(row)


def _view(row: Row[Any]) -> PersonaAuthority:
    at = clock.told(row.revoked_at)
    return PersonaAuthority(row.persona_id, row.revoked_at is not None, at, row.revoked_by, row.reason)


ACTIONS = (
    Action(
        "/api/personas/{id}/authority",
        change_authority,
        ChangeAuthority,
        PersonaAuthority,
        "Take a manager's mutation_authority back, or give it again",
    ),
)
