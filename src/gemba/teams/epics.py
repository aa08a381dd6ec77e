"""What a run does to the work item that it was started for: in progress and claimed while it runs, then handed in.

A run never finishes an item: that is for whoever looks at it. What somebody else made of the item meanwhile is left to
them. Called where runs begin and end, inside their transaction.
"""

from __future__ import annotations

from sqlalchemy import Connection, select

from gemba.errors import GembaError
from gemba.store.database import Transaction
from gemba.teams.tables import runs
from gemba.work.claiming import ClaimItem, ReleaseClaim, claim_item, release_claim
from gemba.work.item import STARTABLE, Cause, State
from gemba.work.items import alone, get, is_claimed
from gemba.work.store import ChangeItem, change_item

_LEASE = 7 * 86_400


def item_of(connection: Connection, ref: str) -> str | None:
    """The work item that a run was started for, of a task of it by its ref; None for what is no such ref."""
    run_id, slash, _ = ref.partition("/")
    if not slash:
        return None
    found: str | None = connection.execute(select(runs.c.epic_id).where(runs.c.id == run_id)).scalar()
    return found


def take(tx: Transaction, item_id: str, run_id: str, *, begins: bool) -> None:
    """The item is this run's; one that is finished, or claimed by another, is refused."""
    alone(tx)
    item = get(tx.connection, item_id)
    if not begins:
        return
    tx.cause = Cause("run", run_id)
    claim_item(tx, ClaimItem(owner=run_id, lease_seconds=_LEASE), id=item_id)
    if State(item.state) in STARTABLE:
        change_item(tx, ChangeItem(state=State.IN_PROGRESS), id=item_id)


def hand_in(tx: Transaction, item_id: str, run_id: str, *, done: bool) -> str | None:
    """The run has ended: its item is free again, and in review where it was done. Why it could not go there, where a
    purview asks about it: then it stays this run's."""
    alone(tx)
    tx.cause = Cause("run", run_id)
    item = get(tx.connection, item_id)
    try:
        with tx.part():
            if done and item.state == State.IN_PROGRESS:
                change_item(tx, ChangeItem(state=State.REVIEW), id=item_id)
            if is_claimed(item, tx.now) and item.claimed_by == run_id:
                release_claim(tx, ReleaseClaim(run_id), id=item_id)
    except GembaError as error:
        return error.message
    return None
