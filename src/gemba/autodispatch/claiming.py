"""The first half of a start: what is chosen is claimed and written down. `giving` does the rest.

Decided and claimed in one transaction, while nobody else changes work: of two servers one starts an item, and a crash
leaves a claim with its start, which the next round takes up, or nothing of either.
"""

from __future__ import annotations

import msgspec
from sqlalchemy import insert

from gemba import wire
from gemba.autodispatch import store
from gemba.autodispatch.choosing import Chosen, decide
from gemba.autodispatch.facts import Here, read_situation
from gemba.autodispatch.start import LEASE_SECONDS, StartState
from gemba.autodispatch.tables import starts
from gemba.event import Draft
from gemba.handoff import audit
from gemba.store.database import Transaction
from gemba.work.claiming import ClaimItem, claim_item
from gemba.work.item import Cause
from gemba.work.items import alone, get


def claim_next(tx: Transaction, here: Here) -> str | None:
    """Claim what is to be started next; the id of its start, None where nothing is."""
    alone(tx)
    situation, _ = read_situation(tx.connection, here, tx.now)
    chosen = decide(situation).chosen
    return None if chosen is None else _claim(tx, here, chosen)


def _claim(tx: Transaction, here: Here, chosen: Chosen) -> str:
    id, choice = wire.new_event_id(), chosen.choice
    session_id = chosen.session_id or f"{chosen.agent_type}-{id[-8:]}"
    item = get(tx.connection, choice.item_id)
    tx.cause = Cause("run", session_id)
    claim_item(tx, ClaimItem(owner=session_id, lease_seconds=LEASE_SECONDS), id=item.id)
    row = {
        "id": id,
        "state": StartState.CLAIMED,
        "workspace": here.workspace,
        "origin": here.origin,
        "item_id": item.id,
        "item_state": item.state,
        "title": item.title,
        "session_id": session_id,
        "agent_type": chosen.agent_type,
        "living": chosen.session_id is not None,
        "because": chosen.because,
        "score": choice.score,
        "reasons": msgspec.json.encode(choice.reasons).decode(),
        "created_at": tx.now,
    }
    tx.connection.execute(insert(starts), row)
    told = store.told(store.get_locked(tx, id))
    tx.emit(Draft("auto.claimed", told, session_id, id))
    audit.record(tx, "auto.claimed", id, told)
    return id
