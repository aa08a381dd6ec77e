"""Grants: consumed once, by exactly the call that was approved, before it runs; then how it ended.

One UPDATE decides a use, whatever else happens at the same moment: of any number of attempts one wins. A crash after
it leaves a consumed grant, never a second run. Called by the approval actions and by the projection of tool frames.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import Row, select, update

from gemba import clock
from gemba.errors import Conflict
from gemba.flows import wanted
from gemba.handoff.approval import GRANT, GrantState, RequestState
from gemba.handoff.approvals import IN_ORDER, Approval, Call, approvals, get, sealed_of, tell_of, view
from gemba.handoff.seal import differences, seal_hash
from gemba.store.database import Transaction

UNKNOWN_AFTER = clock.DAY  # a command that runs longer than this is not heard of any more


def use(tx: Transaction, id: str, call: Call, session_id: str = "") -> Approval:
    """Consume the grant for this call, or say why it cannot be. Its outcome is told by the session that makes the call,
    which may be a later one of the same requester.
    """
    consumed = (
        update(approvals)
        .where(
            approvals.c.id == id,
            approvals.c.state == RequestState.APPROVED,
            approvals.c.grant_state == GrantState.UNUSED,
            approvals.c.command == call.command,
            approvals.c.cwd == call.cwd,
            approvals.c.requester == call.requester,
            approvals.c.tool == call.tool,
            approvals.c.expires_at > tx.now,
            IN_ORDER,
        )
        .values(
            grant_state=GrantState.CONSUMED,
            consumed_at=tx.now,
            live_key=None,
            session_id=session_id or approvals.c.session_id,
        )
    )
    many = tx.connection.execute(consumed).rowcount
    row = get(tx.connection, id)
    if many != 1:
        raise _why_not(tx, row, call)
    if seal_hash(sealed_of(row)) != row.hash:
        raise Conflict("the grant is not for what was sealed: its row was changed", code="broken_seal", found=id)
    used = view(row)
    tell_of(tx, "approval.used", used, used.requester)
    args = {"id": id, "since": tx.now}
    wanted.want(tx, "approval_outcome", [wanted.Call(f"approval_outcome/{id}", args)])
    return used


def record_outcome(tx: Transaction, id: str, event: str, outcome: str = "") -> Approval:
    """How the call ended: `succeeded`, `failed`, or `lost` when nobody said."""
    row = get(tx.connection, id)
    if row.grant_state is None:
        raise Conflict(f"the request is {row.state}: it has no grant", code="not_granted", found=row.state)
    state = GRANT.after(GrantState(row.grant_state), event)
    ended = update(approvals).where(approvals.c.id == id, approvals.c.grant_state == row.grant_state)
    values = {"grant_state": state, "outcome": outcome or None, "outcome_at": tx.now}
    if tx.connection.execute(ended.values(values)).rowcount != 1:
        raise Conflict("its outcome is recorded meanwhile", code="changed_meanwhile", found=row.grant_state)
    if state is GrantState.FAILED and row.set_id is not None:
        # The rest of the plan never runs: it may be asked for anew.
        rest = (approvals.c.set_id == row.set_id, approvals.c.position > row.position)
        tx.connection.execute(update(approvals).where(*rest).values(live_key=None))
    done = view(get(tx.connection, id))
    tell_of(tx, "approval.ended", done, done.requester if event != "lost" else "gemba")
    return done


class Running(NamedTuple):
    """A call that a grant has let through; `tool` is its name alone, without the inputs that were sealed with it."""

    id: str
    session_id: str
    tool: str
    command: str


def consumed_in(tx: Transaction, session_ids: set[str]) -> list[Running]:
    """The grants of these sessions whose outcome nobody has told yet, the first that was used first."""
    waiting = select(approvals.c.id, approvals.c.session_id, approvals.c.tool, approvals.c.command).where(
        approvals.c.grant_state == GrantState.CONSUMED, approvals.c.session_id.in_(session_ids)
    )
    found = tx.connection.execute(waiting.order_by(approvals.c.consumed_at, approvals.c.id))
    return [Running(row.id, row.session_id, row.tool.partition(" (")[0], row.command) for row in found]


def _why_not(tx: Transaction, row: Row[Any], call: Call) -> Conflict:
    if row.state != RequestState.APPROVED:
        return Conflict(f"the request is {row.state}: there is no grant", code="not_granted", found=row.state)
    if others := differences(sealed_of(row), call.command, call.cwd, call.requester, call.tool):
        names = " and ".join(others)
        return Conflict(f"the grant is for another {names}", code="another_call", found=others)
    if row.grant_state != GrantState.UNUSED:
        return Conflict("the grant is used already, and it is for one use", code="already_used", found=row.grant_state)
    if row.expires_at <= tx.now:
        ended = clock.rfc3339(row.expires_at)
        return Conflict(f"the grant's time ran out at {ended}", code="expired", found=ended)
    return Conflict(
        f"it is number {row.position} of a plan, and those before it are not done",
        code="out_of_order",
        found=row.position,
    )
