"""What frames mean for escalations and assumptions, inside the transaction that ingests them.

Holds the correlator: what a person typed at an agent's own prompt answers the oldest ask of that session, unless it
is a reply of ours arriving. Typing never decides a `handoff` or `system` escalation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, func, select

from gemba import clock
from gemba.escalations import assumptions, handoff_frames, precedents, rules, stalls
from gemba.escalations.answer import Schemas
from gemba.escalations.escalation import Channel, Delivery, Reply
from gemba.escalations.opening import new_row
from gemba.escalations.outcomes import Outcomes
from gemba.escalations.policy import Policies
from gemba.escalations.store import escalations, session_over, set_delivery, settle, watch
from gemba.event import Draft
from gemba.sessions import inputs
from gemba.store.database import Transaction

_RAN_ALL_THE_SAME = "the tool ran all the same: somebody allowed it in the agent's window"


def project(tx: Transaction, drafts: Sequence[Draft], origin: str, policies: Policies) -> None:
    """Apply a batch of one home's frames in order. Asks in a row are inserted together, for speed."""
    schemas = Schemas()
    outcomes = Outcomes(tx, drafts)
    stalls.got_on(tx, {draft.session_id for draft in drafts if draft.session_id is not None})
    opened: list[Draft] = []
    for draft in drafts:
        if draft.name == "escalation_opened":
            opened.append(draft)
            continue
        apply = _APPLY.get(draft.name)
        if apply is not None:
            _open(tx, opened, origin, policies, schemas)
            opened = []
            apply(tx, draft)
        elif draft.name == "assumption_recorded":
            assumptions.record(tx, draft, origin)
        elif draft.name == "tool_use":
            outcomes.record(draft)
    _open(tx, opened, origin, policies, schemas)


def _open(tx: Transaction, drafts: Sequence[Draft], origin: str, policies: Policies, schemas: Schemas) -> None:
    """Store the asks, answer those that a rule is for, and have the policies of the others watched over."""
    rows = [new_row(tx, draft, origin, policies, schemas) for draft in drafts]
    precedents.assign(tx, rows)
    new = tx.insert_new(escalations, rows, "id")
    opened = [row for row in rows if row["id"] in new]
    answered = rules.apply(tx, opened)
    watch(tx, [row["id"] for row in opened if row["watched_since"] is not None and row["id"] not in answered])


def _user_message(tx: Transaction, draft: Draft) -> None:
    if draft.payload["by_client"]:
        return
    typed = draft.payload["text"].strip()
    ours = None if draft.session_id is None else inputs.acknowledge(tx, draft.session_id, typed)
    if ours is not None:
        answered = None if ours.ref is None else _first(tx, escalations.c.id == ours.ref)
        if answered is not None:
            set_delivery(tx, answered, Delivery.DELIVERED)
        return
    replied = _first(
        tx,
        escalations.c.session_id == draft.session_id,
        escalations.c.delivery.in_((Delivery.PENDING, Delivery.UNDELIVERED)),
        escalations.c.reply_text == typed,
        escalations.c.reply_text != "",
    )
    asked = _first(
        tx,
        escalations.c.session_id == draft.session_id,
        ~escalations.c.resolved,
        escalations.c.channel.in_((Channel.TOOL_CALL, Channel.NOTIFICATION)),
        escalations.c.opened_at <= clock.parse_past(draft.payload["asked_at"], tx.now),
    )
    # The same words may answer a later question than the one that our reply was for.
    if replied is not None and (asked is None or asked.opened_at <= replied.resolved_at):
        set_delivery(tx, replied, Delivery.DELIVERED)
    elif asked is not None:
        settle(tx, asked, "resolved", Reply("answered", typed, "pane"))


def _permission_settled(tx: Transaction, draft: Draft) -> None:
    """The dialog is closed: somebody decided it in the agent's window, as answered here before or not."""
    row = _first(tx, escalations.c.id == draft.ref)
    if row is None:
        return
    ran = draft.payload["how"] == "the tool ran"
    if not row.resolved:
        text = f"answered in the agent's window ({draft.payload['how']})"
        settle(tx, row, "resolved", Reply("answered", text, "pane"))
        return
    # Declined without an answer, nothing may run either.
    decision = "no" if row.outcome == "declined" else row.decision
    if decision == ("yes" if ran else "no"):
        set_delivery(tx, row, Delivery.DELIVERED)
    elif ran and decision == "no":
        set_delivery(tx, row, Delivery.UNDELIVERED, _RAN_ALL_THE_SAME)


def _dialog_left(tx: Transaction, draft: Draft) -> None:
    row = _first(tx, escalations.c.id == draft.ref)
    if row is not None:
        set_delivery(tx, row, Delivery.UNDELIVERED, draft.payload["reason"])


def _reply_read(tx: Transaction, draft: Draft) -> None:
    # Once it is another session's turn, that one has to read it.
    reader = func.coalesce(escalations.c.turn_session, escalations.c.session_id) == draft.session_id
    row = _first(tx, escalations.c.id == draft.ref, reader)
    at = draft.payload.get("at")
    # One that read "expired" has not read the answer that came late, in its place.
    if row is not None and (at is None or row.resolved_at is None or at == clock.rfc3339(row.resolved_at)):
        set_delivery(tx, row, Delivery.DELIVERED)
    assumptions.reply_read(tx, draft)


def _ask_withdrawn(tx: Transaction, draft: Draft) -> None:
    of_session = escalations.c.session_id == draft.session_id
    row = _first(tx, escalations.c.id == draft.ref, of_session, ~escalations.c.resolved)
    if row is not None:
        settle(tx, row, "withdrawn", Reply("withdrawn", "withdrawn by the asker", "agent"))


def _session_transition(tx: Transaction, draft: Draft) -> None:
    if draft.payload["to"] != "running" and draft.session_id is not None:
        session_over(tx, draft.session_id)
        inputs.session_over(tx, draft.session_id)
        assumptions.session_over(tx, draft.session_id)


_APPLY = {
    "user_message": _user_message,
    "permission_settled": _permission_settled,
    "dialog.left": _dialog_left,
    "reply_read": _reply_read,
    "ask_withdrawn": _ask_withdrawn,
    "session_transition": _session_transition,
    "handoff_received": handoff_frames.take,
}


def _first(tx: Transaction, *conditions: Any) -> Row[Any] | None:
    """Locked where others may write meanwhile: what the operator settles at this moment is settled when we see it."""
    oldest = select(escalations).where(*conditions).order_by(escalations.c.opened_at, escalations.c.id)
    return tx.connection.execute(oldest.limit(1).with_for_update()).first()
