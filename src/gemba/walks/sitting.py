"""A walk begins, goes from item to item, rests and ends; each a verb in one transaction.

What is on the table, what was said and how far it is are stored, so that a walk that was killed stands where it stood.
"""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import Row

from gemba import wire
from gemba.action import Action, Nothing
from gemba.config import Workspace
from gemba.errors import Conflict, GembaError
from gemba.handoff import audit
from gemba.personas import consulting
from gemba.personas.board import read_order_input
from gemba.personas.consult import ConsultSummary, NewConsult
from gemba.skills.consult import epic_order
from gemba.skills.consult.registry import find_skill
from gemba.store.database import Transaction
from gemba.text import storable
from gemba.walks import sources, store
from gemba.walks.synopsis import resumed, summary, synopsis
from gemba.walks.tables import walks
from gemba.walks.walk import (
    EndWalk,
    StartWalk,
    TakeTurn,
    WalkConsult,
    WalkDetail,
    WalkStatus,
)
from gemba.work.item import Cause

_ASK = "ask"
_ABOUT = ("ref", "escalation_id", "item_id", "epic_id")  # fields of inputs that name one thing
_DONE = "Nothing more is on the agenda. End the walk, or pull in what came meanwhile."


# ---- begin, rest, end ------------------------------------------------------------------------------------------------


def start_walk(tx: Transaction, body: StartWalk) -> WalkDetail:
    persona = tx.surroundings["personas"].find(body.persona_id)
    workspace, id = str(tx.surroundings["workspace"]), f"walk-{wire.new_event_id()[-12:]}"
    row = {
        "id": id,
        "status": WalkStatus.ACTIVE,
        "label": storable(body.label).strip(),
        "persona_id": persona.id,
        "origin": tx.surroundings["origin"],
        "workspace": storable(workspace),
        "started_by": tx.actor,
        "slot": store.slot(tx.actor, workspace),
        "started_at": tx.now,
        "changed_at": tx.now,
        "ended_at": None,
        "walked": 0,
        "walking_since": tx.now,
        "said": 0,
        "synopsis": None,
        "summary": None,
        "unrecorded": False,
    }
    if not tx.insert_new(walks, [row], "slot"):
        raise _open_already(tx, row["slot"])
    tx.cause = Cause("walk", id)
    walk = store.get(tx.connection, id)
    added = store.add(tx, id, sources.everything(tx.connection, workspace, tx.now))
    store.tell_of_walk(tx, "walk.started", id, label=row["label"], items=len(added))
    audit.record(tx, "walk.started", id, {"label": row["label"], "items": len(added)})
    if store.take_up_next(tx, walk) is None:
        store.say(tx, id, "manager", persona.id, "Nothing waits for you.")
    return store.detail(tx.connection, id, tx.now)


def _open_already(tx: Transaction, slot: str) -> Conflict:
    found = tx.connection.execute(walks.select().where(walks.c.slot == slot)).one()
    return Conflict(
        f"your walk {found.id} is {found.status}; allowed: go on with it, or end it",
        code="walk_open",
        found=str(found.status),
        walk_id=found.id,
    )


def pause_walk(tx: Transaction, _body: Nothing, *, id: str) -> WalkDetail:
    row = store.locked(tx, id, active=False)
    if row.status != WalkStatus.PAUSED:
        store.move(tx, row, "paused", walked=store.walked(row, tx.now), walking_since=None)
        store.tell_of_walk(tx, "walk.paused", id)
    return store.detail(tx.connection, id, tx.now)


def resume_walk(tx: Transaction, _body: Nothing, *, id: str) -> WalkDetail:
    """It goes on where it stood; the operator's next message begins with what was so far."""
    row = store.locked(tx, id, active=False)
    if row.status != WalkStatus.ACTIVE:
        now = store.detail(tx.connection, id, tx.now)
        told = synopsis(now, now.agenda, now.transcript)
        store.move(tx, row, "resumed", walking_since=tx.now, synopsis=told)
        store.tell_of_walk(tx, "walk.resumed", id)
    return store.detail(tx.connection, id, tx.now)


def end_walk(tx: Transaction, body: EndWalk, *, id: str) -> WalkDetail:
    """Its summary is kept with it, and written as a file after the commit; ending what has ended changes nothing."""
    row = store.locked(tx, id, active=False)
    if row.status in (WalkStatus.COMPLETED, WalkStatus.ABANDONED):
        return store.detail(tx.connection, id, tx.now)
    event = "abandoned" if body.abandon else "completed"
    known = store.items_of(tx.connection, id)
    store.settle_elsewhere(tx, id, known)
    walked = {"walked": store.walked(row, tx.now), "walking_since": None}
    store.move(tx, row, event, ended_at=tx.now, slot=None, synopsis=None, unrecorded=True, **walked)
    ended = store.detail(tx.connection, id, tx.now)
    ended = msgspec.structs.replace(ended, summary=summary(ended, ended.agenda, ended.totals))
    store.change(tx, id, summary=ended.summary)
    told = {"status": str(ended.status), "totals": ended.totals}
    store.tell_of_walk(tx, "walk.ended", id, **told)
    audit.record(tx, "walk.ended", id, {**told, "summary": ended.summary})
    return ended


# ---- turns -----------------------------------------------------------------------------------------------------------


def take_turn(tx: Transaction, body: TakeTurn, *, id: str) -> WalkDetail:
    walk, message = store.locked(tx, id), storable(body.message).strip()
    active = store.on_the_table(tx.connection, id)
    if body.item is not None:
        _go_to(tx, walk, store.item(tx.connection, id, body.item), active)
    elif not message and store.take_up_next(tx, walk, 0 if active is None else active.place) is None:
        store.say(tx, id, "manager", walk.persona_id, _DONE)
    if message:
        _speak(tx, walk, message, body.item or (None if active is None else active.id))
    store.tell_of_walk(tx, "walk.turn", id, item=body.item, message=bool(message))
    return store.detail(tx.connection, id, tx.now)


def _go_to(tx: Transaction, walk: Row[Any], row: Row[Any], active: Row[Any] | None) -> None:
    if active is not None and active.id != row.id:
        store.move_item(tx, active, "put back")
    store.take_up(tx, walk, row)


def _speak(tx: Transaction, walk: Row[Any], message: str, item_id: str | None) -> None:
    """The operator's words, and who answers: a persona with a model, by a consult; else it is said that none can."""
    if walk.synopsis is not None:
        message = resumed(walk.synopsis, message)
        store.change(tx, walk.id, synopsis=None)
    store.say(tx, walk.id, "operator", tx.actor, message, item_id)
    made, trouble = _answerer(tx, walk, message)
    if made is None:
        why = f"I cannot answer a free question here: {trouble}. What I proposed stands."
        store.say(tx, walk.id, "manager", walk.persona_id, why, item_id)
        return
    begun = consulting.begin_consult(tx, made)
    store.say(tx, walk.id, "manager", walk.persona_id, "I look into it.", item_id, begun.id)
    store.tell_of_walk(tx, "walk.consulted", walk.id, consult_id=begun.id, persona_id=begun.persona_id, skill_id=_ASK)


def _answerer(tx: Transaction, walk: Row[Any], message: str) -> tuple[consulting.Prepared | None, str | None]:
    """A consult that answers a message, or why there is none."""
    wanted = NewConsult(persona_id=walk.persona_id, skill_id=_ASK, raw_input={"question": message})
    try:
        made = consulting.prepare(tx.surroundings, wanted)
    except GembaError as error:
        return None, error.message
    return (made, None) if made.trouble is None else (None, made.trouble)


# ---- consults --------------------------------------------------------------------------------------------------------


def consult_on_walk(tx: Transaction, body: WalkConsult, *, id: str) -> ConsultSummary:
    store.locked(tx, id)
    row = store.on_the_table(tx.connection, id, body.item)
    given = body.raw_input or _input(tx, body.skill_id, id, None if row is None else row.ref)
    wanted = NewConsult(persona_id=body.persona_id, skill_id=body.skill_id, raw_input=given, guidance=body.guidance)
    made = consulting.prepare(tx.surroundings, wanted)
    begun = consulting.begin_consult(tx, made)
    item_id = None if row is None else row.id
    store.say(tx, id, "walk", tx.actor, f"Asked {made.persona.name}: {made.skill.name}", item_id, begun.id)
    store.tell_of_walk(
        tx, "walk.consulted", id, consult_id=begun.id, persona_id=begun.persona_id, skill_id=body.skill_id
    )
    return begun


def _input(tx: Transaction, skill_id: str, walk_id: str, ref: str | None) -> dict[str, Any]:
    """What a skill is given where the operator gives nothing: the board, the walk, or what is on the table."""
    if skill_id == epic_order.SKILL.id:
        board = read_order_input(tx.connection, Workspace(tx.surroundings["workspace"]), tx.now)
        return _as_document(board)
    fields = find_skill(skill_id).input.__struct_fields__
    if "walk_id" in fields:
        return {"walk_id": walk_id}
    name = next((each for each in _ABOUT if each in fields), None)
    return {} if name is None or ref is None else {name: ref}


def _as_document(given: msgspec.Struct) -> dict[str, Any]:
    document: dict[str, Any] = msgspec.to_builtins(given)
    return document


_WALK = "/api/walks/{id}"
ACTIONS = (
    Action("/api/walks", start_walk, StartWalk, WalkDetail, "Begin a walk over everything that waits", status=201),
    Action(f"{_WALK}/turn", take_turn, TakeTurn, WalkDetail, "Say something, or go to the next"),
    Action(
        f"{_WALK}/consult",
        consult_on_walk,
        WalkConsult,
        ConsultSummary,
        "Ask a persona inside of a walk",
        status=201,
    ),
    Action(f"{_WALK}/pause", pause_walk, Nothing, WalkDetail, "Let a walk rest"),
    Action(f"{_WALK}/resume", resume_walk, Nothing, WalkDetail, "Go on with a walk where it stood"),
    Action(f"{_WALK}/end", end_walk, EndWalk, WalkDetail, "End a walk, with a summary"),
)
