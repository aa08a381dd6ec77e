"""An escalation as it begins: the row that an event opens, with the policy that is for its kind.

Called for the asks of frames, and for what the product itself raises.
"""

from __future__ import annotations

from typing import Any

import msgspec

from gemba import clock
from gemba.escalations.answer import Schemas
from gemba.escalations.escalation import RANK, Delivery, State, Urgency
from gemba.escalations.policy import Policies
from gemba.escalations.store import counted
from gemba.event import Draft
from gemba.sessions.translator import without_schema
from gemba.store.database import Transaction


def new_row(tx: Transaction, draft: Draft, origin: str, policies: Policies, schemas: Schemas) -> dict[str, Any]:
    """An escalation as it begins, out of the event that it was opened by."""
    payload = draft.payload
    policy = policies.match(payload["kind"], payload["urgency"])
    text, schema = _asked(payload, schemas)
    return {
        "id": draft.ref,
        "session_id": draft.session_id,
        "agent_type": payload["agent_type"],
        "kind": payload["kind"],
        "channel": payload["channel"],
        "urgency": payload["urgency"],
        "rank": RANK[Urgency(payload["urgency"])],
        "state": State.OPEN,
        "resolved": False,
        "delivery": Delivery.NONE,
        "role": payload["role"],
        "mode": payload["mode"],
        "title": payload["title"],
        "text": text,
        "options": msgspec.json.encode(payload["options"]).decode(),
        "bead_id": payload["bead_id"],
        "waiting": payload["waiting"],
        "waiting_until": clock.parse(payload.get("waiting_until") or "") if payload["waiting"] else None,
        "cwd": payload["cwd"],
        "commit_hash": payload["commit"],
        "branch": payload["branch"],
        "opened_at": clock.parse_past(draft.payload["asked_at"], tx.now),
        "changed_at": tx.now,
        "origin": origin,
        "received_at": tx.now,
        "schema": schema,
        "worktree": payload.get("worktree"),
        "group_id": draft.ref,
        "like_key": "",
        "policy": None if policy is None else msgspec.json.encode(policy).decode(),
        **counted(policy, tx.now),
    }


def _asked(payload: dict[str, Any], schemas: Schemas) -> tuple[str, str | None]:
    """The words and the schema of an ask. A schema by which no answer can be judged is left out; the words say so."""
    text, schema = payload["text"], payload.get("schema")
    if schema is None:
        return text, None
    trouble = schemas.trouble(schema)
    return (text, msgspec.json.encode(schema).decode()) if trouble is None else (without_schema(text, trouble), None)
