"""Escalations that the product itself raises, inside the transaction of what makes them necessary.

They look to every reader like the ones that frames open, with the policy that is for their kind; no rule answers them
and none is like another. The workspace's home and policies come with the transaction.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import insert

from gemba import clock, wire
from gemba.escalations.answer import Schemas
from gemba.escalations.escalation import Channel, Kind
from gemba.escalations.opening import new_row
from gemba.escalations.policy import Policies
from gemba.escalations.store import escalations, watch
from gemba.event import Draft
from gemba.sessions.store import agent_type_in
from gemba.store.database import Transaction

# How a reply goes back, by kind; those that are not here come from agents and their clients.
CHANNELS: dict[str, Channel] = {
    **dict.fromkeys(("approval", "needs_input", "blocked"), Channel.HANDOFF),
    **dict.fromkeys(("gate_failure", "purview_violation", "budget_warn", "budget_stop", "stalled"), Channel.SYSTEM),
}


def raise_escalation(
    tx: Transaction,
    kind: Kind,
    text: str,
    *,
    session_id: str,
    id: str | None = None,
    title: str | None = None,
    options: Sequence[str] = (),
    urgency: str | None = None,
    agent_type: str = "",
    role: str | None = None,
    bead_id: str | None = None,
    cwd: str | None = None,
    waiting: bool = True,
    origin: str | None = None,
) -> str:
    """Open it and have its policy watched over; its id. A purview gives its own urgency, the others follow the kind.

    `origin` is the home that the answer is delivered in; this one, unless the asker lives elsewhere.
    """
    id = id or wire.new_event_id()
    payload = {
        "kind": kind,
        "channel": CHANNELS[kind],
        "urgency": urgency or wire.urgency_of(kind, wire.DEFAULT_MODE) or "advisory",
        "role": role,
        "text": text,
        "mode": wire.DEFAULT_MODE,
        "title": title,
        "options": list(options),
        "schema": None,
        "bead_id": bead_id,
        "agent_type": agent_type or agent_type_in(tx, session_id),
        "cwd": cwd,
        "commit": None,
        "branch": None,
        "worktree": None,
        "waiting": waiting,
        "asked_at": clock.rfc3339(tx.now),
    }
    draft = Draft("escalation_opened", payload, session_id, id)
    policies: Policies = tx.surroundings.get("policies", Policies())
    home = tx.surroundings.get("origin", "") if origin is None else origin
    row = new_row(tx, draft, home, policies, Schemas())
    tx.connection.execute(insert(escalations), row)
    tx.emit(draft)
    if row["watched_since"] is not None:
        watch(tx, [id])
    return id
