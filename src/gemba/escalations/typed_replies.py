"""Replies that are typed at the agent's prompt: those that nobody waits for, in a session that Gemba runs.

The words themselves become the agent's next prompt. A reply is either typed or laid down as a turn, never both: what
was not typed in time is laid down, and what was typed is not, whether its client says that it was read or not. Called
wherever a reply is put on its way.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row

from gemba.escalations.escalation import Reply
from gemba.sessions import inputs
from gemba.sessions.inputs import InputState
from gemba.store.database import Transaction

_TOLD_AS_WORDS = ("answered", "default")  # an end without an answer is told as what it is, in a turn


def fits(tx: Transaction, session_id: str, answer: Reply) -> bool:
    return (
        answer.outcome in _TOLD_AS_WORDS
        and bool(answer.text.strip())
        and inputs.can_be_typed(tx.connection, session_id)
    )


def type_out(tx: Transaction, row: Row[Any]) -> bool:
    """Have the reply of a settled escalation typed; False when there is nobody to type it to."""
    if row.outcome not in _TOLD_AS_WORDS or not inputs.can_be_typed(tx.connection, row.turn_session):
        return False
    inputs.add_reply(tx, row.turn_session, row.reply_text, row.id)
    return True


def was_typed(tx: Transaction, id: str) -> bool:
    """Whether it was; one that still waits is not typed any more."""
    inputs.withdraw_reply(tx, id, "it took too long, and waits for the agent as its next turn")
    row = inputs.of_reply(tx, id)
    return row is not None and row.state != InputState.NOT_TYPED


def take_back(tx: Transaction, id: str) -> None:
    inputs.withdraw_reply(tx, id, "the answer was taken back")
