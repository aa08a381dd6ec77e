"""Claims: an item is one owner's for as long as a lease lasts. Of many who claim at once one gets it.

A claim says who works on something; it changes no state, and an item whose lease has run out is free again without
anybody doing anything. A claim of an item that has one is refused, whoever it is: who goes on extends it. So is one of
an item that is blocked and that nobody has begun, unless whoever claims it says that they know.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from sqlalchemy import Row, or_, update

from gemba import clock
from gemba.action import Action, Id
from gemba.errors import Conflict
from gemba.event import Draft
from gemba.store.database import Transaction
from gemba.work import history
from gemba.work.explain import explain
from gemba.work.item import FINISHED, State, clean_word
from gemba.work.items import WorkItem, alone, get, is_claimed, view
from gemba.work.store import told
from gemba.work.tables import items

USUAL_SECONDS = 3_600
LONGEST_SECONDS = 7 * 86_400

_BEGUN = frozenset({State.IN_PROGRESS, State.REVIEW})

Seconds = Annotated[int, msgspec.Meta(ge=1, le=LONGEST_SECONDS)]


class ClaimItem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """For whom (you, unless it is said), and for how long unless it is extended. `even_blocked`: also where something
    unfinished is in its way."""

    owner: Id | None = None
    lease_seconds: Seconds = USUAL_SECONDS
    even_blocked: bool = False


class ExtendClaim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The owner's claim (yours, unless it is said) lasts so long from now on."""

    owner: Id | None = None
    lease_seconds: Seconds = USUAL_SECONDS


class ReleaseClaim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The claim is given back. With an `owner` only that one's."""

    owner: Id | None = None


def claim_item(tx: Transaction, body: ClaimItem, *, id: str) -> WorkItem:
    alone(tx)
    row = get(tx.connection, id)
    if State(row.state) in FINISHED:
        raise Conflict(f"the item is {row.state}: there is nothing to claim", code="finished", found=row.state)
    owner = clean_word(body.owner or tx.actor, "/owner", 500)
    _refuse_coach(tx, owner)
    if not body.even_blocked:
        _refuse_blocked(tx, row)
    for guard in tx.surroundings.get("dispatch_guards", ()):
        guard(tx)
    until = tx.now + body.lease_seconds * clock.SECOND
    free = or_(items.c.claimed_until.is_(None), items.c.claimed_until <= tx.now)
    claimed = update(items).where(items.c.id == id, free)
    claimed = claimed.values(claimed_by=owner, claimed_at=tx.now, claimed_until=until)
    if tx.connection.execute(claimed).rowcount != 1:
        raise _taken(tx, get(tx.connection, id))
    history.record(tx, id, history.CLAIMED, after={"claim": {"owner": owner, "lease_seconds": body.lease_seconds}})
    return _tell(tx, id, lambda payload: Draft("item.claimed", payload, ref=id))


def extend_claim(tx: Transaction, body: ExtendClaim, *, id: str) -> WorkItem:
    """An owner that lives says so; a lease that ran out and was nobody's since is taken up again."""
    alone(tx)
    row = get(tx.connection, id)
    owner = clean_word(body.owner or tx.actor, "/owner", 500)
    if row.claimed_by != owner:
        raise _taken(tx, row) if is_claimed(row, tx.now) else _unclaimed(row)
    mine = update(items).where(items.c.id == id, items.c.claimed_by == owner)
    tx.connection.execute(mine.values(claimed_until=tx.now + body.lease_seconds * clock.SECOND))
    return _tell(tx, id, lambda payload: Draft("item.claimed", payload, ref=id))


def release_claim(tx: Transaction, body: ReleaseClaim, *, id: str) -> WorkItem:
    alone(tx)
    row = get(tx.connection, id)
    if not is_claimed(row, tx.now):
        raise _unclaimed(row)
    if body.owner is not None and body.owner != row.claimed_by:
        raise _taken(tx, row)
    mine = update(items).where(items.c.id == id, items.c.claimed_by == row.claimed_by)
    tx.connection.execute(mine.values(claimed_by=None, claimed_at=None, claimed_until=None))
    history.record(tx, id, history.RELEASED, before={"claim": {"owner": row.claimed_by}})
    return _tell(tx, id, lambda payload: Draft("item.released", payload, ref=id))


ACTIONS = (
    Action("/api/work-items/{id}/claim", claim_item, ClaimItem, WorkItem, "Claim a work item, for a lease"),
    Action("/api/work-items/{id}/claim/extend", extend_claim, ExtendClaim, WorkItem, "Extend the lease of a claim"),
    Action("/api/work-items/{id}/claim/release", release_claim, ReleaseClaim, WorkItem, "Give a claim back"),
)


def _refuse_coach(tx: Transaction, owner: str) -> None:
    """A coach never writes to the work plane, whoever claims for it."""
    role_of = tx.surroundings.get("role_of")
    if role_of is not None and role_of(tx.connection, owner) == "coach":
        raise Conflict(f"{owner} is a coach's session, and a coach does not work on items", code="coach", found=owner)


def _refuse_blocked(tx: Transaction, row: Row[Any]) -> None:
    """Whoever took it would wait, and nobody else could do what has to come first by the same claim."""
    if State(row.state) in _BEGUN or not (row.blockers or row.held):
        return
    why = [reason for reason in explain(tx.connection, row.id, tx.now).reasons if reason.kind in ("blocked", "held")]
    raise Conflict(
        f"{row.id} cannot be begun: {'; '.join(reason.text for reason in why)}",
        code="blocked",
        found=[id for reason in why for id in reason.items],
        allowed="an item that nothing blocks, or even_blocked",
    )


def _tell(tx: Transaction, id: str, event: Callable[[dict[str, Any]], Draft]) -> WorkItem:
    row = get(tx.connection, id)
    tx.emit(event(told(tx, row, ["claim"])))
    return view(tx.connection, row, tx.now)


def _taken(tx: Transaction, row: Row[Any]) -> Conflict:
    return Conflict(
        f"{row.id} is claimed by {row.claimed_by} until {clock.rfc3339(row.claimed_until)}",
        code="claimed",
        found=row.claimed_by,
        allowed="a claim that is released, or has run out",
        item=view(tx.connection, row, tx.now),
    )


def _unclaimed(row: Row[Any]) -> Conflict:
    return Conflict(f"{row.id} is not claimed", code="not_claimed", found=row.id)
