"""A handoff that is refused: why it was, what its agent is told, and when a person is asked instead of the agent.

A refusal changes nothing but the count of its dispatch's repairs. When those are spent, when IN_PROGRESS came too
often, or when the agent's client has let the turn end, so that nobody is there to mend it, one `blocked` escalation is
raised in a turn, however many refusals follow. Called where handoffs are judged, and where the world was compared with
what one claims.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Row, select

from gemba import typed, wire
from gemba.escalations.raised import raise_escalation
from gemba.escalations.store import escalations
from gemba.event import Draft
from gemba.handoff import dispatches, handoffs
from gemba.handoff.check import Check
from gemba.handoff.handoffs import HandoffState, Refusal, RefusedBy
from gemba.handoff.repair import next_step, repair_text
from gemba.handoff.status import PlanStatus
from gemba.handoff.verdict import Verdict
from gemba.handoff.world import NOT_RECORDED
from gemba.store.database import Transaction

LIMIT = "IN_PROGRESS_LIMIT"
TURN_OVER = "turn_over"  # the dispatch is in a later turn than the one that was handed over
_UNFOUND = "Your handoff says COMPLETE, and what it claims was not found. Do it, or claim what was done; then send it:"
# Whatever the agent does, the next one would end the same way.
_UNRECORDED = (
    "Your handoff says COMPLETE, and its gate requires what your client has recorded, which is nothing: only a client "
    "with Gemba's hooks records what it ran (`gemba install-bridge`). Doing it again does not help. Whoever gave you "
    "the work can require rerun_verification instead, which works with every agent:"
)
_MOST_SHOWN = 20  # checks that an agent is told of


def by_verdict(
    tx: Transaction, row: Row[Any], dispatch: Row[Any] | None, verdict: Verdict, *, spent: Sequence[str] | None = None
) -> Row[Any]:
    """`spent`: the codes with which a hook let the turn end, having asked for repairs in vain."""
    codes = [*verdict.missing, *verdict.invalid] or list(spent or ())
    agent_id = "" if dispatch is None else dispatch.agent_id
    told = repair_text(verdict, agent_id) or f"The turn was refused: {', '.join(codes)}."
    step = _count(tx, dispatch, codes) if spent is None else "escalate"
    title = "A turn ended without a handoff that can be accepted"
    escalation_id = _blocked(tx, row, dispatch, title, told) if step == "escalate" else row.escalation_id
    by: RefusedBy = "repairs_spent" if step == "escalate" else "verdict"
    return _refuse(tx, row, dispatch, by, step, told, escalation_id=escalation_id)


def by_status(tx: Transaction, row: Row[Any], dispatch: Row[Any], refusal: Refusal) -> Row[Any]:
    """The dispatch cannot make this move now; the same envelope may be sent again when it can."""
    told = f"Your handoff was not accepted: {refusal.message}."
    if refusal.code != LIMIT:
        return _refuse(tx, row, dispatch, "status", "repair", told, refusal=refusal)
    title = "An agent goes on and on without an end"
    escalation_id = _blocked(tx, row, dispatch, title, f"{refusal.message}.\n\n{row.summary}".strip())
    return _refuse(tx, row, dispatch, "status", "escalate", told, refusal=refusal, escalation_id=escalation_id)


def by_world(
    tx: Transaction, row: Row[Any], dispatch: Row[Any], checks: Sequence[Check], failed: Sequence[Check]
) -> Row[Any]:
    """It claims what is not so; each check that failed is told with what was claimed and what was found."""
    codes = sorted({f"WORLD:{check.name}" for check in failed})
    lines = [f"- {check.name}: claimed {check.claimed}; found {_found(check)}" for check in failed[:_MOST_SHOWN]]
    if len(failed) > _MOST_SHOWN:
        lines.append(f"- and {len(failed) - _MOST_SHOWN} more")
    told = "\n".join([_UNRECORDED if all(check.found == NOT_RECORDED for check in failed) else _UNFOUND, *lines])
    refusal = Refusal(codes[0], f"what it claims was not found ({', '.join(codes)})")
    step = _count(tx, dispatch, codes)
    title = "A COMPLETE claims what is not so"
    escalation_id = _blocked(tx, row, dispatch, title, told) if step == "escalate" else row.escalation_id
    more = {"refusal": refusal, "checks": list(checks), "escalation_id": escalation_id}
    return _refuse(tx, row, dispatch, "world", step, told, **more)


def after_the_turn(tx: Transaction, row: Row[Any], dispatch: Row[Any] | None) -> Row[Any]:
    """A refusal that its agent does not read, since its client let the turn end: a person is asked at once.

    Nobody needs to be where the dispatch went on without it: it is in a later turn, or was complete before; nor where
    somebody above gives it its next turn by itself, who counts how often.
    """
    verdict = msgspec.json.decode(row.verdict)
    is_over = row.refusal is not None and typed.decode(row.refusal, Refusal).code == TURN_OVER
    was_complete = dispatch is not None and dispatch.completed_at is not None and row.plan_status == PlanStatus.COMPLETE
    is_kept = dispatch is not None and any(keeps(tx, dispatch) for keeps in tx.surroundings.get("turn_keepers", ()))
    if verdict["action"] != "repair" or is_over or was_complete or is_kept:
        return row
    asked = _blocked(tx, row, dispatch, "A turn ended with a handoff that was not accepted", row.told)
    return handoffs.change(tx, row.id, escalation_id=asked, verdict={**verdict, "action": "escalate"})


def _found(check: Check) -> str:
    return f"{check.found} ({check.note})" if check.note else check.found


def _count(tx: Transaction, dispatch: Row[Any] | None, codes: Sequence[str]) -> str:
    """Outside of a dispatch nobody counts but the agent's own client."""
    if dispatch is None:
        return "repair"
    before = dispatches.repairs_of(dispatch)
    step = next_step(before, codes)
    if step == "repair":
        dispatches.save(tx, dispatch, dispatches.progress_of(dispatch), repairs=[*before, list(codes)])
    return step


def _blocked(tx: Transaction, row: Row[Any], dispatch: Row[Any] | None, title: str, text: str) -> str | None:
    """The turn's one escalation that waits; none where nobody knows whose turn it is."""
    if dispatch is not None and (known := _waiting_in_turn(tx, dispatch)):
        return known
    return ask(tx, row, dispatch, "blocked", title, text)


def _waiting_in_turn(tx: Transaction, dispatch: Row[Any]) -> str | None:
    """The escalation that refusals of this turn have raised, as long as nobody has settled it."""
    asks = handoffs.asked_of(tx.connection, dispatch.id)
    raised = {ask.escalation_id for ask in asks if ask.turn == dispatch.turn and ask.state != HandoffState.ACCEPTED}
    waiting = select(escalations.c.id).where(escalations.c.id.in_(sorted(raised)), ~escalations.c.resolved)
    id: str | None = tx.connection.execute(waiting.limit(1)).scalar()
    return id


def ask(
    tx: Transaction, row: Row[Any], dispatch: Row[Any] | None, kind: Any, title: str, text: str, **more: Any
) -> str | None:
    """Ask a person; the answer becomes the next turn of the session, or of whoever takes the dispatch on."""
    session_id = whose(row, dispatch)
    if session_id is None:
        return None
    about: dict[str, Any] = {}
    if dispatch is not None:
        about = {"agent_type": dispatch.provider, "role": dispatch.role, "bead_id": dispatch.task_id}
        about |= {"cwd": dispatch.folder, "origin": dispatch.origin}
    shown = text if len(text) <= wire.MAX_TEXT else f"{text[: wire.MAX_TEXT - 1]}…"
    return raise_escalation(
        tx, kind, shown or title, session_id=session_id, title=title, waiting=False, **{**about, **more}
    )


def whose(row: Row[Any], dispatch: Row[Any] | None) -> str | None:
    """The session that an answer goes to: the one that spoke, else the dispatch's, else one of the agent's name."""
    known = (row.session_id,) if dispatch is None else (row.session_id, dispatch.session_id, dispatch.agent_id)
    return next((str(one) for one in known if one), None)


def _refuse(
    tx: Transaction, row: Row[Any], dispatch: Row[Any] | None, by: RefusedBy, action: str, told: str, **more: Any
) -> Row[Any]:
    verdict = {**msgspec.json.decode(row.verdict), "action": action}
    values = {"state": HandoffState.REFUSED, "refused_by": by, "verdict": verdict, "told": told}
    refused = handoffs.change(tx, row.id, concluded_at=tx.now, **{"refusal": None, **values, **more})
    if row.source == "hook":
        refused = after_the_turn(tx, refused, dispatch)
        action = msgspec.json.decode(refused.verdict)["action"]
    said = {"dispatch_id": row.dispatch_id, "turn": row.turn, "plan_status": row.plan_status, "refused_by": by}
    tx.emit(Draft("handoff.refused", {**said, "action": action}, row.session_id, row.id))
    return refused
