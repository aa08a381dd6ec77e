"""What a person chooses on a card of a budget, carried out in the transaction of the answer."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Row

from gemba.escalations.cards import Card
from gemba.escalations.escalation import Reply
from gemba.sprints import burning, planning, progress
from gemba.sprints.burning import CLOSE, RAISE, STOP_KIND, WARN_KIND
from gemba.store.database import Transaction


def carry_out(tx: Transaction, card: Row[Any], reply: Reply) -> None:
    """A card whose sprint is closed, or has room again, changes nothing: it was taken back, or is about to be."""
    if progress.is_asked(tx, card.id):
        progress.carry_out(tx, reply.action)
        return
    row = burning.find_asked(tx, card.id)
    if row is None:
        return
    row = burning.answered(tx, row, card.id)
    if reply.action == RAISE:
        burning.raise_budget(tx, row, burning.read_budget(reply.text))
    elif reply.action == CLOSE:
        planning.close_sprint(tx, planning.CloseSprint(f"its budget is used; closed by {tx.actor}"), id=row.id)


CARDS: Final = {kind: Card(burning.judge_answer, carry_out) for kind in (WARN_KIND, STOP_KIND)}
