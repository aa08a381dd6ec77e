"""What a system card's action does, by the kind of the card: judged when it is chosen, done when it is given.

Stalled sessions are this slice's own. Other slices hand in theirs with the transaction (`cards` of its surroundings),
since they lie above this one. Called where a card is answered, and where an answer has passed its check.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import Row

from gemba.escalations import stalls
from gemba.escalations.escalation import Reply
from gemba.store.database import Transaction


class Card(NamedTuple):
    """`judge` raises an Invalid for an answer that cannot be given; `carry_out` does what it says."""

    judge: Callable[[Reply], None]
    carry_out: Callable[[Transaction, Row[Any], Reply], None]


def _accept(_reply: Reply) -> None:
    """Any of its actions can be given."""


_OWN = {stalls.KIND: Card(_accept, lambda tx, row, reply: stalls.carry_out(tx, row, reply.action))}


def judge(tx: Transaction, row: Row[Any], reply: Reply) -> None:
    card = _card(tx, row.kind)
    if card is not None:
        card.judge(reply)


def carry_out(tx: Transaction, row: Row[Any], reply: Reply) -> None:
    card = _card(tx, row.kind)
    if card is not None:
        card.carry_out(tx, row, reply)


def _card(tx: Transaction, kind: str) -> Card | None:
    others: Mapping[str, Card] = tx.surroundings.get("cards", {})
    return _OWN.get(kind) or others.get(kind)
