"""Approvals as actions: what agents' hooks ask and use, and what operators decide, each in one transaction.

A request opens an escalation of kind `approval`, or finds the request that there is for the same call; a decision
settles both. Where a policy wants an answer to be verified, a decision is a proposal first, as any other answer.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from sqlalchemy import Row

from gemba import clock, wire
from gemba.action import Action
from gemba.errors import Invalid
from gemba.escalations import granting, verifier
from gemba.escalations.answer import checked_text
from gemba.escalations.escalation import Escalation, Respond
from gemba.escalations.raised import raise_escalation
from gemba.escalations.store import get_locked, policy_of
from gemba.handoff import approvals, grants, requests
from gemba.handoff.approval import REQUEST, RequestState
from gemba.handoff.approvals import Approval, Call, view
from gemba.handoff.requests import Step
from gemba.store.database import Transaction
from gemba.text import storable

Risk = Literal["T0", "T1", "T2", "T3", "unknown"]
Lifetime = Annotated[int, msgspec.Meta(ge=1, le=30 * 86_400)]
Words = Annotated[str, msgspec.Meta(max_length=wire.MAX_TEXT)]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=wire.MAX_ID)]


class Wanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A command that somebody wants to run: exactly what a grant will be bound to, and what is known about it."""

    command: Words
    cwd: Words
    tool: Name
    risk: Risk = "unknown"
    reason: Words = ""
    environment: Annotated[list[Name], msgspec.Meta(max_length=200)] = []
    rollback: Any = None
    verification: Any = None


class Request(Wanted, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Ask for approval of one command. The same call finds the request that waits, or whose grant is unused."""

    session_id: Name
    requester: Name
    expires_in: Lifetime = requests.LIFETIME // clock.SECOND


class RequestSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Ask for approval of several commands as one plan, each usable only after those before it."""

    steps: Annotated[list[Wanted], msgspec.Meta(min_length=1, max_length=50)]
    session_id: Name
    requester: Name
    expires_in: Lifetime = requests.LIFETIME // clock.SECOND


class ApprovalSet(msgspec.Struct, frozen=True):
    set_id: str
    approvals: list[Approval]


class Approve(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A remark for the record, if there is one. `seals` are the hashes of all that was shown, in the order of the
    plan: where something else waits by now, nothing is approved. A plan is not approved without them."""

    reason: str = ""
    seals: Annotated[list[str], msgspec.Meta(min_length=1, max_length=50)] | None = None


class Edit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to run instead, to the letter."""

    command: Words


class Refuse(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why not; the agent reads it."""

    reason: str


class Withdraw(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    reason: str = ""


class Use(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The call that is about to run."""

    command: str
    cwd: str
    tool: str
    requester: str
    session_id: Annotated[str, msgspec.Meta(max_length=wire.MAX_ID)] = ""


class Ended(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the command ended, where no frame tells it."""

    outcome: Literal["succeeded", "failed"]
    text: str = ""


def request(tx: Transaction, body: Request) -> Approval:
    call = Call(body.command, body.cwd, body.requester, body.tool)
    while (row := requests.known(tx, call)) is not None:
        if row.live_key is None:  # decided while the requester was away
            requests.told(tx, row)
            return view(row)
        if row.expires_at > tx.now:
            return view(row)
        _end(tx, row)
    escalation_id = wire.new_event_id()
    lifetime = body.expires_in * clock.SECOND
    step = _step(body, body.requester, body.session_id)
    made, is_new = requests.create(tx, [step], escalation_id=escalation_id, lifetime=lifetime)
    if is_new:
        _ask(tx, made, escalation_id)
    return made[0]


def request_set(tx: Transaction, body: RequestSet) -> ApprovalSet:
    """The same plan of the same requester, as long as none of it is used, is the one that there is."""
    escalation_id = wire.new_event_id()
    steps = [_step(step, body.requester, body.session_id) for step in body.steps]
    lifetime = body.expires_in * clock.SECOND
    there = requests.live(tx, requests.set_key(steps))
    if there is not None and there.expires_at <= tx.now:
        _end(tx, there)
    made, is_new = requests.create(tx, steps, escalation_id=escalation_id, lifetime=lifetime, as_set=True)
    if is_new:
        _ask(tx, made, escalation_id)
    return ApprovalSet(made[0].set_id or "", made)


def approve(tx: Transaction, body: Approve, *, id: str) -> Approval:
    return _decide(tx, id, "approved", Respond(decision="yes", text=body.reason or None), body.seals)


def edit(tx: Transaction, body: Edit, *, id: str) -> Approval:
    """The request is superseded by one with the new command, which is approved; in a plan it waits with the others."""
    row = approvals.get(tx.connection, id)
    escalation = get_locked(tx, row.escalation_id)
    member = approvals.get_locked(tx, id)
    if member.set_id is not None:
        verifier.require_none(escalation)
        return granting.edit_in_plan(tx, escalation, member, body.command)
    decided = _decide(tx, id, "edited", Respond(decision="modify", text=body.command))
    return decided if decided.superseded_by is None else view(approvals.get(tx.connection, decided.superseded_by))


def refuse(tx: Transaction, body: Refuse, *, id: str) -> Approval:
    if not checked_text(body.reason):
        allowed = "why it must not run, in words"
        raise Invalid("reason is empty", code="missing_field", pointer="/reason", allowed=allowed)
    return _decide(tx, id, "refused", Respond(decision="no", text=body.reason))


def withdraw(tx: Transaction, body: Withdraw, *, id: str) -> Approval:
    """The requester no longer wants it; of a plan, the whole of it."""
    row = approvals.get(tx.connection, id)
    escalation = get_locked(tx, row.escalation_id)
    REQUEST.after(RequestState(approvals.get_locked(tx, id).state), "withdrawn")
    granting.withdraw(tx, escalation, checked_text(body.reason))
    return view(approvals.get(tx.connection, id))


def use(tx: Transaction, body: Use, *, id: str) -> Approval:
    """Consume the grant, once, for exactly the call that it was given for: it may run now."""
    return grants.use(tx, id, Call(body.command, body.cwd, body.requester, body.tool), storable(body.session_id))


def outcome(tx: Transaction, body: Ended, *, id: str) -> Approval:
    return grants.record_outcome(tx, id, body.outcome, checked_text(body.text))


ACTIONS = (
    Action("/api/approvals", request, Request, Approval, "Ask for approval of a command, or find what was answered"),
    Action("/api/approvals/sets", request_set, RequestSet, ApprovalSet, "Ask for approval of a plan of commands"),
    Action("/api/approvals/{id}/approve", approve, Approve, Approval, "Let exactly this run, once"),
    Action("/api/approvals/{id}/edit", edit, Edit, Approval, "Let another command run instead"),
    Action("/api/approvals/{id}/refuse", refuse, Refuse, Approval, "Refuse it, with a reason"),
    Action("/api/approvals/{id}/withdraw", withdraw, Withdraw, Approval, "Take the request back"),
    Action("/api/approvals/{id}/use", use, Use, Approval, "Consume the grant for the call that is about to run"),
    Action("/api/approvals/{id}/outcome", outcome, Ended, Approval, "Say how the command ended"),
)


def respond(tx: Transaction, row: Row[Any], body: Respond, seals: list[str] | None = None) -> Escalation:
    """Answer the escalation of a request: its decision is carried out, or proposed where a policy wants that."""
    given = msgspec.structs.replace(granting.judge(body), who=tx.actor, seals=seals)
    verify = None if row.policy is None else policy_of(row).verify
    if verify is not None:
        if given.decision == "yes":  # what is confirmed later is what waits now
            seals = granting.read_seals(approvals.of_escalation(tx, row.id), seals)
            given = msgspec.structs.replace(given, seals=seals)
        return verifier.propose(tx, row, given, verify, 0)
    return granting.carry_out(tx, row, given)


def _decide(tx: Transaction, id: str, event: str, body: Respond, seals: list[str] | None = None) -> Approval:
    row = approvals.get(tx.connection, id)
    escalation = get_locked(tx, row.escalation_id)
    requests.check(tx, approvals.get_locked(tx, id), event)
    respond(tx, escalation, body, seals)
    return view(approvals.get(tx.connection, id))


def _step(wanted: Wanted, requester: str, session_id: str) -> Step:
    return Step(
        call=Call(wanted.command, wanted.cwd, requester, wanted.tool),
        session_id=session_id,
        risk=wanted.risk,
        reason=wanted.reason,
        environment=tuple(wanted.environment),
        rollback=wanted.rollback,
        verification=wanted.verification,
    )


def _ask(tx: Transaction, made: list[Approval], escalation_id: str) -> None:
    first = made[0]
    text, title = granting.text_of(made), granting.title_of(made)
    raise_escalation(tx, "approval", text, session_id=first.session_id, id=escalation_id, title=title, cwd=first.cwd)


def _end(tx: Transaction, row: Row[Any]) -> None:
    """Its time ran out, and no flow has said so yet."""
    if row.state == RequestState.PENDING:
        granting.expire(tx, get_locked(tx, row.escalation_id))
    else:
        requests.forget_grant(tx, row)
