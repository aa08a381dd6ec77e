"""`GembaHandoff` frames: what the stop hooks of an agent's client let end, handed over as from anybody else.

The server judges again itself, whatever the hook found. A frame never fails the batch that it came in: what cannot be
taken is told as `frame_dropped`, and nothing of it is left. Called by the projection.
"""

from __future__ import annotations

from typing import Any

import structlog
from sqlalchemy import Row
from sqlalchemy.exc import InterfaceError, OperationalError

from gemba import wire
from gemba.errors import GembaError
from gemba.escalations.handing_over import Turn, hand_over
from gemba.event import Draft
from gemba.handoff import dispatches
from gemba.store.database import Transaction

SUBAGENT = "SubagentStop"
_EVENTS = ("Stop", SUBAGENT)
_MOST_CODES = 100

log = structlog.get_logger("gemba.handoff")


def take(tx: Transaction, draft: Draft) -> None:
    """Hand over what a frame brings, or say why not."""
    kept = len(tx.drafts), len(tx.at_end), len(tx.committed)
    try:
        with tx.connection.begin_nested():
            hand_over(tx, _turn(tx, draft))
        return
    except (OperationalError, InterfaceError):  # the database's, which the whole batch is tried again for
        raise
    except GembaError as error:
        reason = error.message
    except Exception as error:
        log.exception("a handoff could not be taken", event_id=draft.ref)
        reason = f"Gemba failed on it: {error.__class__.__name__}"
    del tx.drafts[kept[0] :], tx.at_end[kept[1] :], tx.committed[kept[2] :]
    tx.emit(Draft("frame_dropped", {"hook": "GembaHandoff", "reason": reason}, draft.session_id, draft.ref))


def _turn(tx: Transaction, draft: Draft) -> Turn:
    said = draft.payload
    agent_id, event = _word(said, "agent_id"), _word(said, "event")
    dispatch = _dispatch(tx, _word(said, "dispatch_id"))
    envelope, text = said.get("envelope"), said.get("text")
    codes = said.get("codes")
    spent = [code[: wire.MAX_ID] for code in codes if isinstance(code, str)] if isinstance(codes, list) else []
    return Turn(
        words=envelope if envelope is not None or not isinstance(text, str) else text,
        source="hook",
        dispatch=dispatch,
        session_id=draft.session_id,
        agent_id=agent_id,
        event=event if event in _EVENTS else None,
        aside=dispatch is not None and event == SUBAGENT and agent_id != dispatch.agent_id,
        spent=(spent[:_MOST_CODES] or ["REFUSED"]) if said.get("refused") is True else None,
    )


def _dispatch(tx: Transaction, id: str | None) -> Row[Any] | None:
    """The dispatch that a frame names; a turn of one that nobody knows here is a turn outside of any."""
    if id is None or dispatches.find(tx.connection, id) is None:
        return None
    return dispatches.get_locked(tx, id)


def _word(said: dict[str, Any], name: str) -> str | None:
    value = said.get(name)
    return value[: wire.MAX_ID] if isinstance(value, str) and value else None
