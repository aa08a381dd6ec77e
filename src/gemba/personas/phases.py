"""The phase that the project is in: one row, one phase at a time, and the verb that changes it.

Of two who change it at once the second finds what the first made of it. A change is the row, an entry of the audit log
and an event, together; the same phase again is no change. Called by the surfaces, and read wherever a purview or an
authority is judged.
"""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import BigInteger, CheckConstraint, Column, Connection, Integer, Row, Table, Text, select, update

from gemba import clock
from gemba.action import Action
from gemba.errors import Conflict
from gemba.event import Draft
from gemba.handoff import audit
from gemba.personas.persona import Phase
from gemba.store.database import Transaction
from gemba.store.schema import metadata

project_phase = Table(
    "project_phase",
    metadata,
    Column("id", Integer, CheckConstraint("id = 1"), primary_key=True, autoincrement=False),
    Column("phase", Text, nullable=False),
    Column("changed_at", BigInteger),
    Column("changed_by", Text),
)

MEANINGS = {
    Phase.IDEATION: "what it shall be is open",
    Phase.DESIGN: "how it shall be made is decided",
    Phase.BUILDING: "it is made",
    Phase.VALIDATING: "it is tried whether it does what it shall",
    Phase.SHIPPING: "it goes to those who use it",
    Phase.COMMERCIALIZATION: "it is sold, and kept alive",
}


class ProjectPhase(msgspec.Struct, frozen=True):
    """Where the project is, and since when; nobody changed it yet where there is no time."""

    phase: Phase
    changed_at: str | None
    changed_by: str | None


class ChangePhase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The phase that the project is in from now on; with `expected` only if it is in that one until now."""

    phase: Phase
    expected: Phase | None = None


def current(connection: Connection) -> Phase:
    return Phase(connection.execute(select(project_phase.c.phase)).scalar_one())


def read(connection: Connection) -> ProjectPhase:
    return _view(connection.execute(select(project_phase)).one())


def change_phase(tx: Transaction, body: ChangePhase) -> ProjectPhase:
    row = tx.connection.execute(select(project_phase).with_for_update()).one()
    before = Phase(row.phase)
    if body.expected is not None and body.expected != before:
        raise Conflict(
            f"the phase is {before}, not {body.expected}",
            code="changed_meanwhile",
            pointer="/expected",
            found=str(before),
            allowed=str(before),
        )
    if body.phase == before:
        return _view(row)
    moved = update(project_phase).where(project_phase.c.phase == before)
    tx.connection.execute(moved.values(phase=body.phase, changed_at=tx.now, changed_by=tx.actor))
    told = {"from": before, "to": body.phase, "by": tx.actor}
    audit.record(tx, "phase.changed", body.phase, told)
    tx.emit(Draft("phase.changed", told, ref=body.phase))
    return read(tx.connection)


def _view(row: Row[Any]) -> ProjectPhase:
    changed_at = clock.told(row.changed_at)
    return ProjectPhase(Phase(row.phase), changed_at, row.changed_by)


ACTIONS = (
    Action(
        "/api/project/phase",
        change_phase,
        ChangePhase,
        ProjectPhase,
        "Say which phase the project is in",
        method="PATCH",
    ),
)
