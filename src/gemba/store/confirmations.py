"""X-GEMBA-Confirm: a mutating request runs once, however often it is sent.

The id, a hash of the request and the answer are stored in the request's own transaction. A request that was
refused changed nothing and stores nothing: sent again, it is judged again.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from sqlalchemy import delete, select, update

from gemba import clock
from gemba.errors import Invalid
from gemba.store.database import Transaction
from gemba.store.schema import confirmations

KEPT = clock.DAY


class Answer(msgspec.Struct, frozen=True):
    status: int
    body: bytes
    replayed: bool = False


def once(tx: Transaction, confirm_id: str, request: str, run: Callable[[], Answer]) -> Answer:
    """Run, or return what the same request was answered before.

    The row is inserted before the work: on PostgreSQL a second request with the same id waits here for the first
    to commit (and then finds its answer) or to roll back (and then runs).
    """
    expired = confirmations.c.at < tx.now - KEPT
    tx.connection.execute(delete(confirmations).where(confirmations.c.id == confirm_id, expired))
    row = {"id": confirm_id, "request": request, "status": 0, "answer": "", "at": tx.now}
    if not tx.insert_new(confirmations, [row], "id"):
        stored = tx.connection.execute(select(confirmations).where(confirmations.c.id == confirm_id)).one()
        if stored.request != request:
            raise Invalid(
                "this confirm id was used for another request; send a new one with each new request",
                code="confirm_reused",
                found=confirm_id,
                allowed="an id that no other request of the last day had",
            )
        return Answer(stored.status, stored.answer.encode(), replayed=True)
    answer = run()
    tx.connection.execute(
        update(confirmations)
        .where(confirmations.c.id == confirm_id)
        .values(status=answer.status, answer=answer.body.decode())
    )
    return answer


def prune(tx: Transaction, now: int) -> int:
    return tx.connection.execute(delete(confirmations).where(confirmations.c.at < now - KEPT)).rowcount
