"""What an answer means for the handoff that it was asked for: the dispatch's next turn starts, and it reads the answer.

An escalation that came of a handoff has no asker that waits: its turn has ended. So the answer becomes the next turn
of the session, and the dispatch moves to IN_PROGRESS in the transaction of the answer. An answer that comes when the
dispatch is at another turn changes nothing there, and one that comes when the work is complete is nobody's next turn.
Called wherever an escalation is settled; the escalation is locked, and its dispatch after it.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row

from gemba.escalations.escalation import Channel, Reply
from gemba.handoff import dispatches, handoffs
from gemba.handoff.handoffs import HandoffState
from gemba.store.database import Transaction


def handoff_of(tx: Transaction, escalation: Row[Any]) -> Row[Any] | None:
    """The handoff that an escalation came of, if it came of one that still matters."""
    if escalation.channel != Channel.HANDOFF:
        return None
    handoff = handoffs.of_escalation(tx.connection, escalation.id)
    if handoff is None or handoff.turn is None:
        return handoff
    completed_at = dispatches.get_locked(tx, handoff.dispatch_id).completed_at
    return handoff if completed_at is None or handoff.judged_at > completed_at else None


def start(tx: Transaction, handoff: Row[Any], answer: Reply) -> None:
    """Whatever the agent is told as its next turn starts one; a subagent's handoff starts nothing of its dispatch."""
    if answer.outcome == "withdrawn" or handoff.turn is None:
        return
    dispatch = dispatches.get_locked(tx, handoff.dispatch_id)
    # It was accepted, then another one was, which may ask the same anew: only that one's answer is waited for.
    is_past = handoff.state == HandoffState.ACCEPTED and dispatch.accepted_id != handoff.id
    if dispatch.turn == handoff.turn and not (is_past and answer.outcome == "expired"):
        dispatches.start_turn(tx, dispatch, by_person=answer.by == "operator")
