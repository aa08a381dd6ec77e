"""X-GEMBA-Confirm: a mutating request runs once, however often it is sent.

The id, a hash of the request and the answer are stored in the request's own transaction, also when the request is
refused: what it did is undone as a part of that transaction, and the refusal is its answer. What fails because the
surroundings do not work (5xx) stores nothing: sent again, it is tried again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, delete, select, update

from gemba import clock
from gemba.errors import GembaError, Invalid
from gemba.store.database import Transaction
from gemba.store.schema import confirmations

KEPT = clock.DAY

_FAILED = 500  # from here on it is not the request that is wrong


class Answer(msgspec.Struct, frozen=True):
    status: int
    body: bytes
    replayed: bool = False


def answered(connection: Connection, confirm_id: str, request: str, now: int) -> Answer | None:
    """What the same request was answered before, for whoever has costly things to do before `once`."""
    stored = connection.execute(select(confirmations).where(confirmations.c.id == confirm_id)).first()
    if stored is None or stored.at < now - KEPT:
        return None
    return _replayed(stored, confirm_id, request)


def once(
    tx: Transaction,
    confirm_id: str,
    request: str,
    run: Callable[[], Answer],
    refused: Callable[[GembaError], Answer],
) -> Answer:
    """Run, or return what the same request was answered before. `refused` words what `run` refuses.

    The row is inserted before the work: on PostgreSQL a second request with the same id waits here for the first
    to commit (and then finds its answer) or to roll back (and then runs).
    """
    expired = confirmations.c.at < tx.now - KEPT
    tx.connection.execute(delete(confirmations).where(confirmations.c.id == confirm_id, expired))
    row = {"id": confirm_id, "request": request, "status": 0, "answer": "", "at": tx.now}
    if not tx.insert_new(confirmations, [row], "id"):
        stored = tx.connection.execute(select(confirmations).where(confirmations.c.id == confirm_id)).one()
        return _replayed(stored, confirm_id, request)
    try:
        with tx.part():
            answer = run()
    except GembaError as error:
        if error.status >= _FAILED:
            raise
        answer = refused(error)
    tx.connection.execute(
        update(confirmations)
        .where(confirmations.c.id == confirm_id)
        .values(status=answer.status, answer=answer.body.decode())
    )
    return answer


def _replayed(stored: Row[Any], confirm_id: str, request: str) -> Answer:
    if stored.request != request:
        raise Invalid(
            "this confirm id was used for another request; send a new one with each new request",
            code="confirm_reused",
            found=confirm_id,
            allowed="an id that no other request of the last day had",
        )
    return Answer(stored.status, stored.answer.encode(), replayed=True)


def prune(tx: Transaction, now: int) -> int:
    return tx.connection.execute(delete(confirmations).where(confirmations.c.at < now - KEPT)).rowcount
