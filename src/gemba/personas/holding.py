"""Changes of work that a purview holds: the guard that stops them, and the card on which a person lets them go.

The guard runs inside the transaction of the change. What a blocking purview holds is refused, and the refusal leaves a
`purview_violation` behind that names the persona and its reasons: one for each persona, item and state, however often
and at once it is tried. Whoever answers it says that it is fixed, or overrides it with a justification; the audit log
keeps either. Then the change is made by doing it again: that is let through once. A strong purview asks in the same way
and holds nothing; an advisory one is told as an event. A hold whose reason is gone is taken back when the change is
made. The guard is given to work by `app`, the card's actions to escalations.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from enum import StrEnum
from functools import partial
from typing import Any, Final, Protocol
from uuid import UUID

import msgspec
from sqlalchemy import BigInteger, Column, Connection, Index, Row, Table, Text, select, update

from gemba import clock, typed
from gemba.errors import Conflict, Invalid
from gemba.escalations.cards import Card
from gemba.escalations.escalation import Reply
from gemba.escalations.raised import raise_escalation
from gemba.escalations.store import escalations, find, locked
from gemba.escalations.store import settle as settle_card
from gemba.event import Draft
from gemba.handoff import audit
from gemba.machine import Machine
from gemba.personas import phases
from gemba.personas.file import Personas
from gemba.personas.persona import Authority, Phase
from gemba.personas.purview import Change, Concern, judge
from gemba.store.database import Transaction
from gemba.store.schema import metadata

KIND: Final = "purview_violation"
RAISER: Final = "gemba"  # who such a card is from, in the place of a session
FIXED, OVERRIDE = "fixed", "override"


class HoldState(StrEnum):
    HELD = "held"  # the card waits for a person
    FIXED = "fixed"  # a person says that the reason is gone: the change may be made, once
    OVERRIDDEN = "overridden"  # a person lets it go all the same, and said why: the change may be made, once
    USED = "used"  # the change was made
    LAPSED = "lapsed"  # nothing holds it any more, or its card ended without an answer


S = HoldState
MACHINE = Machine(
    "the hold",
    {
        (S.HELD, "fixed"): S.FIXED,
        (S.HELD, "overridden"): S.OVERRIDDEN,
        (S.FIXED, "used"): S.USED,
        (S.OVERRIDDEN, "used"): S.USED,
        **{(state, "lapsed"): S.LAPSED for state in (S.HELD, S.FIXED, S.OVERRIDDEN)},
    },
)
_IN_FORCE = (S.HELD, S.FIXED, S.OVERRIDDEN)

holds = Table(
    "purview_holds",
    metadata,
    Column("id", Text, primary_key=True),  # that of its card
    Column("state", Text, nullable=False),
    Column("item_id", Text, nullable=False),
    Column("from_state", Text, nullable=False),
    Column("to_state", Text, nullable=False),
    Column("persona_id", Text, nullable=False),
    Column("domain", Text, nullable=False),
    Column("authority", Text, nullable=False),
    Column("phase", Text, nullable=False),
    Column("reasons", Text, nullable=False),  # sentences, as JSON
    Column("asked_by", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("decided_at", BigInteger),
    Column("decided_by", Text),
    Column("justification", Text),
    Index("purview_holds_by_item", "item_id", "to_state", "persona_id"),
    Index("purview_holds_by_age", "created_at", "id"),
)


class Hold(msgspec.Struct, frozen=True):
    """A change that a purview holds or held, or asked about. `id` is that of its escalation."""

    id: str
    state: HoldState
    item_id: str
    from_state: str
    to_state: str
    persona_id: str
    domain: str
    authority: Authority
    phase: Phase
    reasons: list[str]
    asked_by: str
    created_at: str
    decided_at: str | None
    decided_by: str | None
    justification: str | None


class Item(Protocol):
    """What the guard needs to know of a work item, as work shows one."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def labels(self) -> Sequence[str]: ...
    @property
    def concepts(self) -> Sequence[str]: ...
    @property
    def targets(self) -> Sequence[str]: ...
    @property
    def repository(self) -> str | None: ...


# ---- the guard -------------------------------------------------------------------------------------------------------


def guard(tx: Transaction, change: Change, title: str = "") -> None:
    """Let a change of state pass, or raise a Conflict that names what holds it and the cards to answer."""
    personas: Personas = tx.surroundings["personas"]
    phase = phases.current(tx.connection)
    verdict = judge(change, phase, personas.by_id.values())
    known = _of_change(tx.connection, change)
    concerns = {concern.persona_id: concern for concern in verdict.concerns}
    in_force = {row.persona_id: row for row in known if _is_in_force(tx.connection, row)}
    blocking = verdict.of(Authority.BLOCKING)
    held = [each for each in blocking if _state(in_force.get(each.persona_id)) not in (S.FIXED, S.OVERRIDDEN)]
    if held:
        asked = [(each, _id(known, change, each, in_force)) for each in held]
        new = [(each, id) for each, id in asked if each.persona_id not in in_force]
        tx.refuse(_refusal(change, asked), partial(_ask, change=change, title=title, phase=phase, asked=new))
    strong = [each for each in verdict.of(Authority.STRONG) if each.persona_id not in in_force]
    _ask(tx, change, title, phase, [(each, _id(known, change, each, in_force)) for each in strong])
    for concern in verdict.of(Authority.ADVISORY):
        told = {"persona_id": concern.persona_id, "domain": concern.domain, "reasons": list(concern.reasons)}
        tx.emit(Draft("purview.advised", {**told, "to_state": change.to_state}, ref=change.item_id))
    for persona_id, row in in_force.items():
        if _state(row) is not S.HELD:
            _move(tx, row, "used")
        elif persona_id not in concerns:
            _lapse(tx, row)


def guard_item(tx: Transaction, item: Item, target: str) -> None:
    """The guard as work calls it, before an item's state changes."""
    tags = {"labels": item.labels, "concepts": item.concepts, "targets": item.targets}
    guard(tx, Change(item.id, item.kind, item.state, target, repository=item.repository, **tags), item.title)


def _refusal(change: Change, asked: Sequence[tuple[Concern, str]]) -> Conflict:
    concern = asked[0][0]
    more = f" (and {len(asked) - 1} more)" if len(asked) > 1 else ""
    return Conflict(
        f"{change.item_id} cannot become {change.to_state} yet: {concern.reasons[0]}, and {concern.persona_name} "
        f"answers for that{more}; answer the purview_violation in the inbox, then do it again",
        code="purview_held",
        pointer="/state",
        found=change.to_state,
        escalations=[id for _, id in asked],
        purviews=[
            {"persona_id": each.persona_id, "domain": each.domain, "reasons": list(each.reasons)} for each, _ in asked
        ],
    )


def _ask(tx: Transaction, change: Change, title: str, phase: Phase, asked: Sequence[tuple[Concern, str]]) -> None:
    """Open the cards that are not there yet; of two that open one at once, one does."""
    rows = {id: _row(tx, id, change, phase, concern) for concern, id in asked}
    new = tx.insert_new(holds, list(rows.values()), "id")
    for concern, id in asked:
        if id in new:
            blocks = concern.authority is Authority.BLOCKING
            raise_escalation(
                tx,
                KIND,
                _words(change, title, concern),
                id=id,
                session_id=RAISER,
                agent_type=RAISER,
                title=f"{concern.persona_name}: {change.item_id} to {change.to_state}",
                options=(FIXED, OVERRIDE),
                urgency="blocking" if blocks else "advisory",
                bead_id=change.item_id,
                waiting=False,
            )
            told = {"item_id": change.item_id, "to_state": change.to_state, "persona_id": concern.persona_id}
            tx.emit(Draft("purview.held", {**told, "authority": concern.authority, "domain": concern.domain}, ref=id))


def _words(change: Change, title: str, concern: Concern) -> str:
    about = f"{change.item_id} ({title})" if title else change.item_id
    end = (
        f"It stays {change.from_state} until you say that it is fixed, or override this with a justification."
        if concern.authority is Authority.BLOCKING
        else "The change was made. Say that it is fixed, or override this with a justification."
    )
    because = "\n".join(f"- {reason}" for reason in concern.reasons)
    return f"{about} is to become {change.to_state}, which is {concern.persona_name}'s to judge:\n{because}\n\n{end}"


# ---- the card --------------------------------------------------------------------------------------------------------


def _judge_answer(reply: Reply) -> None:
    if reply.action == OVERRIDE and not reply.text:
        raise Invalid(
            "an override needs a justification, as its text",
            code="missing_field",
            pointer="/text",
            allowed="why the change is made all the same; the audit log keeps it",
        )


def carry_out(tx: Transaction, card: Row[Any], reply: Reply) -> None:
    """What a person chose on the card."""
    _judge_answer(reply)
    row = tx.connection.execute(select(holds).where(holds.c.id == card.id).with_for_update()).one()
    name = "overridden" if reply.action == OVERRIDE else "fixed"
    by = reply.who or tx.actor
    decided = {"decided_at": tx.now, "decided_by": by, "justification": reply.text or None}
    _move(tx, row, name, **decided)
    told = {
        "item_id": row.item_id,
        "from_state": row.from_state,
        "to_state": row.to_state,
        "persona_id": row.persona_id,
        "domain": row.domain,
        "authority": row.authority,
        "phase": row.phase,
        "reasons": msgspec.json.decode(row.reasons),
        "justification": reply.text,
        "confirmed_by": reply.confirmed_by,
    }
    audit.record(tx, f"purview.{name}", row.id, told, by)
    tx.emit(Draft("purview.released", {"how": name, "item_id": row.item_id, "by": by}, ref=row.id))


CARDS: Final = {KIND: Card(_judge_answer, carry_out)}


# ---- rows ------------------------------------------------------------------------------------------------------------


def list_held(connection: Connection, limit: int) -> list[Hold]:
    """What waits for a person, oldest first."""
    waiting = select(holds).join(escalations, escalations.c.id == holds.c.id)
    waiting = waiting.where(holds.c.state == S.HELD, ~escalations.c.resolved)
    return [view(row) for row in connection.execute(waiting.order_by(holds.c.created_at, holds.c.id).limit(limit))]


def view(row: Row[Any]) -> Hold:
    return Hold(
        id=row.id,
        state=HoldState(row.state),
        item_id=row.item_id,
        from_state=row.from_state,
        to_state=row.to_state,
        persona_id=row.persona_id,
        domain=row.domain,
        authority=Authority(row.authority),
        phase=Phase(row.phase),
        reasons=typed.decode(row.reasons, list[str]),
        asked_by=row.asked_by,
        created_at=clock.rfc3339(row.created_at),
        decided_at=clock.told(row.decided_at),
        decided_by=row.decided_by,
        justification=row.justification,
    )


def _of_change(connection: Connection, change: Change) -> Sequence[Row[Any]]:
    """Every hold of an item on its way to a state, oldest first."""
    query = select(holds).where(holds.c.item_id == change.item_id, holds.c.to_state == change.to_state)
    return connection.execute(query.order_by(holds.c.created_at, holds.c.id)).all()


def _is_in_force(connection: Connection, row: Row[Any]) -> bool:
    """A hold that waits is one as long as its card does: a card that ended without an answer is asked anew."""
    if row.state not in _IN_FORCE:
        return False
    card = find(connection, row.id)
    return row.state != S.HELD or (card is not None and not card.resolved)


def _state(row: Row[Any] | None) -> HoldState | None:
    return None if row is None else HoldState(row.state)


def _id(known: Sequence[Row[Any]], change: Change, concern: Concern, in_force: dict[str, Row[Any]]) -> str:
    """The id of a hold that is in force, or the next one: the same for all who ask at once, so that one is made."""
    if concern.persona_id in in_force:
        there: str = in_force[concern.persona_id].id
        return there
    number = sum(row.persona_id == concern.persona_id for row in known)
    parts = (change.item_id, change.to_state, concern.persona_id, str(number))
    return str(UUID(bytes=hashlib.sha256("\0".join(parts).encode()).digest()[:16], version=4))


def _row(tx: Transaction, id: str, change: Change, phase: Phase, concern: Concern) -> dict[str, Any]:
    return {
        "id": id,
        "state": S.HELD,
        "item_id": change.item_id,
        "from_state": change.from_state,
        "to_state": change.to_state,
        "persona_id": concern.persona_id,
        "domain": concern.domain,
        "authority": concern.authority,
        "phase": phase,
        "reasons": msgspec.json.encode(concern.reasons).decode(),
        "asked_by": tx.actor,
        "created_at": tx.now,
    }


def _move(tx: Transaction, row: Row[Any], event: str, **changes: Any) -> None:
    state = MACHINE.after(HoldState(row.state), event)
    moved = update(holds).where(holds.c.id == row.id, holds.c.state == row.state).values(state=state, **changes)
    if tx.connection.execute(moved).rowcount != 1:
        raise Conflict("the hold was changed meanwhile; look again", code="changed_meanwhile", found=row.state)


def _lapse(tx: Transaction, row: Row[Any]) -> None:
    _move(tx, row, "lapsed", decided_at=tx.now, decided_by=tx.actor)
    for card in locked(tx, escalations.c.id == row.id, ~escalations.c.resolved):
        settle_card(tx, card, "withdrawn", Reply("withdrawn", "no purview is concerned any more", "policy"))
