"""Requests for approval: made once for each call, and decided once. Every move is a row, an audit entry and an event.

A move is `UPDATE … WHERE state = <as read>`: of two that decide at once one wins, and the other is told what is allowed
now. A request whose time ran out is decided by nobody. Called by the approval actions, which also see to the
escalation that asks the operator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Row, insert, or_, select, update

from gemba import clock, wire
from gemba.errors import Conflict, GembaError, Invalid
from gemba.flows import wanted
from gemba.handoff.approval import REQUEST, GrantState, RequestState
from gemba.handoff.approvals import IN_ORDER, Approval, Call, approvals, get, of_set, sealed_of, tell_of, view
from gemba.handoff.risk import Risk, classify, workspace_rules
from gemba.handoff.seal import Sealed, digest, fault_of, seal_hash
from gemba.store.database import Transaction

LIFETIME = 3 * clock.DAY  # over a weekend


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One command that somebody wants to run, and what is known about it."""

    call: Call
    session_id: str
    risk: str
    reason: str = ""
    environment: tuple[str, ...] = ()
    rollback: Any = None
    verification: Any = None


# ---- asking ---------------------------------------------------------------------------------------------------------


def known(tx: Transaction, call: Call) -> Row[Any] | None:
    """The request that there is for a call: one that waits, one whose grant is unused, or one whose answer the
    requester has not been told of yet. Of a plan only the one that is next: the others can be asked for alone."""
    live = approvals.c.live_key.is_not(None)
    untold = approvals.c.told_at.is_(None) & approvals.c.state.in_((RequestState.REFUSED, RequestState.SUPERSEDED))
    query = (
        select(approvals)
        .where(approvals.c.call_key == call.key, or_(live & IN_ORDER, untold), approvals.c.requester == call.requester)
        .order_by(live.desc(), approvals.c.created_at, approvals.c.position)
        .limit(1)
    )
    return tx.connection.execute(query).first()


def told(tx: Transaction, row: Row[Any]) -> None:
    """Its requester came back for the answer and has it: the next time the same call is asked about anew."""
    tx.connection.execute(update(approvals).where(approvals.c.id == row.id).values(told_at=tx.now))


def create(
    tx: Transaction, steps: Sequence[Step], *, escalation_id: str, lifetime: int = LIFETIME, as_set: bool = False
) -> tuple[list[Approval], bool]:
    """Seal what was asked for: one request, or an ordered plan. False: it was there already, and is returned."""
    set_id = wire.new_event_id() if as_set else None
    rows = []
    for position, step in enumerate(steps, 1):
        place = {"set_id": set_id, "position": position} if as_set else {}
        sealed = _sealed(step, tx.now, tx.now + lifetime, **place)
        rows.append(_row(sealed, step, escalation_id, step.call.key if set_id is None else f"{set_id}/{position}"))
    if as_set:  # a plan is known by the key of its first, as long as that is not used
        rows[0]["live_key"] = set_key(steps)
    while not tx.insert_new(approvals, rows[:1], "live_key"):
        there = live(tx, rows[0]["live_key"])
        if there is not None:  # else it was decided or used in between, and there is room for this one
            same = [there] if there.set_id is None else of_set(tx.connection, there.set_id)
            return [view(row) for row in same], False
    if rows[1:]:
        tx.connection.execute(insert(approvals), rows[1:])
    made = [view(get(tx.connection, row["id"])) for row in rows]
    for approval in made:
        tell_of(tx, "approval.requested", approval, approval.requester)
        watch(tx, approval.id)
    return made, True


def set_key(steps: Sequence[Step]) -> str:
    """The same for the same plan of the same requester."""
    return f"set/{digest('set', {'calls': [step.call.key for step in steps]})}"


def live(tx: Transaction, live_key: str) -> Row[Any] | None:
    return tx.connection.execute(select(approvals).where(approvals.c.live_key == live_key)).first()


def watch(tx: Transaction, id: str) -> None:
    """Have it expire in time, as a flow that nobody's clock can hurry."""
    wanted.want(tx, "approval_expiry", [wanted.Call(f"approval_expiry/{id}", {"id": id, "since": tx.now})])


# ---- deciding -------------------------------------------------------------------------------------------------------


def check(tx: Transaction, row: Row[Any], event: str) -> None:
    """Whether this may be decided now; whoever decides several asks for each of them before the first is changed."""
    REQUEST.after(RequestState(row.state), event)
    if tx.now >= row.expires_at:
        ended = clock.rfc3339(row.expires_at)
        raise Conflict(f"the request's time ran out at {ended}", code="expired", found=ended)
    if seal_hash(sealed_of(row)) != row.hash:
        raise Conflict("the request is not what was sealed: its row was changed", code="broken_seal", found=row.id)


class Decider(NamedTuple):
    """Who decided, and who agreed to it where a policy wants a second person."""

    by: str
    confirmed_by: str | None = None


def approve(tx: Transaction, row: Row[Any], who: Decider, reason: str = "") -> Approval:
    """A grant for exactly these bytes."""
    check(tx, row, "approved")
    return _decide(tx, row, "approved", who, reason, grant_state=GrantState.UNUSED)


def edit(tx: Transaction, row: Row[Any], command: str, who: Decider) -> Approval:
    """Another seal in its place. Alone it is approved at once, since whoever wrote it wants it; in a plan it waits
    with the others."""
    check(tx, row, "edited")
    old = sealed_of(row)
    call = Call(command, old.cwd, old.requester, old.tool)
    if command == old.command:
        raise Invalid("command is the same as before", code="unchanged", pointer="/command", allowed="another command")
    risk = risk_of(tx, command)
    step = Step(
        call=call,
        session_id=row.session_id,
        risk=risk.level,
        reason=risk.reason[: wire.MAX_TEXT],
        environment=old.environment,
        rollback=old.rollback,
        verification=old.verification,
    )
    lifetime, place = old.expires_at - old.created_at, {"set_id": old.set_id, "position": old.position}
    sealed = _sealed(step, tx.now, tx.now + lifetime, **place)
    live_key = row.live_key if old.set_id is not None else call.key
    if old.set_id is None and (other := live(tx, call.key)) is not None:
        if other.state != RequestState.APPROVED or other.expires_at > tx.now:
            message = "there is a request for exactly this command already"
            raise Conflict(message, code="already_requested", found=command)
        forget_grant(tx, other)
    _decide(tx, row, "edited", who, "", superseded_by=sealed.id)
    tx.connection.execute(insert(approvals), _row(sealed, step, row.escalation_id, live_key))
    made = get(tx.connection, sealed.id)
    tell_of(tx, "approval.requested", view(made), who.by)
    if old.set_id is None:
        return approve(tx, made, who)
    watch(tx, sealed.id)
    return view(made)


def risk_of(tx: Transaction, command: str) -> Risk:
    """By the workspace's rules where they can be read; else by what is known of every command."""
    root = tx.surroundings.get("workspace")
    try:
        rules = () if root is None else workspace_rules(root)
    except GembaError:
        rules = ()
    return classify(command, rules)


def refuse(tx: Transaction, row: Row[Any], who: Decider, reason: str) -> Approval:
    return _decide(tx, row, "refused", who, reason)


def withdraw(tx: Transaction, row: Row[Any], reason: str = "") -> Approval:
    return _decide(tx, row, "withdrawn", Decider(row.requester), reason)


def expire(tx: Transaction, row: Row[Any]) -> Approval:
    return _decide(tx, row, "expired", Decider("gemba"), "nobody decided in time")


def take_back(tx: Transaction, row: Row[Any]) -> Approval:
    """An approval that nobody has used: the request waits again, for as long as it had left."""
    state = REQUEST.after(RequestState(row.state), "taken back")
    undecided = dict.fromkeys(("decided_at", "decided_by", "confirmed_by", "decision_reason", "grant_state", "told_at"))
    unused = (approvals.c.state == row.state, approvals.c.grant_state == GrantState.UNUSED)
    statement = update(approvals).where(approvals.c.id == row.id, *unused).values(state=state, **undecided)
    if tx.connection.execute(statement).rowcount != 1:
        used = "the approval was used, and what it allowed has run: it cannot be taken back"
        raise Conflict(used, code="cannot_be_taken_back", found=get(tx.connection, row.id).grant_state)
    waiting = view(get(tx.connection, row.id))
    tell_of(tx, "approval.reopened", waiting, tx.actor)
    args = {"id": row.id, "since": tx.now}
    wanted.want(tx, "approval_expiry", [wanted.Call(f"approval_expiry/{row.id}/{tx.now}", args)])
    return waiting


def forget_grant(tx: Transaction, row: Row[Any]) -> None:
    """A grant whose time ran out unused makes room for another request of the same call."""
    tx.connection.execute(update(approvals).where(approvals.c.id == row.id).values(live_key=None))


def _decide(tx: Transaction, row: Row[Any], event: str, who: Decider, reason: str, **changes: Any) -> Approval:
    state = REQUEST.after(RequestState(row.state), event)
    decided = {"decided_at": tx.now, "decided_by": who.by, "confirmed_by": who.confirmed_by}
    decided["decision_reason"] = reason or None
    freed = {} if state is RequestState.APPROVED else {"live_key": None}
    statement = (
        update(approvals)
        .where(approvals.c.id == row.id, approvals.c.state == row.state)
        .values(state=state, **decided, **freed, **changes)
    )
    if tx.connection.execute(statement).rowcount != 1:
        found = get(tx.connection, row.id)
        raise Conflict(
            f"the approval request is {found.state} meanwhile: it cannot be {event}",
            code="changed_meanwhile",
            found=found.state,
            allowed=REQUEST.events_from(RequestState(found.state)),
        )
    moved = view(get(tx.connection, row.id))
    tell_of(tx, "approval.decided", moved, who.by)
    return moved


def _sealed(step: Step, created_at: int, expires_at: int, **place: Any) -> Sealed:
    call = step.call
    sealed = Sealed(
        id=wire.new_event_id(),
        command=call.command,
        cwd=call.cwd,
        environment=step.environment,
        requester=call.requester,
        tool=call.tool,
        risk=step.risk,
        rollback=step.rollback,
        verification=step.verification,
        created_at=created_at,
        expires_at=expires_at,
        **place,
    )
    if fault := fault_of(sealed):
        raise Invalid(fault, code="invalid_value", pointer=f"/{fault.split()[0]}")
    return sealed


def _row(sealed: Sealed, step: Step, escalation_id: str, live_key: str | None) -> dict[str, Any]:
    fields = {name: getattr(sealed, name) for name in Sealed.__struct_fields__}
    encoded = {name: msgspec.json.encode(fields[name]).decode() for name in ("environment", "rollback", "verification")}
    return {
        **fields,
        **encoded,
        "state": RequestState.PENDING,
        "session_id": step.session_id,
        "reason": step.reason,
        "hash": seal_hash(sealed),
        "escalation_id": escalation_id,
        "call_key": step.call.key,
        "live_key": live_key,
    }
