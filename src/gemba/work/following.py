"""What agents' reports mean for work, inside the transaction that ingests them.

`bead-done` is an agent's word that a work item is done: the item goes to review, where somebody looks at it. It never
makes it done. A coach does not write to the work plane, and what cannot be moved stays as it is; the report itself is
kept in either case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import structlog
from sqlalchemy import Connection

from gemba.errors import GembaError
from gemba.event import Draft
from gemba.store import rows
from gemba.store.database import Transaction
from gemba.work import history
from gemba.work.item import Cause, State, check_move
from gemba.work.items import alone
from gemba.work.store import apply_values
from gemba.work.tables import items

RoleOf = Callable[[Connection, str], str | None]

log = structlog.get_logger("gemba.work")


def project(tx: Transaction, drafts: Sequence[Draft], role_of: RoleOf) -> None:
    for draft in drafts:
        if draft.name == "session_state_reported" and draft.payload["state"] == "bead-done":
            item, session = draft.payload["bead_id"], draft.session_id
            if item and session and role_of(tx.connection, session) != "coach":
                _hand_in(tx, item, session)


def _hand_in(tx: Transaction, id: str, session: str) -> None:
    alone(tx)
    row = rows.find(tx.connection, items, id)
    if row is None or row.state == State.REVIEW:
        return
    actor, cause = tx.actor, tx.cause
    tx.actor, tx.cause = session, Cause("run", session)
    try:
        with tx.part():
            check_move(State(row.state), State.REVIEW)
            apply_values(tx, row, {"state": State.REVIEW}, history.CHANGED)
    except GembaError as error:
        log.warning("a report that an item is done moved nothing", item=id, session=session, reason=error.message)
    finally:
        tx.actor, tx.cause = actor, cause
