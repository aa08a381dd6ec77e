"""Answers that must pass something before they are given: a command that checks them, or a second person.

Until then the escalation stays as it is and carries the proposal; so does one whose answer would be late. Whatever goes
wrong with a check, the answer is not given: it is refused with the reason, and the escalation waits for another one.
"""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import Row, update

from gemba import clock, typed
from gemba.errors import Conflict
from gemba.escalations import cards, granting
from gemba.escalations.escalation import Escalation, Proposal, Reply
from gemba.escalations.policy import Verify
from gemba.escalations.store import answer, escalations, get, takes_late_answer, view
from gemba.event import Draft
from gemba.flows import wanted
from gemba.flows.wanted import Call
from gemba.store.database import Transaction


def propose(tx: Transaction, row: Row[Any], given: Reply, verify: Verify, hold: int) -> Escalation:
    """Put an answer forward. One at a time: the next only after this one was refused."""
    require_none(row)
    proposal = Proposal(
        text=given.text,
        option=given.option,
        value=None if given.value is msgspec.UNSET else given.value,
        decision=given.decision,
        action=given.action,
        hold=hold,
        by=given.who or given.by,
        at=clock.rfc3339(tx.now),
        verifier="person" if verify.person else "check",
        state="waiting",
        note=None,
        seals=given.seals,
    )
    _keep(tx, row, proposal)
    tx.emit(Draft("escalation.proposed", _told(proposal), row.session_id, row.id))
    if not verify.person:
        wanted.want(tx, "verify", [Call(f"verify/{row.id}/{tx.now}", {"id": row.id, "at": proposal.at})])
    return view(get(tx.connection, row.id))


def require_none(row: Row[Any]) -> None:
    """While a proposal waits, nothing may change what it is about."""
    if row.proposal is not None and (waiting := _proposal(row)).state == "waiting":
        raise Conflict(
            f"{waiting.by} has proposed an answer already, which waits to be verified: {waiting.text}",
            code="already_proposed",
            found=waiting.by,
            escalation=view(row),
        )


def is_proposed_by(row: Row[Any], who: str) -> bool:
    """Whether an answer of this one waits to be verified."""
    return row.proposal is not None and (found := _proposal(row)).state == "waiting" and found.by == who


def confirm(tx: Transaction, row: Row[Any]) -> Escalation:
    proposal = _waiting(row)
    if proposal.verifier != "person":
        raise Conflict("a check judges this answer, not a person", code="not_proposed", escalation=view(row))
    if proposal.by == tx.actor:
        raise Conflict(
            f"{tx.actor} proposed this answer; somebody else must agree to it",
            code="same_person",
            found=tx.actor,
            escalation=view(row),
        )
    return give(tx, row, proposal, confirmed_by=tx.actor)


def reject(tx: Transaction, row: Row[Any], why: str) -> Escalation:
    """Refused by a second person, or taken back by the one who proposed it, also before a check has judged it."""
    return refuse(tx, row, _waiting(row), f"{tx.actor}: {why}")


def give(tx: Transaction, row: Row[Any], proposal: Proposal, confirmed_by: str | None = None) -> Escalation:
    """It passed: it is the answer now, or a late one if the time ran out meanwhile."""
    passed = Reply(
        "answered",
        proposal.text,
        "operator",
        option=proposal.option,
        value=msgspec.UNSET if row.schema is None else proposal.value,
        decision=proposal.decision,
        action=proposal.action,
        who=proposal.by,
        confirmed_by=confirmed_by,
        seals=proposal.seals,
    )
    if row.kind == granting.KIND:
        return granting.carry_out(tx, row, passed)
    cards.carry_out(tx, row, passed)
    return answer(tx, row, passed, hold=proposal.hold)


def refuse(tx: Transaction, row: Row[Any], proposal: Proposal, note: str) -> Escalation:
    refused = msgspec.structs.replace(proposal, state="refused", note=note)
    _keep(tx, row, refused)
    tx.emit(Draft("escalation.refused", _told(refused), row.session_id, row.id))
    return view(get(tx.connection, row.id))


def waiting_proposal(row: Row[Any], at: str) -> Proposal | None:
    """The proposal that was made at that moment, if it still waits."""
    if row.proposal is None or (row.resolved and not takes_late_answer(row)):
        return None
    proposal = _proposal(row)
    return proposal if proposal.state == "waiting" and proposal.at == at else None


def _waiting(row: Row[Any]) -> Proposal:
    proposal = None if row.proposal is None else _proposal(row)
    if proposal is None or proposal.state != "waiting":
        raise Conflict("no proposed answer waits to be verified", code="not_proposed", escalation=view(row))
    return proposal


def _proposal(row: Row[Any]) -> Proposal:
    return typed.decode(row.proposal, Proposal)


def _keep(tx: Transaction, row: Row[Any], proposal: Proposal) -> None:
    encoded = msgspec.json.encode(proposal).decode()
    seen = {"seen_at": row.seen_at or tx.now, "changed_at": tx.now}
    statement = update(escalations).where(escalations.c.id == row.id).values(proposal=encoded, **seen)
    tx.connection.execute(statement)


def _told(proposal: Proposal) -> dict[str, Any]:
    return {"by": proposal.by, "verifier": proposal.verifier, "state": proposal.state, "note": proposal.note}
