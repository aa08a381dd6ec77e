"""A handoff that is accepted: its dispatch moves, and only now what it brings is applied, all in one transaction.

Contracts are updated as far as this turn may, memories are offered to a person, and whoever needs a person gets an
escalation: input, a way out of a gap, or the approval of an exact command. What people were asked before and need not
answer any more is withdrawn. An error in any of it accepts nothing.
Called where handoffs are judged, and where the world was compared with what one claims.
"""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import Row, select, update

from gemba import wire
from gemba.errors import Invalid, Unusable
from gemba.escalations import approvals, refusing, reply
from gemba.escalations.escalation import Delivery, Reply
from gemba.escalations.store import deliver, escalations, get_locked, settle
from gemba.event import Draft
from gemba.handoff import audit, contracts, dispatches, handoffs, memories, requests
from gemba.handoff.approval import GrantState, RequestState
from gemba.handoff.check import Check
from gemba.handoff.entries import updates_of
from gemba.handoff.handoffs import Applied, AppliedContract, AppliedWarning, HandoffState
from gemba.handoff.options import options_in
from gemba.handoff.risk import Risk
from gemba.handoff.status import PlanStatus, Progress
from gemba.store.database import Transaction
from gemba.text import one_line, storable

TOOL = "Bash"  # of an approved command: the tool with which an agent's client runs one
_LONGEST_SUMMARY = 4_000
_LONGEST_GOAL = 120
_SAID = ("operation", "scope", "risk_level")  # of an approval_request, for the person's eyes
_ASKS = ("needs_input", "blocked")  # kinds; a command may be approved later than its turn


def accept(
    tx: Transaction,
    row: Row[Any],
    dispatch: Row[Any] | None = None,
    progress: Progress | None = None,
    checks: list[Check] | None = None,
) -> Row[Any]:
    """Without a dispatch there is no status to move, and no contract that may be written.

    A handoff that speaks for a part of a dispatch only, as a subagent's does, is kept and brings nothing about.
    """
    is_aside = row.dispatch_id is not None and dispatch is None
    document = handoffs.document_of(row) or {}
    applied = Applied() if is_aside else _apply(tx, row, dispatch, document)
    if dispatch is not None and progress is not None:
        done = tx.now if progress.status is PlanStatus.COMPLETE else None
        dispatches.save(tx, dispatch, progress, accepted_id=row.id, completed_at=done, repairs=[])
        _withdraw_asks(tx, dispatch, progress)
    asked = None if is_aside else _ask(tx, row, dispatch, document)
    verdict = {**msgspec.json.decode(row.verdict), "action": "accept"}
    accepted = handoffs.change(
        tx,
        row.id,
        state=HandoffState.ACCEPTED,
        verdict=verdict,
        checks=checks or [],
        applied=applied,
        escalation_id=asked or row.escalation_id,
        concluded_at=tx.now,
        refused_by=None,
        refusal=None,
        told="",
    )
    said = {"dispatch_id": row.dispatch_id, "turn": row.turn, "plan_status": row.plan_status}
    proof = {**said, "content_hash": row.content_hash, "applied": msgspec.to_builtins(applied)}
    audit.record(tx, "handoff.accepted", row.id, proof, row.agent_id or tx.actor)
    tx.emit(Draft("handoff.accepted", {**said, "escalation_id": asked}, row.session_id, row.id))
    return accepted


def summary_of(document: dict[str, Any] | None) -> str:
    """What a person reads of it: the agent's own words for that on a COMPLETE, else its key outputs, else what next."""
    if document is None:
        return ""
    status, evidence = _part(document, "agent_status"), _part(document, "evidence_report")
    own = _own_words(document)
    if own and _status_of(document) == PlanStatus.COMPLETE:
        return _cut(own)
    outputs = _listed(evidence.get("key_outputs"))
    return _cut("\n".join(outputs) or str(status.get("next_action") or "").strip())


def _own_words(document: dict[str, Any]) -> str:
    own = document.get("user_facing_summary")
    return own.strip() if isinstance(own, str) else ""


# ---- what it brings -------------------------------------------------------------------------------------------------


def _apply(tx: Transaction, row: Row[Any], dispatch: Row[Any] | None, document: dict[str, Any]) -> Applied:
    given = None if dispatch is None else dispatches.envelope_of(dispatch)
    changed, warnings = _update_contracts(tx, row, document, given)
    surfaces = _listed(_part(given or {}, "surface_routing").get("surfaces"))
    offered = memories.suggest(tx, document, source=row.id, surfaces=surfaces)
    return Applied(changed, offered, warnings)


def _update_contracts(
    tx: Transaction, row: Row[Any], document: dict[str, Any], given: dict[str, Any] | None
) -> tuple[list[AppliedContract], list[AppliedWarning]]:
    """All or none. What a section refuses is told; it does not undo the work that the handoff tells of."""
    updates = updates_of(document, given)
    if not updates:
        return [], []
    try:
        sections = tx.surroundings["sections"]()
        made = contracts.apply(tx, updates, sections, source=row.id, by=row.agent_id or tx.actor)
    except (Invalid, Unusable) as error:  # raised before anything is written, or there is no knowing the sections
        message = f"no update was applied: {error.message}"
        return [], [AppliedWarning(error.pointer or "/update_contracts", message)]
    warnings = [AppliedWarning(one["pointer"], one["message"]) for one in made.warnings]
    return [AppliedContract(name, revision) for name, revision in made.contracts], warnings


# ---- what it wants --------------------------------------------------------------------------------------------------


def _withdraw_asks(tx: Transaction, dispatch: Row[Any], progress: Progress) -> None:
    """What was asked because of a refusal is mended; whoever comes to an end no longer waits for an answer.

    An answer locks the escalation and then the dispatch, which is locked here: one that is given at this moment is
    left alone, and finds what was accepted.
    """
    goes_on = progress.status is PlanStatus.IN_PROGRESS
    asks = handoffs.asked_of(tx.connection, dispatch.id)
    past = {ask.escalation_id for ask in asks if not (goes_on and ask.state == HandoffState.ACCEPTED)}
    if not past:
        return
    chosen = (escalations.c.id.in_(sorted(past)), ~escalations.c.resolved, escalations.c.kind.in_(_ASKS))
    waiting = select(escalations).where(*chosen).order_by(escalations.c.id).with_for_update(skip_locked=True)
    for row in tx.connection.execute(waiting).all():
        settle(tx, row, "withdrawn", Reply("withdrawn", "the agent went on without an answer", "agent"))


def _ask(tx: Transaction, row: Row[Any], dispatch: Row[Any] | None, document: dict[str, Any]) -> str | None:
    next_action = str(_part(document, "agent_status").get("next_action") or "").strip()
    own = _own_words(document)
    about = "" if dispatch is None else f": {one_line(dispatch.goal, _LONGEST_GOAL)}"
    match row.plan_status:
        case PlanStatus.NEEDS_INPUT:
            text = "\n\n".join(filter(None, (own, next_action)))
            title, options = f"An agent needs your input{about}", options_in(next_action, own)
            return refusing.ask(tx, row, dispatch, "needs_input", title, text, options=options)
        case PlanStatus.BLOCKED:
            gaps = "\n".join(f"- {gap}" for gap in _listed(_part(document, "evidence_report").get("open_gaps")))
            text = "\n\n".join(filter(None, (own, gaps, next_action)))
            return refusing.ask(tx, row, dispatch, "blocked", f"An agent is blocked{about}", text)
        case PlanStatus.APPROVAL_REQUEST:
            return _ask_approval(tx, row, dispatch, _part(document, "approval_request"), next_action)
    return None


def _ask_approval(
    tx: Transaction, row: Row[Any], dispatch: Row[Any] | None, wanted: dict[str, Any], next_action: str
) -> str | None:
    """Of the exact command in the dispatch's folder, for its agent. What names none can only be talked about."""
    command = wanted.get("exact_content")
    if dispatch is None or not isinstance(command, str) or not 0 < len(command.strip()) <= wire.MAX_TEXT:
        text = f"{next_action}\n\n{msgspec.json.encode(wanted).decode()}".strip()
        return refusing.ask(tx, row, dispatch, "needs_input", "An agent asks for approval of no exact command", text)
    risk = requests.risk_of(tx, command)
    request = approvals.Request(
        command=command,
        cwd=dispatch.folder,
        tool=TOOL,
        risk=risk.level,
        reason=_reason(risk, wanted),
        rollback=wanted.get("rollback"),
        verification=wanted.get("verification"),
        session_id=refusing.whose(row, dispatch) or dispatch.agent_id,
        requester=dispatch.id,  # as its client's hook asks and uses
    )
    made = approvals.request(tx, request)
    if made.state in (RequestState.REFUSED, RequestState.SUPERSEDED):  # of a request before, told with this
        made = approvals.request(tx, request)
    if made.state == RequestState.APPROVED and made.grant_state == GrantState.UNUSED:
        # What it waits for is there.
        dispatches.start_turn(tx, dispatches.get_locked(tx, dispatch.id), by_person=False)
        _tell_of_grant(tx, made.escalation_id, request.session_id)
    return made.escalation_id


def _reason(risk: Risk, wanted: dict[str, Any]) -> str:
    """How the command is classed, and what the agent itself says of it."""
    said = [f"{key} {one_line(value, _LONGEST_GOAL)}" for key in _SAID if isinstance(value := wanted.get(key), str)]
    return "; ".join([risk.reason[: wire.MAX_NOTE], *(["the agent says: " + ", ".join(said)] if said else [])])


def _tell_of_grant(tx: Transaction, escalation_id: str, session_id: str) -> None:
    """The answer was given before this handoff asked: it is the session's next turn now.

    It is settled, and whoever locks a settled escalation wants no dispatch after it.
    """
    row = get_locked(tx, escalation_id)
    on_its_way = {"delivery": Delivery.PENDING, "delivery_note": None, "turn_session": session_id, "attempts": 0}
    tx.connection.execute(update(escalations).where(escalations.c.id == row.id).values(on_its_way))
    words = Reply("answered", row.reply_text or "yes", "operator")
    reply.post(tx, row, words, turn=session_id, given_at=row.resolved_at)
    deliver(tx, row.id)
    tx.emit(Draft("escalation.sent", {"attempt": 1}, session_id, row.id))


def _part(document: dict[str, Any], key: str) -> dict[str, Any]:
    part = document.get(key)
    return part if isinstance(part, dict) else {}


def _status_of(document: dict[str, Any]) -> str:
    return str(_part(document, "agent_status").get("plan_status")).strip().upper()


def _listed(value: object) -> list[str]:
    """The items of a list as lines, those that are no texts as JSON."""
    items = value if isinstance(value, list) else []
    return [storable(item) if isinstance(item, str) else msgspec.json.encode(item).decode() for item in items]


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SUMMARY else f"{text[: _LONGEST_SUMMARY - 1]}…"
