"""What personas may still spend: reserved before a run is started, settled after it, released when it never ran.

One row a persona and day has both sums, and a reservation is one `UPDATE … WHERE` the sum stays within the day's cap:
however many ask at once, on either database, together they never pass it. A reservation is known by its consult's id:
to reserve, settle or release it again changes nothing. It is charged to the day on which it was made.
Called by whoever runs consults, each verb within one transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import msgspec
from sqlalchemy import BigInteger, Boolean, Column, Connection, Index, Row, Table, Text, select, update

from gemba.errors import Conflict
from gemba.personas.budget import Usage, cap_of, charge_of, day_of, refusal
from gemba.personas.persona import MICROS, Persona, micros
from gemba.store import rows
from gemba.store.database import Transaction
from gemba.store.schema import metadata
from gemba.text import storable

RESERVED, SETTLED, RELEASED = "reserved", "settled", "released"

persona_days = Table(
    "persona_days",
    metadata,
    Column("persona_id", Text, primary_key=True),
    Column("day", BigInteger, primary_key=True, autoincrement=False),
    Column("reserved_micros", BigInteger, nullable=False),
    Column("settled_micros", BigInteger, nullable=False),
)

reservations = Table(
    "persona_reservations",
    metadata,
    Column("id", Text, primary_key=True),  # the consult's
    Column("state", Text, nullable=False),
    Column("persona_id", Text, nullable=False),
    Column("day", BigInteger, nullable=False),
    Column("cap_micros", BigInteger, nullable=False),
    Column("settled_micros", BigInteger),
    Column("cost_known", Boolean),  # its client said what it cost
    Column("model", Text),
    Column("tokens_in", BigInteger),
    Column("tokens_out", BigInteger),
    Column("created_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger),
    Index("persona_reservations_by_state", "state", "created_at", "id"),
)


class Spending(msgspec.Struct, frozen=True):
    """What a persona spends today, in dollars."""

    settled_dollars: float
    reserved_dollars: float
    left_dollars: float
    day_dollars: float


def reserve(tx: Transaction, persona: Persona, id: str, max_dollars: float | None = None) -> int:
    """Put the call's cap aside, in micro-dollars; a Conflict with what is left when the day has no room for it."""
    known = rows.find(tx.connection, reservations, id)
    if known is not None:
        return _again(known, persona)
    cap, day = cap_of(persona.budget_policy, max_dollars), day_of(tx.now)
    if cap <= 0 or micros(persona.budget_policy.max_per_day_dollars) <= 0:
        raise refusal(persona, cap, taken(tx.connection, persona.id, day))
    # Adding nothing makes the row, or waits for whoever has it at this moment.
    tx.add(persona_days, [_day(persona.id, day, 0, 0)])
    # Of two that reserve under one id the second waits above, and finds here that it is reserved.
    known = rows.find(tx.connection, reservations, id)
    if known is not None:
        return _again(known, persona)
    sums, most = persona_days.c, micros(persona.budget_policy.max_per_day_dollars)
    fits = sums.settled_micros + sums.reserved_micros + cap <= most
    taking = update(persona_days).where(sums.persona_id == persona.id, sums.day == day, fits)
    if tx.connection.execute(taking.values(reserved_micros=sums.reserved_micros + cap)).rowcount != 1:
        raise refusal(persona, cap, taken(tx.connection, persona.id, day))
    row = {"id": id, "state": RESERVED, "persona_id": persona.id, "day": day, "cap_micros": cap, "created_at": tx.now}
    tx.connection.execute(reservations.insert(), row)
    return cap


def settle(tx: Transaction, id: str, used: Usage) -> int:
    """Charge what a run cost, and give the rest of its reservation back; what was charged, in micro-dollars."""
    row = rows.get_locked(tx, reservations, id, "reservation")
    if row.state != RESERVED:
        return row.settled_micros or 0
    charged = charge_of(row.cap_micros, used)
    told = {
        "settled_micros": charged,
        "cost_known": used.cost_micros is not None,
        "model": None if used.model is None else storable(used.model)[:200],
        "tokens_in": used.tokens_in,
        "tokens_out": used.tokens_out,
    }
    _end(tx, row, SETTLED, charged, told)
    return charged


def settle_again(tx: Transaction, id: str, used: Usage) -> int:
    """What a run that was settled took, as it was told later: its day is charged the difference."""
    row = tx.connection.execute(select(reservations).where(reservations.c.id == id).with_for_update()).first()
    if row is None or row.state != SETTLED:
        return 0
    charged = charge_of(row.cap_micros, used)
    told = {
        "settled_micros": charged,
        "cost_known": used.cost_micros is not None,
        "tokens_in": used.tokens_in,
        "tokens_out": used.tokens_out,
    }
    tx.connection.execute(update(reservations).where(reservations.c.id == id).values(told))
    tx.add(persona_days, [_day(row.persona_id, row.day, 0, charged - (row.settled_micros or 0))])
    return charged


def release(tx: Transaction, id: str) -> bool:
    """Give a reservation back whole: nothing ran. Whether there was one to give back."""
    row = tx.connection.execute(select(reservations).where(reservations.c.id == id).with_for_update()).first()
    if row is None or row.state != RESERVED:
        return False
    _end(tx, row, RELEASED, 0, {})
    return True


def release_dead(tx: Transaction, living: Collection[str], before: int) -> list[str]:
    """Give back what was reserved before a moment for consults that do not live any more; their ids."""
    waiting = (reservations.c.state == RESERVED, reservations.c.created_at < before)
    query = select(reservations).where(*waiting).order_by(reservations.c.id).with_for_update()
    dead = [row for row in tx.connection.execute(query) if row.id not in living]
    for row in dead:
        _end(tx, row, RELEASED, 0, {})
    return [row.id for row in dead]


def taken(connection: Connection, persona_id: str, day: int) -> int:
    """What is settled and reserved of a persona's day."""
    return sum(_sums(connection, persona_id, day))


def spending(connection: Connection, personas: Iterable[Persona], now: int) -> dict[str, Spending]:
    """Today, by persona."""
    of_today = select(persona_days).where(persona_days.c.day == day_of(now))
    chosen = list(personas)
    names = persona_days.c.persona_id.in_([persona.id for persona in chosen])
    found = {row.persona_id: row for row in connection.execute(of_today.where(names))}
    return {persona.id: _spending(persona, found.get(persona.id)) for persona in chosen}


def _spending(persona: Persona, row: Row[Any] | None) -> Spending:
    settled, reserved = (0, 0) if row is None else (row.settled_micros, row.reserved_micros)
    most = micros(persona.budget_policy.max_per_day_dollars)
    left = max(0, most - settled - reserved)
    return Spending(settled / MICROS, reserved / MICROS, left / MICROS, most / MICROS)


def _again(row: Row[Any], persona: Persona) -> int:
    """The same call once more: what was reserved for it, as long as it waits."""
    if row.state != RESERVED or row.persona_id != persona.id:
        said = f"{row.id} has a reservation of {row.persona_id} that is {row.state}"
        raise Conflict(said, code="already_reserved", found=row.state, allowed=RESERVED)
    cap: int = row.cap_micros
    return cap


def _end(tx: Transaction, row: Row[Any], state: str, charged: int, told: dict[str, Any]) -> None:
    """The row was read to be changed: nobody else has ended it meanwhile."""
    moved = update(reservations).where(reservations.c.id == row.id, reservations.c.state == RESERVED)
    if tx.connection.execute(moved.values(state=state, ended_at=tx.now, **told)).rowcount == 1:
        tx.add(persona_days, [_day(row.persona_id, row.day, -row.cap_micros, charged)])


def _day(persona_id: str, day: int, reserved: int, settled: int) -> dict[str, Any]:
    return {"persona_id": persona_id, "day": day, "reserved_micros": reserved, "settled_micros": settled}


def _sums(connection: Connection, persona_id: str, day: int) -> tuple[int, int]:
    sums = persona_days.c
    query = select(sums.settled_micros, sums.reserved_micros).where(sums.persona_id == persona_id, sums.day == day)
    row = connection.execute(query).first()
    return (0, 0) if row is None else (row.settled_micros, row.reserved_micros)
