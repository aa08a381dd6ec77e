"""What happens to an approval in time, as durable flows: a request expires, the end of a command stays unknown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from gemba.escalations import granting
from gemba.escalations.store import get_locked
from gemba.event import Filter
from gemba.handoff import approvals, grants
from gemba.handoff.approval import GrantState, RequestState
from gemba.store.database import Transaction

if TYPE_CHECKING:
    from gemba.flows.engine import Flow
    from gemba.flows.launch import FlowFunction

# The events with which one of these may have become necessary.
NEWS = Filter(frozenset({"approval.requested", "approval.reopened", "approval.used"}))


async def expiry(flow: Flow, id: str, since: int) -> None:
    """End a request that nobody decides."""
    flow.now(since)
    due = await flow.look(_expires_at, id)
    if due is not None and not await flow.until(id, _is_decided, id, since=since, due=due):
        await flow.change(expire, id)


async def outcome(flow: Flow, id: str, since: int) -> None:
    """Say that nobody will tell how a command ended."""
    flow.now(since)
    if not await flow.until(id, _is_over, id, since=since, due=since + grants.UNKNOWN_AFTER):
        await flow.change(lose, id)


TABLE: Mapping[str, FlowFunction] = {"approval_expiry": expiry, "approval_outcome": outcome}


# ---- steps: each looks before it acts ------------------------------------------------------------------------------


def expire(tx: Transaction, id: str) -> None:
    row = approvals.find(tx.connection, id)
    if row is None or row.state != RequestState.PENDING:
        return
    escalation = get_locked(tx, row.escalation_id)
    if approvals.get_locked(tx, id).state == RequestState.PENDING:  # still, now that nobody else decides it
        granting.expire(tx, escalation)


def lose(tx: Transaction, id: str) -> None:
    if approvals.get_locked(tx, id).grant_state == GrantState.CONSUMED:
        grants.record_outcome(tx, id, "lost", "nothing was reported")


def _expires_at(connection: Connection, id: str) -> int | None:
    row = approvals.find(connection, id)
    return None if row is None or row.state != RequestState.PENDING else row.expires_at


def _is_decided(connection: Connection, id: str) -> bool:
    row = approvals.find(connection, id)
    return row is None or row.state != RequestState.PENDING


def _is_over(connection: Connection, id: str) -> bool:
    row = approvals.find(connection, id)
    return row is None or row.grant_state != GrantState.CONSUMED
